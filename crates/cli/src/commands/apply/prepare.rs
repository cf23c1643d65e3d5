//! Resolves the resource, namespace and name of each object before anything is sent.

use std::time::Duration;

use serde_json::Value;

use crate::client::Ask;
use crate::discovery::{Discovery, Resource};
use crate::failure::Failure;
use crate::manifests::Manifest;
use crate::session::Session;

/// An object and where it belongs.
pub struct Prepared {
    pub manifest: Manifest,
    pub resource: Resource,
    pub namespace: Option<String>,
    pub name: String,
}

impl Prepared {
    /// The path of the object.
    pub fn path(&self) -> String {
        self.resource.object(self.namespace.as_deref(), &self.name)
    }
}

/// Finds the resource of each object, and fills in its namespace.
pub async fn prepare(manifests: Vec<Manifest>, session: &mut Session) -> Result<Vec<Prepared>, Failure> {
    let discovery = session.discovery().await?;
    let (default, asked) = (session.namespace().await?, session.asked_namespace().await?);
    let mut prepared = Vec::new();
    let mut failures = Vec::new();
    for mut manifest in manifests {
        let text = |field: &str| manifest.object[field].as_str().unwrap_or("");
        let Some(resource) = discovery.of_kind(text("apiVersion"), text("kind")).cloned() else {
            failures.push(unknown_kind(&manifest));
            continue;
        };
        let own = manifest.object["metadata"]["namespace"]
            .as_str()
            .filter(|own| !own.is_empty())
            .map(str::to_owned);
        if let (true, Some(own), Some(asked)) = (resource.is_namespaced, &own, &asked)
            && own != asked
        {
            let failure = Failure::other(format!(
                "the namespace from the provided object \"{own}\" does not match the namespace \"{asked}\". \
                 You must pass '--namespace={own}' to perform this operation."
            ));
            failures.push(manifest.source.shown_at(failure, &within(&manifest, "metadata.namespace")));
            continue;
        }
        let namespace = resource.is_namespaced.then(|| own.unwrap_or_else(|| default.clone()));
        if !manifest.object["metadata"].is_object() {
            manifest.object["metadata"] = Value::Object(serde_json::Map::new());
        }
        if let Some(namespace) = &namespace {
            manifest.object["metadata"]["namespace"] = namespace.as_str().into();
        }
        let name = manifest.object["metadata"]["name"].as_str().unwrap_or("").to_owned();
        if name.is_empty() && manifest.object["metadata"]["generateName"].as_str().is_none() {
            let failure = Failure::other(format!(
                "error when reading \"{}\": resource name may not be empty",
                manifest.source.name
            ));
            failures.push(manifest.source.shown_at(failure, &within(&manifest, "metadata")));
            continue;
        }
        prepared.push(Prepared { manifest, resource, namespace, name });
    }
    Failure::all(failures).map(|()| prepared)
}

fn within(manifest: &Manifest, path: &str) -> String {
    match manifest.within.as_str() {
        "" => path.to_owned(),
        within => format!("{within}.{path}"),
    }
}

/// The failure for a kind that the server does not have.
pub fn unknown_kind(manifest: &Manifest) -> Failure {
    let text = |field: &str| manifest.object[field].as_str().unwrap_or("");
    let meta = |field: &str| manifest.object["metadata"][field].as_str().unwrap_or("");
    let failure = Failure::other(format!(
        "resource mapping not found for name: {} namespace: {} from {}: no matches for kind {} in version {}\nensure CRDs are installed first",
        krm::field::quote(meta("name")),
        krm::field::quote(meta("namespace")),
        krm::field::quote(&manifest.source.name),
        krm::field::quote(text("kind")),
        krm::field::quote(text("apiVersion")),
    ));
    manifest.source.shown_at(failure, &within(manifest, "kind"))
}

/// Definitions whose kinds are not served yet, and what has to wait for them.
pub async fn split(
    manifests: Vec<Manifest>,
    session: &mut Session,
) -> Result<(Vec<Manifest>, Vec<Manifest>), Failure> {
    let discovery = session.discovery().await?;
    let is_unknown = |manifest: &Manifest| {
        let text = |field: &str| manifest.object[field].as_str().unwrap_or("");
        discovery.of_kind(text("apiVersion"), text("kind")).is_none()
    };
    match manifests.iter().any(is_unknown) {
        true => Ok(manifests
            .into_iter()
            .partition(|manifest| manifest.object["kind"] == "CustomResourceDefinition")),
        false => Ok((Vec::new(), manifests)),
    }
}

/// Waits until new kinds are served: whoever goes on with objects of theirs finds them.
pub async fn wait_for_definitions(prepared: &[Prepared], session: &mut Session) -> Result<(), Failure> {
    let is_definition = |one: &&Prepared| one.resource.kind == "CustomResourceDefinition";
    let definitions: Vec<&Prepared> = prepared.iter().filter(is_definition).collect();
    if definitions.is_empty() {
        return Ok(());
    }
    let client = session.client().await?;
    for definition in &definitions {
        for _ in 0..600 {
            let found = client.value(&Ask::get(definition.path())).await?;
            let conditions = found["status"]["conditions"].as_array().into_iter().flatten();
            let mut is_there = conditions.filter(|condition| condition["type"] == "Established");
            if is_there.any(|condition| condition["status"] == "True") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    for _ in 0..200 {
        let discovery = session.discovery_again().await?;
        if definitions.iter().all(|definition| is_served(definition, &discovery)) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Whether any version of a new kind can be found.
fn is_served(definition: &Prepared, discovery: &Discovery) -> bool {
    let spec = &definition.manifest.object["spec"];
    let (group, plural) = (&spec["group"], &spec["names"]["plural"]);
    discovery.resources.iter().any(|resource| *group == resource.group && *plural == resource.plural)
}

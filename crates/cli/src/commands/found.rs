//! Finding the objects that a command changes or waits for.

use serde_json::Value;

use crate::client::{Ask, Client};
use crate::commands::get::target_of;
use crate::commands::selection::{self, Selection};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::locate;
use crate::manifests::FileFlags;
use crate::names;
use crate::session::Session;

/// An object by its place.
#[derive(Debug, Clone)]
pub struct ObjectTarget {
    pub resource: Resource,
    pub namespace: Option<String>,
    pub name: String,
}

impl ObjectTarget {
    /// Its path.
    pub fn path(&self) -> String {
        self.resource.object(self.namespace.as_deref(), &self.name)
    }

    /// `kettle.example.com/whistler`.
    pub fn shown(&self) -> String {
        format!("{}/{}", names::typed(&self.resource.kind, &self.resource.group), self.name)
    }

    /// What transactions call it.
    pub fn target(&self) -> Value {
        serde_json::json!({"apiVersion": self.resource.api_version(), "kind": self.resource.kind,
            "namespace": self.namespace, "name": self.name})
    }

    /// The object as it is now.
    pub async fn fetch(&self, client: &Client) -> Result<Value, Failure> {
        client.value(&Ask::get(self.path())).await
    }
}

/// The places that words and files name, or that a selection has.
pub async fn places(
    words: &[String],
    files: &FileFlags,
    selection: &Selection,
    all: bool,
    session: &mut Session,
) -> Result<Vec<ObjectTarget>, Failure> {
    let namespace = selection.namespace(session).await?;
    let client = session.client().await?;
    let mut places = Vec::new();
    for manifest in files.read(&mut session.console)? {
        let target = target_of(&manifest, session).await?;
        let own = manifest.object["metadata"]["namespace"].as_str().map(str::to_owned);
        places.push(ObjectTarget {
            namespace: own.or_else(|| namespace.clone()).filter(|_| target.resource.is_namespaced),
            name: target.name.unwrap_or_default(),
            resource: target.resource,
        });
    }
    if words.is_empty() {
        return Ok(places);
    }
    let discovery = session.discovery().await?;
    for target in locate::targets(&discovery, words)? {
        let resource = target.resource;
        let in_namespace = namespace.clone().filter(|_| resource.is_namespaced);
        if let Some(name) = target.name {
            if all || selection.is_narrow() {
                return Err(Failure::usage("name cannot be provided when a selector is specified"));
            }
            if selection.all_namespaces {
                return Err(Failure::usage("a resource cannot be retrieved by name across all namespaces"));
            }
            places.push(ObjectTarget { resource, namespace: in_namespace, name });
            continue;
        }
        if !all && !selection.is_narrow() {
            return Err(Failure::usage("resource(s) were provided, but no name was specified"));
        }
        for object in selection::list(&client, &resource, in_namespace.as_deref(), selection).await? {
            let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
            places.push(ObjectTarget {
                resource: resource.clone(),
                namespace: text("namespace"),
                name: text("name").unwrap_or_default(),
            });
        }
    }
    Ok(places)
}

/// The one object that words name, as `TYPE NAME` or `TYPE/NAME`.
pub async fn named(words: &[String], session: &mut Session) -> Result<Vec<ObjectTarget>, Failure> {
    if words.is_empty() {
        return Err(Failure::usage("name an object: TYPE NAME or TYPE/NAME"));
    }
    places(words, &FileFlags::default(), &Selection::default(), false, session).await
}

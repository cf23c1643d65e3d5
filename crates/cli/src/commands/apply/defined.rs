//! Objects of kinds that are defined in the same files and not served yet: a server can't try them, their definition
//! can.

use krm::cel;
use krm::crd::{Definition, Scope};
use krm::field::{FieldError, Path};
use krm::kind::Version;
use krm::status::{Status, Subject};
use krm::{Object, meta, names};
use serde_json::{Value, json};

use crate::failure::{Failure, Refusal};
use crate::manifests::Manifest;
use crate::session::Session;

/// An object whose kind is defined in the same files.
pub struct Waiting {
    pub manifest: Manifest,
    definition: Definition,
}

/// Parts what the server can try from what waits for a definition in the same files.
pub async fn part(
    manifests: Vec<Manifest>,
    session: &mut Session,
) -> Result<(Vec<Manifest>, Vec<Waiting>), Failure> {
    let discovery = session.discovery().await?;
    let definitions: Vec<Definition> = manifests
        .iter()
        .filter(|manifest| manifest.object["kind"] == "CustomResourceDefinition")
        .filter_map(|manifest| Definition::parse(&Object::from_value(manifest.object.clone())?).ok())
        .collect();
    let (mut known, mut waiting) = (Vec::new(), Vec::new());
    for manifest in manifests {
        let text = |field: &str| manifest.object[field].as_str().unwrap_or("");
        let is_served = discovery.of_kind(text("apiVersion"), text("kind")).is_some();
        let defining = definitions.iter().find(|definition| defines(definition, &manifest));
        match defining.filter(|_| !is_served) {
            Some(definition) => waiting.push(Waiting { manifest, definition: definition.clone() }),
            None => known.push(manifest),
        }
    }
    Ok((known, waiting))
}

fn defines(definition: &Definition, manifest: &Manifest) -> bool {
    let api_version = manifest.object["apiVersion"].as_str().unwrap_or("");
    let Some((group, version)) = names::group_version(api_version) else { return false };
    definition.group == group
        && manifest.object["kind"] == *definition.names.kind
        && definition.version(version).is_some_and(|version| version.served)
}

/// What remains to be said of objects that only their definitions were asked about.
pub fn caveat(count: usize) -> String {
    let objects = if count == 1 { "1 object is" } else { &format!("{count} objects are") };
    format!(
        "{objects} of a kind that is defined in the same files, and checked against its schema only. \
         Permissions, quotas, references and admission policies are checked when the definition exists."
    )
}

impl Waiting {
    /// Whether its kind is in namespaces.
    pub fn namespace(&self, default: &str) -> Option<String> {
        let own = self.manifest.object["metadata"]["namespace"].as_str().filter(|own| !own.is_empty());
        (self.definition.scope == Scope::Namespaced).then(|| own.unwrap_or(default).to_owned())
    }

    /// The object as an item of a plan.
    pub fn item(&self, default_namespace: &str, result: &str) -> Value {
        let object = &self.manifest.object;
        json!({"operation": "apply", "apiVersion": object["apiVersion"], "kind": object["kind"],
            "resource": self.definition.names.plural, "name": object["metadata"]["name"],
            "namespace": self.namespace(default_namespace).unwrap_or_default(), "result": result})
    }

    /// Checks the object as the server will: metadata, unknown fields, schema, and the rules in it.
    pub fn check(&self, default_namespace: &str, is_strict: bool) -> Result<(), Failure> {
        let mut value = self.manifest.object.clone();
        if let (Some(namespace), true) = (self.namespace(default_namespace), value["metadata"].is_object()) {
            value["metadata"]["namespace"] = namespace.into();
        }
        let status = match self.faults(value, is_strict) {
            Ok(errors) if errors.is_empty() => return Ok(()),
            Ok(errors) => {
                let subject = Subject::new(&self.definition.group, &self.definition.names.kind);
                let name = self.manifest.object["metadata"]["name"].as_str().unwrap_or("");
                Status::invalid(&subject, name, &errors)
            }
            Err(why) => Status::bad_request(why),
        };
        let status = serde_json::from_slice(&status.to_json()).unwrap_or_default();
        let refused = Failure::Server(Box::new(Refusal { status, during: None }));
        Err(self.manifest.shown(refused.during(&self.manifest.name())))
    }

    fn faults(&self, mut value: Value, is_strict: bool) -> Result<Vec<FieldError>, String> {
        let api_version = value["apiVersion"].as_str().unwrap_or("");
        let version = names::group_version(api_version).and_then(|(_, name)| self.definition.version(name));
        // A schema that can't be read is a fault of the definition, which the server tells.
        let schema = version.and_then(|version| version.schema.clone());
        let Some(version) = schema.and_then(|schema| Version::new("", schema).ok()) else {
            return Ok(Vec::new());
        };
        let mut unknown = Vec::new();
        if let Some(metadata) = value.get_mut("metadata") {
            meta::coerce(metadata, &Path::of("metadata"), &mut unknown)?;
        }
        if !self.definition.preserve_unknown_fields {
            unknown.extend(version.schema.prune(&mut value));
        }
        if is_strict && !unknown.is_empty() {
            let unknown: Vec<String> =
                unknown.iter().map(|field| format!("unknown field {}", krm::field::quote(field))).collect();
            return Err(format!("strict decoding error: {}", unknown.join(", ")));
        }
        version.schema.default(&mut value);
        let is_namespaced = self.definition.scope == Scope::Namespaced;
        let metadata = value["metadata"].as_object();
        let rule = names::name_is_dns_subdomain;
        let mut errors = meta::validate_create(metadata, is_namespaced, rule, &Path::of("metadata"));
        errors.extend(version.schema.validate(&value, None));
        match cel::blocked_by(&errors) {
            Some(blocked) if !version.rules.is_empty() => errors.push(blocked),
            Some(_) => {}
            None => errors.extend(version.rules.check(&version.schema, &value, None).errors),
        }
        Ok(errors)
    }
}

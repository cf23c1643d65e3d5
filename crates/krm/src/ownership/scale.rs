//! Who owns the number of replicas, seen from the `scale` subresource.

use serde_json::{Value, json};

use super::element::FieldPath;
use super::endpoint::{Origin, Versions};
use super::managers::{Manager, Managers};
use super::set::FieldSet;
use super::types::Type;
use super::{MalformedEntry, managers::declared_entries};
use crate::object::Object;

/// The `apiVersion` of `scale` subresources.
pub const SCALE_VERSION: &str = "autoscaling/v1";

/// The kind of `scale` subresources, for an [`Endpoint`](super::Endpoint) at them.
pub fn scale_versions() -> Versions {
    let number = json!({"type": "integer", "format": "int32"});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": number}},
        "status": {"type": "object", "properties": {"replicas": number, "selector": {"type": "string"}}},
    }});
    let blank = json!({"spec": {}, "status": {"replicas": 0}});
    Versions::new("Scale", Origin::Custom)
        .with(SCALE_VERSION, Type::from_schema(&schema))
        .blank(Object::from_value(blank).unwrap_or_default())
}

/// Where the versions of a kind keep the number of replicas that are wanted.
#[derive(Debug, Clone, Default)]
pub struct ReplicasPaths(Vec<(String, Option<FieldPath>)>);

impl ReplicasPaths {
    /// The same with another version; `path` is such as `.spec.replicas`, and `None` where it has no `scale`.
    pub fn with(mut self, api_version: impl Into<String>, path: Option<&str>) -> ReplicasPaths {
        let path = path.map(|path| {
            let path = path.strip_prefix('.').unwrap_or(path);
            FieldPath::of(&path.split('.').collect::<Vec<_>>())
        });
        self.0.push((api_version.into(), path));
        self
    }

    /// `None` for a version that is not known.
    fn find(&self, api_version: &str) -> Option<Option<&FieldPath>> {
        self.0.iter().find(|(version, _)| version == api_version).map(|(_, path)| path.as_ref())
    }

    /// The `managedFields` of an object's scale: who owns the number of replicas. `None` when nobody does.
    pub fn of_scale(&self, object: &Object) -> Result<Option<Value>, MalformedEntry> {
        let managers = Managers::decode(declared_entries(object).unwrap_or(&[]))?;
        let owners = managers.0.into_iter().filter(|manager| {
            self.find(&manager.version).flatten().is_some_and(|path| manager.fields.contains(path))
        });
        let of_scale = owners.map(|manager| Manager {
            version: SCALE_VERSION.to_owned(),
            fields: replicas_in_scale(),
            ..manager
        });
        Ok(listed(Managers(of_scale.collect())))
    }

    /// The `managedFields` of an object, in `api_version`, whose scale was written and has become `scale`.
    pub fn of_object(
        &self,
        object: &Object,
        api_version: &str,
        scale: &Object,
    ) -> Result<Option<Value>, MalformedEntry> {
        let before = Managers::decode(declared_entries(object).unwrap_or(&[]))?;
        let mut scale = Managers::decode(declared_entries(scale).unwrap_or(&[]))?;
        let mut after = Managers::default();
        for mut manager in before.0.iter().cloned() {
            // Of a version that is not known nothing is kept.
            let Some(path) = self.find(&manager.version) else { continue };
            if let Some(path) = path.filter(|path| manager.fields.contains(path)) {
                match scale.position(&manager.identity) {
                    Some(at) => {
                        scale.0.swap_remove(at);
                    }
                    None => {
                        let mut replicas = FieldSet::new();
                        replicas.insert(path);
                        manager.fields.subtract(&replicas);
                    }
                }
            }
            after.set(manager);
        }
        let mut replicas = FieldSet::new();
        if let Some(path) = self.find(api_version).flatten() {
            replicas.insert(path);
        }
        for manager in scale.0 {
            if manager.fields.intersection(&replicas_in_scale()).is_empty() {
                continue;
            }
            // Who updates is known by the version, too: what it has here is an entry of its own, without a time.
            let time = before.get(&manager.identity).and_then(|manager| manager.time);
            let (version, fields) = (api_version.to_owned(), replicas.clone());
            after.set(Manager { version, fields, time, ..manager });
        }
        Ok(listed(after))
    }
}

fn listed(managers: Managers) -> Option<Value> {
    (!managers.is_empty()).then(|| Value::Array(managers.encode()))
}

fn replicas_in_scale() -> FieldSet {
    FieldSet::of(&[&["spec", "replicas"]])
}

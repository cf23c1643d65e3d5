//! Custom resources: kinds that are served from CustomResourceDefinitions.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use krm::Object;
use krm::crd::{self, Definition};
use krm::kind::{Bucket, Converter, Kind, Names, Origin, Scale, Scope, Subresource, Version};
use krm::table::Columns;
use serde_json::{Value, json};

use crate::api::Api;
use crate::keys::{self, Parts};
use crate::plane::Plane;

/// The group of definitions.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Their resource.
pub const PLURAL: &str = "customresourcedefinitions";
/// The bucket of the definitions of one group.
pub const OF_GROUP: Bucket =
    Bucket::new("apiextensions.k8s.io/definitions-of-group").stored_as("definitions-of-group");

/// The kinds that definitions make, by plane and the definition's name.
#[derive(Default)]
pub struct Definitions {
    served: Mutex<HashMap<Plane, BTreeMap<String, Arc<Kind>>>>,
}

impl Definitions {
    /// Takes in a definition as it is now; other objects are none of its business. A kind that can be selected by
    /// fields that it could not be before is served once every object of it can be found by them.
    pub async fn take_in(&self, api: &Api, parts: &Parts<'_>, definition: Option<(&Object, u64)>) {
        if parts.group != GROUP || parts.plural != PLURAL {
            return;
        }
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let before = self.lock().get(&plane).and_then(|served| served.get(parts.name)).cloned();
        let kind = definition.and_then(|(object, version)| kind(object, version, before.as_deref()));
        if let Some(kind) = &kind
            && api.kinds().select(&plane, kind)
            && has_objects(api, &plane, kind)
            && let Err(error) = api.store().reindex().await
        {
            tracing::error!(%error, "failed to reindex: selectors on the new selectable fields miss objects until the server is restarted");
        }
        let mut all = self.lock();
        let served = all.entry(plane.clone()).or_default();
        match kind {
            Some(kind) => served.insert(parts.name.to_owned(), Arc::new(kind)),
            None => served.remove(parts.name),
        };
        api.kinds().define(&plane, served.values().cloned().collect());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Plane, BTreeMap<String, Arc<Kind>>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_objects(api: &Api, plane: &Plane, kind: &Kind) -> bool {
    let prefix = keys::of_kind(plane, &kind.group, &kind.names.plural);
    api.store().latest().list(prefix.as_bytes()).next().is_some()
}

/// The kind that a definition makes; `None` while it is not established, or if it can't be read.
pub fn kind(object: &Object, written_at: u64, before: Option<&Kind>) -> Option<Kind> {
    if !crd::is_true(object, "Established") {
        return None;
    }
    let definition = Definition::parse(object)
        .inspect_err(|error| tracing::error!(name = object.name(), %error, "failed to parse a CustomResourceDefinition; it is not served"))
        .ok()?;
    let mut ordered: Vec<&crd::Version> = definition.versions.iter().collect();
    ordered.sort_by(|a, b| crd::compare_versions(&b.name, &a.name));
    let storage = ordered.iter().position(|version| version.storage)?;
    // Objects that were stored in another version are not as this one's schema has them.
    let before = before.filter(|before| before.stored().name == ordered[storage].name);
    let versions: Vec<Version> =
        ordered.iter().filter_map(|version| self::version(version, written_at, before)).collect();
    if versions.len() != ordered.len() {
        return None;
    }
    let scope = match definition.scope {
        crd::Scope::Namespaced => Scope::Namespaced,
        crd::Scope::Cluster => Scope::Cluster,
    };
    let names = definition.accepted_names;
    let mut versions = versions.into_iter();
    let mut kind = Kind::new(&definition.group, &names.kind, &names.plural, scope, versions.next()?);
    kind.versions.extend(versions);
    kind.storage = storage;
    kind.converter = match &definition.conversion {
        crd::Conversion::None => None,
        crd::Conversion::Webhook(webhook) => Some(Arc::new(Converter::read(webhook))),
    };
    kind.names = Names {
        kind: names.kind,
        list_kind: names.list_kind,
        plural: names.plural,
        singular: names.singular,
        short: names.short_names,
        categories: names.categories,
    };
    kind.origin = Origin::Custom {
        definition: object.name().to_owned(),
        version: written_at,
        terminating: crd::is_true(object, "Terminating"),
    };
    Some(kind)
}

fn version(from: &crd::Version, written_at: u64, before: Option<&Kind>) -> Option<Version> {
    let schema = from
        .schema
        .clone()
        .unwrap_or_else(|| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let same = before
        .and_then(|kind| kind.versions.iter().find(|old| old.name == from.name))
        .filter(|old| old.openapi == schema)
        .map(|old| old.since);
    let mut version = Version::new(&from.name, schema)
        .inspect_err(|error| tracing::error!(version = from.name, %error, "failed to parse a schema; the version is not served"))
        .ok()?;
    // Objects written under another schema are brought into this one's shape when they are read.
    version.since = same.unwrap_or(written_at);
    version.served = from.served;
    version.deprecated.clone_from(&from.deprecation_warning);
    version.selectable =
        from.selectable_fields.iter().map(|path| path.trim_start_matches('.').to_owned()).collect();
    version.columns = Columns::of_custom_resource(&from.columns.iter().map(column).collect::<Vec<_>>());
    if from.has_status {
        version.subresources.push(Subresource::Status);
    }
    if let Some(scale) = &from.scale {
        version.subresources.push(Subresource::Scale(Scale {
            spec_replicas: scale.spec_replicas_path.clone(),
            status_replicas: scale.status_replicas_path.clone(),
            selector: scale.label_selector_path.clone(),
        }));
    }
    Some(version)
}

fn column(from: &crd::Column) -> Value {
    json!({
        "name": from.name,
        "type": from.kind,
        "format": from.format,
        "description": from.description,
        "priority": from.priority,
        "jsonPath": from.json_path,
    })
}

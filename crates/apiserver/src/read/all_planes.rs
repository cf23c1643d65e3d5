//! The objects of a kind in all control planes at once, for those who were granted that in the root.
//!
//! `allPlanes=true` on a list or a watch in the root. Each object has an annotation that names its control plane.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Kind, Origin};
use krm::status::Status;
use serde_json::{Map, Value};
use store::{Entry, Key, Snapshot};

use super::list::find_seen;
use crate::call::Call;
use crate::catalog::Kinds;
use crate::keys;
use crate::plane::Plane;
use crate::select::Selection;

/// The parameter that asks for it.
pub const PARAMETER: &str = "allPlanes";
/// The verb that it takes. It is none of Kubernetes', so that no role which allows to list everything in the root includes it.
pub const VERB: &str = "read";
/// The subresource that it takes, so that no role which allows everything with one kind in the root includes it.
pub const SUBRESOURCE: &str = "allplanes";
/// The annotation with the project of an object; empty for the root.
const ANNOTATION: &str = "groundplane.dev/plane";

/// Refuses it where it makes no sense.
pub fn admit(plane: &Plane, kind: &Kind, is_virtual: bool) -> Result<(), Status> {
    let wrong = |why: &str| Err(Status::bad_request(format!("{PARAMETER}: {why}")));
    if !plane.is_root() {
        return wrong("only in the root");
    }
    if kind.origin != Origin::BuiltIn {
        return wrong("a kind of a CustomResourceDefinition can be another one in each control plane");
    }
    if kind.secret {
        return wrong("not for objects that are sealed");
    }
    match is_virtual || kind.mirror.is_some() || kind.converter.is_some() {
        true => wrong("not for this resource"),
        false => Ok(()),
    }
}

/// The objects that the selection means, in the order of their keys: at most `limit` of those after `after`.
pub fn find(
    call: &Call,
    selection: &Selection,
    snapshot: &Snapshot,
    (after, limit): (Option<&Key>, usize),
) -> Vec<(Key, Arc<Entry>)> {
    let mut found = Vec::new();
    for plane in all(call.api.kinds(), snapshot) {
        let there = Call { plane, all_planes: false, ..call.clone() };
        let prefix = there.prefix();
        let is_inside = after.is_some_and(|after| after.as_bytes().starts_with(prefix.as_bytes()));
        if !is_inside && after.is_some_and(|after| after.as_bytes() > prefix.as_bytes()) {
            continue;
        }
        let window = (after.filter(|_| is_inside), limit - found.len());
        found.extend(find_seen(&there, selection, snapshot, &prefix, window));
        if found.len() >= limit {
            break;
        }
    }
    found
}

/// All planes in the order of their keys.
pub fn all(kinds: &Kinds, snapshot: &Snapshot) -> Vec<Plane> {
    let mut planes: Vec<Plane> = Vec::new();
    if let Some(kind) = kinds.planes() {
        let projects = keys::of_kind(&Plane::root(), kind.group, kind.plural);
        let names = snapshot.list(projects.as_bytes()).filter_map(|(key, _)| Some(keys::parts(key)?.name));
        planes.extend(names.map(Plane::project));
    }
    // A slash follows the name in a key: it counts where one name begins with another.
    planes.sort_by_cached_key(|plane| format!("{plane}/"));
    planes.insert(0, Plane::root());
    planes
}

/// Whether a key is one of the collection.
pub fn has(call: &Call, key: &Key) -> bool {
    let Some(parts) = keys::parts(key) else { return false };
    let is_here = call.namespace.is_empty() || parts.namespace == call.namespace;
    is_here && (parts.group, parts.plural) == call.kept()
}

/// Says in an object which control plane it is in.
pub fn annotate(key: &Key, object: &mut Object) {
    let plane = keys::parts(key).map_or("", |parts| parts.plane);
    let annotations = object.metadata_mut().entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.insert(ANNOTATION.to_owned(), plane.into());
    }
}

//! Metadata that the server sets, regardless of the request.

use serde_json::Value;

use crate::field::{FieldError, Path};
use crate::object::Object;
use crate::time::Moment;

/// Fields of metadata that belong to the server; a request to create an object gives them in vain.
const OF_SERVER: [&str; 5] =
    ["creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "selfLink", "uid"];

/// Gives a new object its identity and its time of birth, and takes away what a request cannot set.
pub fn fill_on_create(object: &mut Object, uid: impl Into<String>, now: Moment) {
    let metadata = object.metadata_mut();
    for field in OF_SERVER {
        metadata.remove(field);
    }
    metadata.insert("uid".into(), Value::String(uid.into()));
    metadata.insert("creationTimestamp".into(), Value::String(now.to_string()));
}

/// Gives an update what it cannot change by leaving it out: identity, generation and the times of birth and death.
///
/// What the kind does to the generation comes after this.
pub fn keep_on_update(object: &mut Object, old: &Object) {
    let metadata = object.metadata_mut();
    let mut keep = |field: &str, always: bool| match old.meta(field).filter(|value| !value.is_null()) {
        Some(value) if always || metadata.get(field).is_none_or(is_empty) => {
            metadata.insert(field.to_owned(), value.clone());
        }
        _ => {}
    };
    keep("uid", false);
    keep("creationTimestamp", true);
    keep("deletionTimestamp", true);
    keep("deletionGracePeriodSeconds", false);
    match old.meta("generation") {
        Some(generation) => metadata.insert("generation".into(), generation.clone()),
        None => metadata.remove("generation"),
    };
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// An update of a kind that has to say which version it changes does not say it. The answer names the resource, not
/// the kind.
pub fn resource_version_required() -> FieldError {
    let metadata = Path::of("metadata");
    FieldError::invalid(
        &metadata.field("resourceVersion"),
        &Value::from(0),
        "must be specified for an update",
    )
}

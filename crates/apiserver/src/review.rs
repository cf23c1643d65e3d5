//! Questions that are posted as objects and answered in their status: may I, may she, who am I, whose token is this.
//!
//! Each takes the object as it was decoded, with what the server has already put into its metadata.

mod access;
mod attributes;
mod subject;
mod token;
mod token_request;

pub use access::{
    explanation, local_subject_access, self_subject_access, self_subject_rules, subject_access,
};
pub use subject::self_subject;
pub(crate) use subject::user_info;
pub use token::token;
pub use token_request::{Bound, TokenAnswer, token_request};

use krm::{Object, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A part of the object as a type of ours. Nothing given is the same as nothing there.
fn read<T: DeserializeOwned + Default>(object: &Object, field: &str) -> Result<T, Status> {
    let Some(value) = object.get(field).filter(|value| !value.is_null()) else { return Ok(T::default()) };
    serde_json::from_value(without_nulls(value)).map_err(|error| {
        let (kind, version) = (object.kind(), object.api_version().rsplit('/').next().unwrap_or(""));
        let message =
            format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {field}: {error}");
        Status::bad_request(message)
    })
}

/// Puts a part into the object as the type writes it.
fn write(object: &mut Object, field: &str, part: &impl Serialize) -> Result<(), Status> {
    let value = serde_json::to_value(part).map_err(Status::internal)?;
    object.set(field, Some(value));
    Ok(())
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;

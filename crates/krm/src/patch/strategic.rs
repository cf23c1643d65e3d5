//! Strategic merge patches: merge patches that know which lists are keyed, for the kinds that Kubernetes itself defines.

mod layout;
mod list;
mod order;
mod residue;
mod restore;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::PatchError;
use crate::body::{self, FieldValidation};
use crate::golang::{as_text, plain, type_of};
use layout::FieldLayout;
pub use layout::Layout;

/// Says what is done with the map or the list it stands in: `replace`, `delete` or `merge`.
const DIRECTIVE: &str = "$patch";
/// Before the name of a list of texts: what is to go from it.
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
/// Before the name of a list: the order its items shall have.
const SET_ORDER: &str = "$setElementOrder";
/// The fields that stay; all others go.
const RETAIN_KEYS: &str = "$retainKeys";

/// A strategic merge patch that was read from a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    changes: Value,
    complaints: Vec<String>,
}

impl Patch {
    /// Reads a patch from the body of a request.
    pub fn read(text: &[u8]) -> Result<Patch, PatchError> {
        let body = body::read(text).map_err(|error| PatchError::Malformed(error.to_string()))?;
        match body.value {
            changes @ Value::Object(_) => Ok(Patch { changes, complaints: body.duplicates }),
            Value::Null => Ok(Patch { changes: Value::Object(Map::new()), complaints: Vec::new() }),
            other => Err(PatchError::Malformed(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                body::kind_of(&other)
            ))),
        }
    }

    /// What it changes.
    pub fn changes(&self) -> &Value {
        &self.changes
    }

    /// An object with the changes made, and what a strict reader holds against them.
    ///
    /// It fails when what comes out is not an object of the kind.
    pub fn apply(
        &self,
        object: &Value,
        layout: &Layout,
        validation: FieldValidation,
    ) -> Result<(Value, Vec<String>), PatchError> {
        let mut changed = object.clone();
        apply(&self.changes, &mut changed, layout)?;
        let shown = || residue::shown(&self.changes, object);
        let unknown = layout.check(&changed).map_err(|why| PatchError::BadResult { shown: shown(), why })?;
        let complaints: Vec<String> = self.complaints.iter().cloned().chain(unknown).collect();
        match validation {
            FieldValidation::Ignore => Ok((changed, Vec::new())),
            FieldValidation::Strict if !complaints.is_empty() => {
                Err(PatchError::strict(shown(), &complaints))
            }
            FieldValidation::Strict | FieldValidation::Warn => Ok((changed, complaints)),
        }
    }
}

/// Makes the changes of a strategic merge patch. Its type is not among what a patch can change.
///
/// When it fails, the object is left half changed: apply to a copy.
pub fn apply(patch: &Value, object: &mut Value, layout: &Layout) -> Result<(), PatchError> {
    let (Value::Object(changes), Value::Object(fields)) = (patch, object) else {
        return Err(PatchError::Malformed("invalid JSON document".to_owned()));
    };
    let types = ["apiVersion", "kind"].map(|field| (field, fields.get(field).cloned()));
    merge(changes, fields, layout.root())?;
    for (field, value) in types {
        match value {
            Some(value) => fields.insert(field.to_owned(), value),
            None => fields.remove(field),
        };
    }
    Ok(())
}

/// Merges a map of changes into the fields they are about.
fn merge(
    changes: &Map<String, Value>,
    fields: &mut Map<String, Value>,
    place: FieldLayout<'_>,
) -> Result<(), PatchError> {
    match changes.get(DIRECTIVE) {
        None => {}
        Some(directive) if directive == "replace" => {
            let rest = changes.iter().filter(|(key, _)| *key != DIRECTIVE);
            *fields = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
            return Ok(());
        }
        Some(directive) if directive == "delete" => {
            fields.clear();
            return Ok(());
        }
        Some(directive) => return Err(unknown_directive(directive, changes)),
    }
    retain_keys(changes, fields)?;
    let done = order::set_orders(changes, fields, place)?;
    for (key, change) in changes {
        if key == RETAIN_KEYS || key.starts_with(SET_ORDER) || done.contains(key.as_str()) {
            continue;
        }
        match key.strip_prefix(DELETE_FROM) {
            None => merge_field(key, change, fields, place)?,
            Some(list) => {
                let malformed = || PatchError::Malformed("invalid patch format of primitive list".to_owned());
                delete_from(list.strip_prefix('/').ok_or_else(malformed)?, change, fields, place)?;
            }
        }
    }
    Ok(())
}

fn merge_field(
    key: &str,
    change: &Value,
    fields: &mut Map<String, Value>,
    place: FieldLayout<'_>,
) -> Result<(), PatchError> {
    if change.is_null() {
        fields.remove(key);
        return Ok(());
    }
    match (fields.get_mut(key), change) {
        (Some(Value::Object(field)), Value::Object(changes)) => {
            let (below, rule) = place.field(key)?;
            match rule.replaces() {
                true => *field = changes.clone(),
                false => merge(changes, field, below)?,
            }
        }
        (Some(Value::Array(items)), Value::Array(changes)) => {
            let (below, rule) = place.list(key)?;
            match rule.merges() {
                true => list::merge(changes, items, below, rule.merge_key())?,
                false => items.clone_from(changes),
            }
        }
        _ => {
            let mut value = change.clone();
            drop_nulls(&mut value);
            match drop_directives(&mut value) {
                true => fields.insert(key.to_owned(), value),
                false => fields.remove(key),
            };
        }
    }
    Ok(())
}

fn delete_from(
    key: &str,
    gone: &Value,
    fields: &mut Map<String, Value>,
    place: FieldLayout<'_>,
) -> Result<(), PatchError> {
    match (fields.get_mut(key), gone) {
        (_, Value::Null) => {
            fields.remove(key);
        }
        (Some(Value::Array(items)), Value::Array(gone)) => {
            let (below, rule) = place.list(key)?;
            list::delete(gone, items, below, rule.merge_key())?;
        }
        _ => {}
    }
    Ok(())
}

/// Takes away every field that is not among those to be kept, if the patch says which are.
fn retain_keys(changes: &Map<String, Value>, fields: &mut Map<String, Value>) -> Result<(), PatchError> {
    let Some(kept) = changes.get(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let kept = kept.as_array().ok_or_else(malformed)?;
    let kept: BTreeSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    let mentioned = changes.iter().filter(|(key, value)| {
        let directive = *key == RETAIN_KEYS || key.starts_with(DELETE_FROM) || key.starts_with(SET_ORDER);
        !directive && !value.is_null()
    });
    for (key, _) in mentioned {
        if !kept.contains(key.as_str()) {
            return Err(malformed());
        }
    }
    fields.retain(|key, _| kept.contains(key.as_str()));
    Ok(())
}

fn unknown_directive(directive: &Value, changes: &Map<String, Value>) -> PatchError {
    let map = Value::Object(changes.clone());
    PatchError::Failed(format!("unknown patch type: {} in map: {}", as_text(directive), plain(&map)))
}

fn no_merge_key(item: &Value, merge_key: &str) -> PatchError {
    PatchError::Failed(format!("map: {} does not contain declared merge key: {merge_key}", plain(item)))
}

fn wrong_type(wanted: &str, found: &Value) -> PatchError {
    PatchError::Failed(format!("expected a {wanted}, but received a {}", type_of(found)))
}

/// Takes away the fields that are null, in maps and in the maps of lists.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Takes away the maps that are but directives. Whether the value is to be kept itself.
fn drop_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| drop_directives(field));
            !fields.contains_key(DIRECTIVE)
        }
        Value::Array(items) => {
            items.retain_mut(drop_directives);
            true
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;

//! Fields that a manager no longer applies and nobody else owns, taken out of the object.

use serde_json::{Map, Value};

use super::element::Element;
use super::endpoint::Versions;
use super::fields::{fields_of, with_structs};
use super::items::element_of;
use super::set::FieldSet;
use super::types::{Case, Fields, Items, Shape, Type};
use crate::kind::Unconvertible;
use crate::object::Object;

/// What is owned at one version, and the type of that version.
pub(super) struct Owned<'t> {
    pub version: &'t str,
    pub ty: &'t Type,
    pub fields: FieldSet,
}

/// Takes out of `merged` what was applied last time, in `last`, and is owned no longer.
///
/// `owned` is everything anybody owns now, by version, beginning with the version of `last`. An object that can't be
/// converted without what goes keeps all of it.
pub(super) fn prune(
    versions: &Versions,
    last: &Owned<'_>,
    owned: &[Owned<'_>],
    merged: &mut Object,
) -> Result<(), Unconvertible> {
    let last_fields = with_structs(last.ty, &last.fields);
    let at_last = versions.convert(merged, last.version)?.into_owned();
    let mut pruned = without(last.ty, &at_last, &last_fields);
    for owned in owned {
        // Back comes what somebody owns.
        let merged = versions.convert(merged, owned.version)?;
        let Ok(left) = versions.convert(&pruned, owned.version) else { return Ok(()) };
        let mut gone = with_structs(owned.ty, &fields_of(owned.ty, &merged));
        gone.subtract(&with_structs(owned.ty, &fields_of(owned.ty, &left)));
        gone.subtract(&with_structs(owned.ty, &owned.fields));
        pruned = without(owned.ty, &merged, &gone);
    }
    // Back comes what was not applied last time: it went only because what holds it did.
    let Ok(left) = versions.convert(&pruned, last.version) else { return Ok(()) };
    let mut gone = with_structs(last.ty, &fields_of(last.ty, &at_last));
    gone.subtract(&with_structs(last.ty, &fields_of(last.ty, &left)));
    let gone = gone.intersection(&last_fields);
    if !gone.is_empty() {
        let left = without(last.ty, &at_last, &gone);
        if let Ok(left) = versions.convert(&left, merged.api_version()) {
            *merged = left.into_owned();
        }
    }
    Ok(())
}

/// The object without these fields.
fn without(ty: &Type, object: &Object, gone: &FieldSet) -> Object {
    Object(entries_without(ty.root(), ty.fields(), &object.0, gone))
}

fn entries_without(
    shape: Shape<'_>,
    fields: &Fields,
    map: &Map<String, Value>,
    gone: &FieldSet,
) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in map {
        let element = Element::field(name.as_str());
        if gone.has(&element) {
            continue;
        }
        let below = gone.below(&element);
        let value = match below.is_empty() {
            true => value.clone(),
            false => value_without(shape.entry_or_untyped(fields, name), value, below),
        };
        kept.insert(name.clone(), value);
    }
    kept
}

/// The value without these fields. What becomes empty by that becomes null.
fn value_without(shape: Shape<'_>, value: &Value, gone: &FieldSet) -> Value {
    match (shape.case(value), value) {
        (Case::Scalar(_), scalar) => scalar.clone(),
        (Case::Map(fields), Value::Object(map)) if !fields.atomic => {
            let kept = entries_without(shape, fields, map, gone);
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        (Case::List(list), Value::Array(items)) if !matches!(list.items, Items::Atomic) => {
            let mut kept = Vec::new();
            for item in items {
                let Ok(element) = element_of(list, item) else { continue };
                if gone.has(&element) {
                    continue;
                }
                let below = gone.below(&element);
                kept.push(match below.is_empty() {
                    true => item.clone(),
                    false => value_without(shape.item(list), item, below),
                });
            }
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        _ => Value::Null,
    }
}

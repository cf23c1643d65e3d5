//! When two values are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Fault, JsonList, JsonObject, List, Map, Value, order};
use crate::cel::decl::{DeclKind, ListType};

/// Whether two values are the same. Numbers of different types are when they are the same number.
pub(in crate::cel) fn equal(a: &Value<'_>, b: &Value<'_>) -> Result<bool, Fault> {
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => **a == **b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a.text == b.text,
        (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Semver(a), Value::Semver(b)) => a.compare(b).is_eq(),
        (Value::Format(a), Value::Format(b)) => std::ptr::eq(*a, *b),
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => return equal(a, b),
        (Value::Optional(a), Value::Optional(b)) => a.is_none() && b.is_none(),
        (Value::List(a), Value::List(b)) => return lists(a, b),
        (Value::Map(a), Value::Map(b)) => return maps(a, b),
        (Value::Object(a), Value::Object(b)) => return objects(a, b),
        (a, b) => order::numbers(a, b).is_some_and(|order| order.is_some_and(|order| order.is_eq())),
    })
}

fn lists(a: &List<'_>, b: &List<'_>) -> Result<bool, Fault> {
    if a.len() != b.len() {
        return Ok(false);
    }
    if let (List::Json(a), List::Json(b)) = (a, b)
        && let DeclKind::List { list_type, .. } = &a.decls.get(a.decl).kind
    {
        match list_type {
            ListType::Set => return Ok(same_sets(a, b)),
            ListType::Map(keys) => return same_maps(a, b, keys),
            ListType::Atomic => {}
        }
    }
    for (a, b) in a.iter().zip(b.iter()) {
        if !equal(&a?, &b?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Items of sets are scalars, so their text tells them apart.
fn same_sets(a: &JsonList<'_>, b: &JsonList<'_>) -> bool {
    let a: BTreeSet<String> = a.items.iter().map(Json::to_string).collect();
    b.items.iter().all(|item| a.contains(&item.to_string()))
}

fn same_maps(a: &JsonList<'_>, b: &JsonList<'_>, keys: &[Box<str>]) -> Result<bool, Fault> {
    let key = |item: &Json| -> Vec<String> {
        keys.iter().map(|key| item.get(&**key).map(Json::to_string).unwrap_or_default()).collect()
    };
    let places: BTreeMap<Vec<String>, usize> =
        a.items.iter().enumerate().map(|(place, item)| (key(item), place)).collect();
    for (index, item) in b.items.iter().enumerate() {
        let Some(place) = places.get(&key(item)) else { return Ok(false) };
        let (Some(a), Some(b)) = (a.get(*place), b.get(index)) else { return Ok(false) };
        if !equal(&a?, &b?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps(a: &Map<'_>, b: &Map<'_>) -> Result<bool, Fault> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for key in a.keys() {
        let (Some(a), Some(b)) = (a.get(&key), b.get(&key)) else { return Ok(false) };
        if !equal(&a?, &b?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn objects(a: &JsonObject<'_>, b: &JsonObject<'_>) -> Result<bool, Fault> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (name, json) in a.map {
        if a.decls.property(a.decl, name).is_none() {
            // Of a field that the schema does not know, the other may have none.
            if b.map.get(name).is_some_and(|other| other != json) {
                return Ok(false);
            }
            continue;
        }
        match (a.get(name), b.get(name)) {
            (None, None) => {}
            (Some(a), Some(b)) => {
                if !equal(&a?, &b?)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

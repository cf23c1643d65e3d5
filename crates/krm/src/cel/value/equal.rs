//! When two values are the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{Effort, Fault, JsonObject, List, Map, Value, order};
use crate::cel::decl::ListType;

/// Whether two values are the same. Numbers of different types are when they are the same number.
pub(in crate::cel) fn equal(a: &Value<'_>, b: &Value<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    effort.spend(1)?;
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(text), Value::String(other)) => {
            effort.read(a)?;
            **text == **other
        }
        (Value::Bytes(bytes), Value::Bytes(other)) => {
            effort.read(a)?;
            bytes == other
        }
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a.moment == b.moment,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a.text == b.text,
        (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Semver(a), Value::Semver(b)) => a.compare(b).is_eq(),
        (Value::Format(a), Value::Format(b)) => std::ptr::eq(*a, *b),
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => return equal(a, b, effort),
        (Value::Optional(a), Value::Optional(b)) => a.is_none() && b.is_none(),
        (Value::List(a), Value::List(b)) => return lists(a, b, effort),
        (Value::Map(a), Value::Map(b)) => return maps(a, b, effort),
        (Value::Object(a), Value::Object(b)) => return objects(a, b, effort),
        (a, b) => order::numbers(a, b).is_some_and(|order| order.is_some_and(|order| order.is_eq())),
    })
}

/// What makes two lists the same is for the first to say.
fn lists(a: &List<'_>, b: &List<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    if a.len() != b.len() {
        return Ok(false);
    }
    match a.list_type() {
        ListType::Set => return same_sets(a, b, effort),
        ListType::Map(keys) => return same_maps(a, b, keys, effort),
        ListType::Atomic => {}
    }
    for (a, b) in a.iter().zip(b.iter()) {
        if !equal(&a?, &b?, effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_sets(a: &List<'_>, b: &List<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    effort.spend(a.len() as u64)?;
    let all: Result<BTreeSet<Option<String>>, Fault> =
        a.iter().map(|item| Ok(item?.identity(None))).collect();
    let all = all?;
    for item in b.iter() {
        let identity = item?.identity(None);
        if identity.is_none() || !all.contains(&identity) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same_maps(a: &List<'_>, b: &List<'_>, keys: &[Box<str>], effort: &mut Effort) -> Result<bool, Fault> {
    let mut by_key = BTreeMap::new();
    for item in a.iter() {
        let item = item?;
        by_key.insert(item.identity(Some(keys)), item);
    }
    for item in b.iter() {
        let item = item?;
        let Some(own) = by_key.get(&item.identity(Some(keys))) else { return Ok(false) };
        if !equal(own, &item, effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps(a: &Map<'_>, b: &Map<'_>, effort: &mut Effort) -> Result<bool, Fault> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for key in a.keys() {
        let (Some(a), Some(b)) = (a.get(&key), b.get(&key)) else { return Ok(false) };
        if !equal(&a?, &b?, effort)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn objects(a: &JsonObject<'_>, b: &JsonObject<'_>, effort: &mut Effort) -> Result<bool, Fault> {
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
                if !equal(&a?, &b?, effort)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

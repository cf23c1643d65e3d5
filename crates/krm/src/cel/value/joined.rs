//! Lists of the object with others added to them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{List, Outcome, Value};
use crate::cel::decl::{DeclId, Decls, ListType};

/// A list that still is what its first part was declared to be: a set, or a map by keys.
#[derive(Debug)]
pub(in crate::cel) struct Joined<'a> {
    pub items: Vec<Value<'a>>,
    pub decls: &'a Decls,
    /// The declaration of the first part.
    pub decl: DeclId,
}

/// One list after the other. A set takes only what it does not have; a map puts items in the place of those that have the
/// same keys.
pub(in crate::cel) fn join<'a>(first: &List<'a>, second: &List<'a>) -> Outcome<'a> {
    let mut items = first.values()?;
    let declared = match first {
        List::Json(list) => Some((list.decls, list.decl)),
        List::Joined(list) => Some((list.decls, list.decl)),
        List::Made(_) => None,
    };
    let (Some((decls, decl)), list_type) = (declared, first.list_type()) else {
        items.extend(second.values()?);
        return Ok(Value::list(items));
    };
    let keys = match list_type {
        ListType::Atomic => {
            items.extend(second.values()?);
            return Ok(Value::list(items));
        }
        ListType::Set => None,
        ListType::Map(keys) => Some(keys.as_slice()),
    };
    let mut places: BTreeMap<Option<String>, usize> =
        items.iter().enumerate().map(|(place, item)| (item.identity(keys), place)).collect();
    for item in second.iter() {
        let item = item?;
        let identity = item.identity(keys);
        match places.get(&identity).filter(|_| identity.is_some()) {
            Some(place) if keys.is_some() => items[*place] = item,
            Some(_) => {}
            None => {
                places.insert(identity, items.len());
                items.push(item);
            }
        }
    }
    Ok(Value::List(List::Joined(Rc::new(Joined { items, decls, decl }))))
}

impl Value<'_> {
    /// What tells an item of a set from the others, or by its keys one of a map; `None` when nothing does.
    pub(super) fn identity(&self, keys: Option<&[Box<str>]>) -> Option<String> {
        match (self, keys) {
            (Value::Object(object), Some(keys)) => {
                let values = keys.iter().map(|key| object.map.get(&**key).map(ToString::to_string));
                Some(values.map(Option::unwrap_or_default).collect::<Vec<String>>().join("\0"))
            }
            (_, Some(_)) => None,
            (Value::String(text), None) => Some(format!("\"{text}")),
            (Value::Bool(flag), None) => Some(flag.to_string()),
            (Value::Int(number), None) => Some(number.to_string()),
            (Value::Uint(number), None) => Some(number.to_string()),
            (Value::Double(number), None) => Some(number.to_string()),
            (Value::Duration(nanos), None) => Some(format!("{nanos}ns")),
            (Value::Timestamp(stamp), None) => Some(stamp.moment.to_string()),
            (Value::Bytes(bytes), None) => Some(crate::base64::encode(bytes)),
            (Value::Object(object), None) => serde_json::to_string(object.map).ok(),
            (Value::Map(super::Map::Json(map)), None) => serde_json::to_string(map.map).ok(),
            (Value::List(List::Json(list)), None) => serde_json::to_string(list.items).ok(),
            _ => None,
        }
    }
}

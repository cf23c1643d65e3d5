//! What the items of a list are known by.

use serde_json::{Map, Value};

use super::element::Element;
use super::types::{Items, Key, List};

/// The step to an item of a list, or why there is none.
pub(super) fn element_of(list: &List, item: &Value) -> Result<Element, Unidentified> {
    match (&list.items, item) {
        (Items::Atomic, _) => Err(Unidentified::AtomicList),
        (Items::Keyed(keys), Value::Object(map)) => keyed(keys, map),
        (Items::Keyed(_), Value::Null) => Err(Unidentified::KeyedNull),
        (Items::Keyed(_), _) => Err(Unidentified::KeyedScalar),
        (Items::Set, Value::Object(_)) => Err(Unidentified::SetOfMaps),
        (Items::Set, Value::Array(_)) => Err(Unidentified::SetOfLists),
        (Items::Set, Value::Null) => Err(Unidentified::SetNull),
        (Items::Set, scalar) => Ok(Element::Value(scalar.clone())),
    }
}

fn keyed(keys: &[Key], item: &Map<String, Value>) -> Result<Element, Unidentified> {
    let mut fields: Vec<(String, Value)> = keys
        .iter()
        .filter_map(|key| {
            // A key that is neither given nor has a default is left out: such an item is another one.
            let value = item.get(&key.name).or(key.default.as_ref())?;
            Some((key.name.clone(), value.clone()))
        })
        .collect();
    if fields.is_empty() && !keys.is_empty() {
        return Err(Unidentified::NoKey(keys.iter().map(|key| key.name.clone()).collect()));
    }
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Element::Key(fields))
}

/// Why an item of a list cannot be told from others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unidentified {
    #[error("invalid indexing of non-associative list")]
    AtomicList,
    #[error("associative list with keys may not have a null element")]
    KeyedNull,
    #[error("associative list with keys may not have non-map elements")]
    KeyedScalar,
    #[error(
        "associative list with keys has an element that omits all key fields [{}] \
         (and doesn't have default values for any key fields)",
        quoted(.0)
    )]
    NoKey(Vec<String>),
    #[error("associative list without keys has an element that's a map type")]
    SetOfMaps,
    #[error("not supported: associative list with lists as elements")]
    SetOfLists,
    #[error("associative list without keys has an element that's an explicit null")]
    SetNull,
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| crate::field::quote(name)).collect::<Vec<_>>().join(" ")
}

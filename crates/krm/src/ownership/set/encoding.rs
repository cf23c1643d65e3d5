//! Field sets as `fieldsV1`: `{"f:spec":{".":{},"f:size":{}}}`.

use serde_json::{Map, Value};

use super::{FieldSet, Node};
use crate::ownership::DEEPEST;
use crate::ownership::element::{Element, MalformedElement};

/// Marks, among the fields below a field, that the field itself is in the set.
const ITSELF: &str = ".";

/// `fieldsV1` that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedFields {
    /// A key is no path element.
    #[error(transparent)]
    Element(#[from] MalformedElement),
    /// What stands at a key is not an object.
    #[error("expected an object at {0:?}")]
    NotAnObject(String),
    /// It is nested deeper than any object may be.
    #[error("fields are nested too deeply")]
    TooDeep,
}

impl FieldSet {
    /// As `fieldsV1`.
    pub fn encode(&self) -> Value {
        self.encode_into(Map::new())
    }

    fn encode_into(&self, mut map: Map<String, Value>) -> Value {
        for node in &self.nodes {
            let mut below = Map::new();
            if node.member && !node.below.is_empty() {
                below.insert(ITSELF.to_owned(), Value::Object(Map::new()));
            }
            map.insert(node.element.encode(), node.below.encode_into(below));
        }
        Value::Object(map)
    }

    /// Reads `fieldsV1`. Kinds of steps that are not known are left out, with what is below them.
    pub fn decode(fields: &Value) -> Result<FieldSet, MalformedFields> {
        let (set, _) = decode_below(fields, "", DEEPEST)?;
        Ok(set)
    }
}

/// The fields below a field, and whether that field is in the set itself.
fn decode_below(fields: &Value, key: &str, depth: usize) -> Result<(FieldSet, bool), MalformedFields> {
    let depth = depth.checked_sub(1).ok_or(MalformedFields::TooDeep)?;
    let mut set = FieldSet::new();
    let map = match fields {
        Value::Object(map) => map,
        Value::Null => return Ok((set, true)),
        _ => return Err(MalformedFields::NotAnObject(key.to_owned())),
    };
    let mut itself = false;
    for (key, fields) in map {
        if key == ITSELF {
            itself = true;
        } else if let Some(element) = Element::decode(key)? {
            let (below, member) = decode_below(fields, key, depth)?;
            set.nodes.push(Node { element, member, below });
        }
    }
    // The map is sorted by text, where `i:` comes before `k:` and 443 before 80.
    set.nodes.sort_by(|left, right| left.element.cmp(&right.element));
    set.nodes.dedup_by(|later, earlier| {
        let same = later.element == earlier.element;
        if same {
            earlier.member |= later.member;
            earlier.below.extend(std::mem::take(&mut later.below));
        }
        same
    });
    let member = itself || set.is_empty();
    Ok((set, member))
}

//! An applied configuration put over an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::items::element_of;
use super::types::{Case, Fields, Items, List, Shape, Type};
use super::values::equal;
use crate::object::Object;

/// Puts an applied object over the live one. Nothing is removed; where both have a value, the applied one wins.
///
/// Both have been checked to be of the type, and the applied one has no duplicates in sets.
pub(super) fn merge(ty: &Type, live: &mut Object, applied: &Object) {
    merge_entries(ty.root(), ty.fields(), &mut live.0, &applied.0);
}

fn merge_entries(
    shape: Shape<'_>,
    fields: &Fields,
    live: &mut Map<String, Value>,
    applied: &Map<String, Value>,
) {
    for (name, applied) in applied {
        match live.get_mut(name) {
            Some(live) => merge_value(shape.entry_or_untyped(fields, name), live, applied),
            None => {
                live.insert(name.clone(), applied.clone());
            }
        }
    }
}

fn merge_value(shape: Shape<'_>, live: &mut Value, applied: &Value) {
    match shape.case(applied) {
        Case::Map(fields) if !fields.atomic => match (&mut *live, applied) {
            (Value::Object(live), applied) if !live.is_empty() => {
                if let Value::Object(applied) = applied {
                    merge_entries(shape, fields, live, applied);
                }
            }
            // Of two empty ones the applied one counts, so that null and {} stay apart.
            _ => replace(live, applied),
        },
        Case::List(list) if !matches!(list.items, Items::Atomic) => match (&mut *live, applied) {
            (Value::Array(live), Value::Array(applied)) if !live.is_empty() => {
                if !applied.is_empty() {
                    *live = merge_items(shape, list, std::mem::take(live), applied);
                }
            }
            (Value::Array(live), _) if !live.is_empty() => {}
            _ => replace(live, applied),
        },
        _ => replace(live, applied),
    }
}

fn replace(live: &mut Value, applied: &Value) {
    if !equal(live, applied) {
        *live = applied.clone();
    }
}

/// Merges two lists of items that are known by keys or values. Items that are in both stand in the order of the
/// applied list; items of the live list alone keep their place among those.
fn merge_items(shape: Shape<'_>, list: &List, mut live: Vec<Value>, applied: &[Value]) -> Vec<Value> {
    let item_shape = shape.item(list);
    let (Some(ours), Some(theirs)) = (elements(list, &live), elements(list, applied)) else {
        return applied.to_vec();
    };
    let counterparts = counterparts(&ours);
    let is_applied: BTreeSet<&Element> = theirs.iter().collect();
    let mut shared = theirs.iter().filter(|element| counterparts.contains_key(element));
    let mut next_shared = shared.next();
    let mut merged_already: BTreeSet<&Element> = BTreeSet::new();
    let mut merged = Vec::with_capacity(live.len().max(applied.len()));
    let (mut left, mut right) = (0, 0);
    while left < ours.len() || right < theirs.len() {
        let (our, their) = (ours.get(left), theirs.get(right));
        let same = our.is_some() && our == their;
        if let Some(our) = our
            && !same
        {
            if !is_applied.contains(our) {
                merged.push(live[left].take());
                left += 1;
                continue;
            }
            if their.is_some() && next_shared.is_some_and(|next| next != our) {
                // It is applied too, but another one is due here.
                left += 1;
                continue;
            }
            if merged_already.contains(our) {
                left += 1;
            }
        }
        if let Some(their) = their {
            let item = match counterparts.get(their).copied().flatten() {
                Some(at) => {
                    let mut item = live[at].take();
                    merge_value(item_shape, &mut item, &applied[right]);
                    item
                }
                None => applied[right].clone(),
            };
            merged.push(item);
            merged_already.insert(their);
            right += 1;
            left += usize::from(same);
            if same || next_shared == Some(their) {
                next_shared = shared.next();
            }
        }
    }
    merged
}

/// What the items of a list are known by; `None` if one is known by nothing, which checking it has ruled out.
fn elements(list: &List, items: &[Value]) -> Option<Vec<Element>> {
    items.iter().map(|item| element_of(list, item).ok()).collect()
}

/// Where each item stands in the live list; of one that is there twice only that it is there.
fn counterparts(live: &[Element]) -> BTreeMap<&Element, Option<usize>> {
    let mut places = BTreeMap::new();
    for (at, element) in live.iter().enumerate() {
        places.entry(element).and_modify(|twice| *twice = None).or_insert(Some(at));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(live: Value, applied: &Value) -> Value {
        let list = |items: Value, list_type: &str| {
            json!({
                "type": "array", "items": items, "x-kubernetes-list-type": list_type,
                "x-kubernetes-list-map-keys": ["key", "id"],
            })
        };
        let item = json!({"type": "object", "properties": {
            "key": {"type": "string"}, "id": {"type": "integer"}, "note": {"type": "string"},
        }});
        let ty = Type::from_schema(&json!({"type": "object", "properties": {
            "number": {"type": "number"},
            "set": list(json!({}), "set"),
            "map": list(item, "map"),
            "list": list(json!({"type": "string"}), "atomic"),
            "struct": {"type": "object", "properties": {"a": {"type": "string"}}},
        }}));
        let mut live = Object::from_value(live).unwrap();
        merge(&ty, &mut live, &Object::from_value(applied.clone()).unwrap());
        live.into_value()
    }

    #[test]
    fn items_of_sets_come_in_the_order_applied_and_others_keep_their_place_among_them() {
        let letters = |text: &str| Value::from(text.chars().map(String::from).collect::<Vec<_>>());
        for (live, applied, expected) in [
            ("abc", "ab", "abc"),
            ("ab", "abc", "abc"),
            ("abc", "", "abc"),
            ("", "abc", "abc"),
            ("ab", "ba", "ba"),
            ("abc", "def", "abcdef"),
            ("abc", "cdef", "abcdef"),
            ("abcgf", "cdef", "abcgdef"),
            ("cdef", "ace", "acdef"),
            ("abcxyz", "def", "abcxyzdef"),
            ("abcxyz", "defxyz", "abcdefxyz"),
            ("cagf", "cfag", "cfag"),
            ("abcd", "defa", "bcdefa"),
            ("cdefghij", "2h3e4kl", "cdfg2hij3e4kl"),
            ("abcdefghij", "1b2h3e4kl", "a1bcdfg2hij3e4kl"),
            // What was there twice is merged into one when it is applied.
            ("abb", "c", "abbc"),
            ("abb", "b", "ab"),
            ("abb", "a", "abb"),
            ("abcdec", "1b2ed", "a1bc2ecd"),
            ("abcdec", "1b2ced", "a1b2ced"),
            ("aabb", "bcd", "aabcd"),
            ("aabb", "", "aabb"),
            ("cagfca", "cfag", "cfag"),
        ] {
            let result = merged(json!({"set": letters(live)}), &json!({"set": letters(applied)}));
            assert_eq!(result, json!({"set": letters(expected)}), "{live} {applied}");
        }
    }

    #[test]
    fn items_of_maps_are_merged_with_the_one_of_the_same_keys() {
        let item = |key: &str, id: i64| json!({"key": key, "id": id});
        for (live, applied, expected) in [
            (json!([item("a", 1)]), json!([item("a", 2)]), json!([item("a", 1), item("a", 2)])),
            (
                json!([item("a", 1), item("b", 2), item("c", 3)]),
                json!([item("c", 3), item("a", 1)]),
                json!([item("b", 2), item("c", 3), item("a", 1)]),
            ),
            (
                json!([{"key": "a", "id": 1, "note": "n"}]),
                json!([{"key": "a", "id": 1.0}]),
                json!([{"key": "a", "id": 1, "note": "n"}]),
            ),
            (
                json!([{"key": "a", "id": 1, "note": "n"}, item("b", 2), {"key": "a", "id": 1, "note": "m"}]),
                json!([item("a", 1), item("c", 3), item("b", 2)]),
                json!([item("a", 1), item("c", 3), item("b", 2)]),
            ),
        ] {
            assert_eq!(merged(json!({"map": live}), &json!({"map": applied})), json!({"map": expected}));
        }
    }

    #[test]
    fn empty_and_null_stay_apart_but_remove_nothing_that_has_parts() {
        for (live, applied, expected) in [
            (json!({"struct": {}}), json!({"struct": null}), json!({"struct": null})),
            (json!({"struct": null}), json!({"struct": {}}), json!({"struct": {}})),
            (json!({"struct": {"a": "x"}}), json!({"struct": null}), json!({"struct": {"a": "x"}})),
            (json!({"set": ["a"]}), json!({"set": null}), json!({"set": ["a"]})),
            (json!({"set": []}), json!({"set": null}), json!({"set": null})),
            (json!({"list": ["a"]}), json!({"list": null}), json!({"list": null})),
            (json!({"list": ["a"]}), json!({"list": []}), json!({"list": []})),
            (json!({"number": 1}), json!({"number": null}), json!({"number": null})),
            (json!({"number": 1}), json!({}), json!({"number": 1})),
        ] {
            assert_eq!(merged(live.clone(), &applied), expected, "{live} {applied}");
        }
    }
}

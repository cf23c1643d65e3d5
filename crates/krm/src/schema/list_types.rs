//! Lists that are sets or maps: no item may appear twice.

use std::collections::HashMap;
use std::hash::Hash;

use serde_json::{Map, Value};

use super::node::{Additional, ListType, Node};
use super::report::Report;
use crate::field::{FieldError, Path};

/// So few things are compared faster than looked up.
const FEW: usize = 16;

/// Every item that appears a second time in a list that is a set or a map, at and below `node`.
pub(super) fn duplicates(node: &Node, value: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut report = Report::default();
    walk(node, value, path, &mut report);
    report.into_errors()
}

fn walk(node: &Node, value: &Value, path: &Path<'_>, report: &mut Report) {
    if !node.has_unique_lists || report.is_full() {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                // A declared field is held against both, as Kubernetes does.
                if let Additional::Each(node) = &node.additional {
                    walk(node, value, &path.key(key), report);
                }
                if let Some(node) = node.properties.get(key) {
                    walk(node, value, &path.field(key), report);
                }
            }
        }
        Value::Array(list) => {
            match node.list {
                ListType::Set => set(list, path, report),
                ListType::Map => map(node.list_map_keys(), list, path, report),
                ListType::Unsaid | ListType::Atomic => {}
            }
            if let Some(items) = &node.items {
                for (index, item) in list.iter().enumerate() {
                    walk(items, item, &path.index(index), report);
                }
            }
        }
        _ => {}
    }
}

fn set(list: &[Value], path: &Path<'_>, report: &mut Report) {
    for index in second_appearances(&list.iter().collect::<Vec<_>>()) {
        if report.is_full() {
            break;
        }
        report.add(FieldError::duplicate(&path.index(index), &list[index]));
    }
}

fn map(keys: &[String], list: &[Value], path: &Path<'_>, report: &mut Report) {
    let odd = list.iter().position(|item| !item.is_null() && !item.is_object());
    if let Some(index) = odd {
        let detail = "must be an object for an array of list-type map";
        report.add(FieldError::invalid(&path.index(index), &list[index], detail));
        return;
    }
    let again = match keys {
        [key] => second_appearances(&list.iter().map(|item| item.get(key)).collect::<Vec<_>>()),
        keys => second_appearances(&list.iter().map(|item| identity(keys, item)).collect::<Vec<_>>()),
    };
    for index in again {
        if report.is_full() {
            break;
        }
        report.add(FieldError::duplicate(&path.index(index), &shown_identity(keys, &list[index])));
    }
}

fn identity<'a>(keys: &[String], item: &'a Value) -> Vec<Option<&'a Value>> {
    keys.iter().map(|key| item.get(key)).collect()
}

/// The key fields of an item, those that are there.
fn shown_identity(keys: &[String], item: &Value) -> Value {
    let fields = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(fields.collect::<Map<String, Value>>())
}

/// Where things appear for the second time. A third time is not worth another word.
fn second_appearances<T: Hash + Eq>(things: &[T]) -> Vec<usize> {
    if things.len() <= FEW {
        let times_before =
            |index: usize| things[..index].iter().filter(|thing| **thing == things[index]).count();
        return (0..things.len()).filter(|index| times_before(*index) == 1).collect();
    }
    let mut seen: HashMap<&T, usize> = HashMap::with_capacity(things.len());
    let mut second = Vec::new();
    for (index, thing) in things.iter().enumerate() {
        let times = seen.entry(thing).or_default();
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    second
}

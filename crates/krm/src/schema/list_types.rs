//! Lists that are sets or maps: no item may appear twice.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::node::{Additional, ListType, Node};
use crate::field::{FieldError, Path};

/// Every item that appears a second time in a list that is a set or a map, at and below `node`.
pub(super) fn duplicates(node: &Node, value: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(node, value, path, &mut errors);
    errors
}

fn walk(node: &Node, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !node.has_unique_lists {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                // A declared field is held against both, as Kubernetes does.
                if let Additional::Each(node) = &node.additional {
                    walk(node, value, &path.key(key), errors);
                }
                if let Some(node) = node.properties.get(key) {
                    walk(node, value, &path.field(key), errors);
                }
            }
        }
        Value::Array(list) => {
            match node.list {
                ListType::Set => set(list, path, errors),
                ListType::Map => map(node.list_map_keys(), list, path, errors),
                ListType::Unsaid | ListType::Atomic => {}
            }
            if let Some(items) = &node.items {
                for (index, item) in list.iter().enumerate() {
                    walk(items, item, &path.index(index), errors);
                }
            }
        }
        _ => {}
    }
}

fn set(list: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for index in second_appearances(list.iter()) {
        errors.push(FieldError::duplicate(&path.index(index), &list[index]));
    }
}

fn map(keys: &[String], list: &[Value], path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let odd = list.iter().position(|item| !item.is_null() && !item.is_object());
    if let Some(index) = odd {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(&path.index(index), &list[index], detail));
        return;
    }
    if list.len() < 2 {
        return;
    }
    let identities: Vec<Value> = list.iter().map(|item| identity(keys, item)).collect();
    for index in second_appearances(identities.iter()) {
        errors.push(FieldError::duplicate(&path.index(index), &identities[index]));
    }
}

/// The key fields of an item, those that are there.
fn identity(keys: &[String], item: &Value) -> Value {
    let fields = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(fields.collect::<Map<String, Value>>())
}

/// Where values appear for the second time. A third time is not worth another word.
fn second_appearances<'a>(values: impl ExactSizeIterator<Item = &'a Value>) -> Vec<usize> {
    if values.len() < 2 {
        return Vec::new();
    }
    let mut seen: HashMap<&Value, usize> = HashMap::with_capacity(values.len());
    let mut second = Vec::new();
    for (index, value) in values.enumerate() {
        let times = seen.entry(value).or_default();
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    second
}

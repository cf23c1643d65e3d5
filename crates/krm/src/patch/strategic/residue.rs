//! What merging leaves of a patch: messages about a bad result show the patch, of which the directives are gone by then.

use serde_json::{Map, Value};

use super::{DIRECTIVE, RETAIN_KEYS, SET_ORDER, drop_directives, drop_nulls};
use crate::golang::plain;

/// A patch as the message about its result shows it. `before` is the object it was applied to.
pub(super) fn shown(patch: &Value, before: &Value) -> String {
    let mut patch = patch.clone();
    if let (Value::Object(changes), Value::Object(fields)) = (&mut patch, before) {
        strip(changes, fields);
    }
    plain(&patch)
}

fn strip(changes: &mut Map<String, Value>, fields: &Map<String, Value>) {
    if changes.contains_key(DIRECTIVE) {
        if changes[DIRECTIVE] == "replace" {
            changes.remove(DIRECTIVE);
        }
        return;
    }
    changes.remove(RETAIN_KEYS);
    let orders: Vec<String> = changes.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for order in orders {
        changes.remove(&order);
        if let Some((_, list)) = order.split_once('/') {
            changes.remove(list);
        }
    }
    for (key, change) in changes.iter_mut() {
        match (change, fields.get(key)) {
            (Value::Object(changes), Some(Value::Object(fields))) => strip(changes, fields),
            (Value::Array(_), Some(Value::Array(_))) => {}
            (change, _) => {
                drop_nulls(change);
                if let Value::Object(fields) = change {
                    fields.retain(|_, field| drop_directives(field));
                }
            }
        }
    }
}

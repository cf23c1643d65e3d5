//! Defaulting.

use serde_json::Value;

use super::node::Node;

/// Fills in the defaults at and below `node`, of fields that are absent or wrongly null.
pub(super) fn fill(node: &Node, value: &mut Value) {
    if !node.has_defaults {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, property) in &node.properties {
                if let Some(default) = &property.default
                    && !map.contains_key(name)
                {
                    map.insert(name.clone(), (**default).clone());
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(field) = node.field(name) {
                    replace_null(field, value);
                    fill(field, value);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = &node.items else { return };
            for item in list {
                replace_null(items, item);
                fill(items, item);
            }
        }
        _ => {}
    }
}

fn replace_null(node: &Node, value: &mut Value) {
    if let Some(default) = &node.default
        && value.is_null()
        && !node.nullable
    {
        *value = (**default).clone();
    }
}

//! What makes one value out of another, as the patches that clients would send.

use serde_json::{Map, Value, json};

/// A merge patch; neither value may have nulls in its objects.
pub fn merge_patch(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return after.clone() };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, after) in after {
        match before.get(name) {
            Some(before) if before == after => {}
            Some(before) => {
                patch.insert(name.clone(), merge_patch(before, after));
            }
            None => {
                patch.insert(name.clone(), after.clone());
            }
        }
    }
    Value::Object(patch)
}

/// A JSON patch.
pub fn json_patch(before: &Value, after: &Value) -> Value {
    let mut operations = Vec::new();
    compare("", before, after, &mut operations);
    Value::Array(operations)
}

fn compare(at: &str, before: &Value, after: &Value, operations: &mut Vec<Value>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after)) => {
            for name in before.keys().filter(|name| !after.contains_key(*name)) {
                operations.push(json!({"op": "remove", "path": step(at, name)}));
            }
            for (name, after) in after {
                match before.get(name) {
                    Some(before) => compare(&step(at, name), before, after, operations),
                    None => operations.push(json!({"op": "add", "path": step(at, name), "value": after})),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                compare(&format!("{at}/{index}"), before, after, operations);
            }
            for index in (after.len()..before.len()).rev() {
                operations.push(json!({"op": "remove", "path": format!("{at}/{index}")}));
            }
            for after in after.iter().skip(before.len()) {
                operations.push(json!({"op": "add", "path": format!("{at}/-"), "value": after}));
            }
        }
        _ => operations.push(json!({"op": "replace", "path": at, "value": after})),
    }
}

/// The pointer one step further.
pub fn step(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

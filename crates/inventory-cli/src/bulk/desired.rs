//! The desired state of an object and the change that it needs: none, a create or a patch.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::as_written;

/// Existing objects by kind and name.
pub type Existing = BTreeMap<(String, String), Value>;

/// The desired state of an object, and the file that it comes from.
pub struct Desired {
    /// Desired state.
    pub object: Value,
    /// The file.
    pub file: String,
    /// The row of a CSV file.
    pub row: Option<usize>,
}

impl Desired {
    /// Its kind and name.
    pub fn key(&self) -> (String, String) {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        (text(&self.object["kind"]), text(&self.object["metadata"]["name"]))
    }

    /// The transaction item; `None` if the object is up to date.
    pub fn item(&self, existing: &Existing) -> Option<Value> {
        let Some(before) = existing.get(&self.key()) else {
            return Some(json!({"operation": "create", "object": self.object}));
        };
        let patch = merge_patch(&as_written(before), &self.object)?;
        let target = json!({
            "apiVersion": self.object["apiVersion"],
            "kind": self.object["kind"],
            "name": self.object["metadata"]["name"],
        });
        Some(json!({"operation": "patch", "target": target, "patch": patch}))
    }
}

/// The merge patch from one value to the other; `None` if they are equal.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut patch = Map::new();
            for key in before.keys().filter(|key| !after.contains_key(*key)) {
                patch.insert(key.clone(), Value::Null);
            }
            for (key, value) in after {
                let changed = match before.get(key) {
                    Some(before) => merge_patch(before, value),
                    None => Some(value.clone()),
                };
                patch.extend(changed.map(|changed| (key.clone(), changed)));
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        (before, after) => (before != after).then(|| after.clone()),
    }
}

/// Sets or clears a field by its dotted path. Objects that become empty are removed.
pub fn set(object: &mut Map<String, Value>, path: &str, value: Option<Value>) {
    match path.split_once('.') {
        None => match value {
            Some(value) => drop(object.insert(path.to_owned(), value)),
            None => drop(object.remove(path)),
        },
        Some((first, rest)) => {
            if value.is_none() && !object.contains_key(first) {
                return;
            }
            let inner = object.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Some(inner) = inner.as_object_mut() {
                set(inner, rest, value);
                if inner.is_empty() {
                    object.remove(first);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<bool>().prop_map(Value::from), (0..3_i64).prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn merged(before: &Value, patch: &Value) -> Value {
        let Value::Object(patch) = patch else { return patch.clone() };
        let mut after = before.as_object().cloned().unwrap_or_default();
        for (key, value) in patch {
            match value {
                Value::Null => drop(after.remove(key)),
                value => {
                    let old = after.get(key).cloned().unwrap_or(Value::Null);
                    after.insert(key.clone(), merged(&old, value));
                }
            }
        }
        Value::Object(after)
    }

    proptest! {
        #[test]
        fn a_patch_makes_one_of_the_other(before in any_value(), after in any_value()) {
            let before = json!({"spec": before});
            let after = json!({"spec": after});
            match merge_patch(&before, &after) {
                Some(patch) => prop_assert_eq!(merged(&before, &patch), after),
                None => prop_assert_eq!(before, after),
            }
        }
    }

    #[test]
    fn what_is_cleared_takes_its_empty_surroundings_along() {
        let mut spec = json!({"row": "A", "placement": {"rackRef": {"name": "r1"}}});
        let map = spec.as_object_mut().unwrap();
        set(map, "placement.rackRef.name", None);
        set(map, "contract.notes", None);
        set(map, "hardware.cpuCores", Some(4.into()));
        assert_eq!(spec, json!({"row": "A", "hardware": {"cpuCores": 4}}));
    }
}

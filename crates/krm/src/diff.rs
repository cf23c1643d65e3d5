//! Differences between two states of an object, by the paths of its fields.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::Object;

/// What stands in place of what nobody may see.
pub const REDACTED: &str = "(redacted)";
/// What client-side apply keeps of a whole object, secrets included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What the server notes down by itself.
const OWN: [&str; 3] = ["resourceVersion", "managedFields", "generation"];

/// One step from an object down to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into the field of an object.
    Field(String),
    /// To an item of a list.
    Item(usize),
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where it is.
    pub path: Vec<Step>,
    /// What was there, if anything.
    pub before: Option<Value>,
    /// What is there now, if anything.
    pub after: Option<Value>,
}

/// What differs between two states of an object, apart from what the server notes down by itself; nothing stands for
/// an object that is not there. Lists of one length are compared item by item, others as wholes.
pub fn between(before: Option<&Value>, after: Option<&Value>) -> Vec<Difference> {
    let mut found = Vec::new();
    let empty = Value::Object(Map::new());
    walk(&mut Vec::new(), before.unwrap_or(&empty), after.unwrap_or(&empty), &mut found);
    found
}

/// The same of two states that are there as objects.
pub fn between_objects(before: Option<&Object>, after: Option<&Object>) -> Vec<Difference> {
    let mut found = Vec::new();
    let empty = Map::new();
    let before = before.map_or(&empty, |object| &object.0);
    fields_of(&mut Vec::new(), before, after.map_or(&empty, |object| &object.0), &mut found);
    found
}

/// The same where values are secret: all but metadata and what says of which type it is read as redacted.
pub fn redacted(differences: Vec<Difference>) -> Vec<Difference> {
    let hide = |mut difference: Difference| {
        if is_secret(&difference.path) {
            for value in [&mut difference.before, &mut difference.after].into_iter().flatten() {
                hide_values(value);
            }
        } else {
            for value in [&mut difference.before, &mut difference.after].into_iter().flatten() {
                hide_last_applied(value);
            }
        }
        difference
    };
    differences.into_iter().map(hide).collect()
}

/// An object whose values are secret, as history shows it.
pub fn redact(object: &mut Value) {
    let Value::Object(fields) = object else { return };
    for (field, value) in fields {
        match field.as_str() {
            "metadata" => hide_last_applied(value),
            "apiVersion" | "kind" | "type" | "immutable" => {}
            _ => hide_values(value),
        }
    }
}

impl Difference {
    /// Its path as people read it: `spec.items[2]`, `metadata.labels["app.kubernetes.io/name"]`.
    pub fn shown_path(&self) -> String {
        shown(&self.path)
    }

    /// As answers have it.
    pub fn to_json(&self) -> Value {
        self.clone().into_json()
    }

    /// The same, for one that is not needed any more.
    pub fn into_json(self) -> Value {
        let op = match (&self.before, &self.after) {
            (None, _) => "add",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "replace",
        };
        let mut told = json!({ "op": op, "path": self.shown_path() });
        if let Some(before) = self.before {
            told["before"] = before;
        }
        if let Some(after) = self.after {
            told["after"] = after;
        }
        told
    }
}

/// The value at a path.
pub fn at<'a>(value: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Item(index) => value.get(index),
    })
}

/// Puts a value at a path, or takes away what is there. Objects on the way are made; `false` when the way leads through
/// something else, or to an item that is not there.
pub fn set(value: &mut Value, path: &[Step], new: Option<Value>) -> bool {
    let Some((last, parents)) = path.split_last() else { return false };
    let mut value = value;
    for step in parents {
        let below = match step {
            Step::Field(name) => match value {
                Value::Object(map) => match new.is_none() {
                    true => map.get_mut(name),
                    false => Some(map.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()))),
                },
                _ => None,
            },
            Step::Item(index) => value.get_mut(index),
        };
        match below {
            Some(below) => value = below,
            // What is to be gone is gone with what it was in.
            None => return new.is_none(),
        }
    }
    match (last, value, new) {
        (Step::Field(name), Value::Object(map), Some(new)) => {
            map.insert(name.clone(), new);
            true
        }
        (Step::Field(name), Value::Object(map), None) => {
            map.remove(name);
            true
        }
        (Step::Item(index), Value::Array(list), Some(new)) => match list.get_mut(*index) {
            Some(item) => {
                *item = new;
                true
            }
            None => false,
        },
        _ => false,
    }
}

fn walk(path: &mut Vec<Step>, before: &Value, after: &Value, found: &mut Vec<Difference>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => fields_of(path, old, new, found),
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                step(path, Step::Item(index), Some(old), Some(new), found);
            }
        }
        _ => found.push(Difference {
            path: path.clone(),
            before: Some(before.clone()),
            after: Some(after.clone()),
        }),
    }
}

fn fields_of(
    path: &mut Vec<Step>,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    for (field, value) in old {
        if !is_own(path, field) {
            step(path, Step::Field(field.clone()), Some(value), new.get(field), found);
        }
    }
    for (field, value) in new.iter().filter(|(field, _)| !old.contains_key(*field)) {
        if !is_own(path, field) {
            step(path, Step::Field(field.clone()), None, Some(value), found);
        }
    }
}

fn step(
    path: &mut Vec<Step>,
    step: Step,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    path.push(step);
    let empty = Value::Object(Map::new());
    match (before, after) {
        (Some(before), Some(after)) => walk(path, before, after, found),
        // What comes and goes as a whole is told field by field, too, where it has fields.
        (None, Some(after)) if has_fields(after) => walk(path, &empty, after, found),
        (Some(before), None) if has_fields(before) => walk(path, before, &empty, found),
        (before, after) => {
            found.push(Difference { path: path.clone(), before: before.cloned(), after: after.cloned() });
        }
    }
    path.pop();
}

fn has_fields(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty())
}

fn is_own(path: &[Step], field: &str) -> bool {
    matches!(path, [Step::Field(first)] if first == "metadata") && OWN.contains(&field)
}

fn is_secret(path: &[Step]) -> bool {
    match path.first() {
        Some(Step::Field(first)) => match first.as_str() {
            "metadata" => path.last() == Some(&Step::Field(LAST_APPLIED.to_owned())),
            "apiVersion" | "kind" | "type" | "immutable" => false,
            _ => true,
        },
        _ => true,
    }
}

fn hide_values(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(hide_values),
        Value::Array(list) => list.iter_mut().for_each(hide_values),
        other => *other = REDACTED.into(),
    }
}

fn hide_last_applied(value: &mut Value) {
    let Value::Object(map) = value else { return };
    for (field, value) in map {
        match field.as_str() {
            LAST_APPLIED => *value = REDACTED.into(),
            _ => hide_last_applied(value),
        }
    }
}

fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        // Writing to a string can't fail.
        let _ = match step {
            Step::Item(index) => write!(text, "[{index}]"),
            Step::Field(name) if !is_plain(name) => write!(text, "[{}]", crate::field::quote(name)),
            Step::Field(name) if text.is_empty() => write!(text, "{name}"),
            Step::Field(name) => write!(text, ".{name}"),
        };
    }
    text
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(before: Value, after: Value) -> Vec<String> {
        between(Some(&before), Some(&after)).iter().map(Difference::shown_path).collect()
    }

    #[test]
    fn fields_are_told_by_their_paths() {
        let before = json!({"spec": {"a": 1, "list": [1, 2], "gone": {"x": 1}},
            "metadata": {"labels": {"app.kubernetes.io/name": "n"}, "resourceVersion": "1", "generation": 1}});
        let after = json!({"spec": {"a": 2, "list": [1, 3], "new": [1]},
            "metadata": {"labels": {"app.kubernetes.io/name": "m"}, "resourceVersion": "2", "generation": 2}});
        let mut found = paths(before, after);
        found.sort();
        assert_eq!(
            found,
            [
                "metadata.labels[\"app.kubernetes.io/name\"]",
                "spec.a",
                "spec.gone.x",
                "spec.list[1]",
                "spec.new"
            ]
        );
        assert_eq!(paths(json!({"spec": {"list": [1]}}), json!({"spec": {"list": [1, 2]}})), ["spec.list"]);
        assert!(between(None, None).is_empty());
    }

    #[test]
    fn what_was_found_leads_from_the_one_to_the_other_and_back() {
        let states = [
            json!({"spec": {"a": 1, "deep": {"b": {"c": [1, {"d": 2}]}}}, "data": {"k": "v"}}),
            json!({"spec": {"a": null, "deep": {"b": {"c": [1, {"d": 3}]}, "e": {}}}}),
            json!({"data": {"k": "w", "l": "x"}}),
            json!({}),
        ];
        for from in &states {
            for to in &states {
                let mut value = from.clone();
                for difference in between(Some(from), Some(to)) {
                    assert!(set(&mut value, &difference.path, difference.after.clone()));
                }
                // Objects that have become empty may stay: nothing tells them from those that are not there.
                assert!(between(Some(&value), Some(to)).iter().all(|left| left.before == Some(json!({}))));
            }
        }
    }

    #[test]
    fn secret_values_are_never_told() {
        let before = json!({"data": {"password": "b2xk"}, "type": "Opaque"});
        let after = json!({"data": {"password": "bmV3"}, "type": "Opaque",
            "metadata": {"annotations": {LAST_APPLIED: "bmV3"}}});
        let told = redacted(between(Some(&before), Some(&after)));
        let told: Vec<Value> = told.iter().map(Difference::to_json).collect();
        let text = Value::from(told).to_string();
        assert!(text.contains("data.password") && text.contains(REDACTED), "{text}");
        assert!(!text.contains("b2xk") && !text.contains("bmV3"), "{text}");
        let mut whole = after;
        redact(&mut whole);
        assert!(!whole.to_string().contains("bmV3") && whole["type"] == "Opaque", "{whole}");
    }
}

//! JSON made of choices: small, out of few names, so that two values have much in common.

use serde_json::{Map, Value, json};

use crate::choices::Choices;

/// Names of fields, among them those that mean something somewhere.
const NAMES: [&str; 24] = [
    "a",
    "b",
    "c",
    "d",
    "",
    "name",
    "spec",
    "metadata",
    "items",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "a/b",
    "m~n",
    "0",
    "-",
    "ä",
    "kind",
    "apiVersion",
    "status",
    "uid",
    "data",
    "x-y",
];

/// Texts that are read in different ways in different places.
const TEXTS: [&str; 16] = [
    "",
    "a",
    "b",
    "c",
    "0",
    "true",
    "null",
    "~",
    "1.5",
    "2026-01-02T03:04:05Z",
    "10Mi",
    "no",
    " ",
    "\u{7f}",
    "ä\n",
    "- x: y #",
];

/// The name of a field.
pub fn name(choices: &mut Choices<'_>) -> String {
    choices.one_of(&NAMES).to_owned()
}

/// Anything that is neither list nor object.
pub fn scalar(choices: &mut Choices<'_>) -> Value {
    match choices.below(10) {
        0 => Value::Null,
        1 => json!(false),
        2 => json!(true),
        3 => json!(i64::from(choices.byte()) - 4),
        4 => match choices.below(3) {
            0 => json!(0.5),
            1 => json!(1e300),
            _ => json!(u64::MAX),
        },
        5 => Value::String(format!("{}{}", choices.one_of(&TEXTS), choices.one_of(&TEXTS))),
        _ => Value::String(choices.one_of(&TEXTS).to_owned()),
    }
}

/// Anything at all, `depth` levels deep at most.
pub fn value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(4) {
        0 if depth > 0 => Value::Object(object(choices, depth - 1)),
        1 if depth > 0 => {
            let count = choices.below(4);
            Value::Array((0..count).map(|_| value(choices, depth - 1)).collect())
        }
        _ => scalar(choices),
    }
}

/// An object whose fields are `depth` levels deep at most.
pub fn object(choices: &mut Choices<'_>, depth: usize) -> Map<String, Value> {
    let count = choices.below(5);
    (0..count).map(|_| (name(choices), value(choices, depth))).collect()
}

/// The same without what is null in its objects.
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        scalar => scalar,
    }
}

/// A value changed in a place or two, so that most of it is as it was.
pub fn changed(choices: &mut Choices<'_>, before: &Value) -> Value {
    match before {
        Value::Object(fields) if choices.below(8) != 0 => {
            let mut fields = fields.clone();
            if let Some(picked) = fields.keys().nth(choices.below(fields.len().max(1))).cloned() {
                match choices.below(4) {
                    0 => {
                        fields.remove(&picked);
                    }
                    _ => {
                        let after = changed(choices, &fields[&picked]);
                        fields.insert(picked, after);
                    }
                }
            }
            if choices.below(3) == 0 {
                fields.insert(name(choices), value(choices, 2));
            }
            Value::Object(fields)
        }
        Value::Array(items) if choices.below(8) != 0 => {
            let mut items = items.clone();
            let at = choices.below(items.len() + 1);
            match choices.below(3) {
                0 => items.insert(at, value(choices, 2)),
                _ if at == items.len() => {}
                1 => {
                    items.remove(at);
                }
                _ => items[at] = changed(choices, &items[at]),
            }
            Value::Array(items)
        }
        _ => value(choices, 2),
    }
}

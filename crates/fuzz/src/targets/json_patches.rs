//! JSON patches: what makes one object of another, what is undone, what a naive reading of the RFC gives.

use krm::body::{self, FieldValidation};
use krm::encode::to_json;
use krm::patch::json::{Patch, apply};
use serde_json::{Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::{differences, recorded, values};

pub const TARGET: Target = Target {
    name: "json_patches",
    check,
    seeds,
    words: &[
        "\"op\":\"add\"",
        "\"op\":\"remove\"",
        "\"op\":\"replace\"",
        "\"op\":\"move\"",
        "\"op\":\"copy\"",
        "\"op\":\"test\"",
        "\"path\":\"/a/-\"",
        "\"from\":\"/a\"",
        "\"value\":",
        "~0",
        "~1",
        "/-1",
        "/0",
        "[",
        "]",
        "{",
        "}",
    ],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    if choices.flag() {
        return check_read(choices.rest());
    }
    let before = Value::Object(values::object(&mut choices, 3));
    let after = values::changed(&mut choices, &before);
    // Kubernetes does not make anything else out of an object.
    if after.is_object() {
        let patch = differences::json_patch(&before, &after);
        assert_eq!(patched(&before, &patch), Some(after), "{patch} on {before}");
    }
    let patch = any_patch(&mut choices, &before);
    let found = patched(&before, &patch);
    if let Some(expected) = naive(&before, &patch) {
        assert_eq!(found, Some(expected), "{patch} on {before}");
    }
}

fn check_read(text: &[u8]) {
    let object =
        json!({"a": {"b": [1, 2, {"c": null}], "": {"~": "x"}}, "metadata": {"labels": {"x/y": "z"}}});
    for validation in [FieldValidation::Ignore, FieldValidation::Strict] {
        let Ok(patch) = Patch::read(text, validation) else { continue };
        let mut changed = object.clone();
        if patch.apply(&mut changed).is_err() {
            continue;
        }
        patch.shown(&changed, "v1", "ConfigMap");
        let again = body::read(&to_json(&changed)).map(|body| body.value);
        assert_eq!(again.as_ref(), Ok(&changed), "what was made can't be kept");
    }
}

fn patched(before: &Value, patch: &Value) -> Option<Value> {
    let mut object = before.clone();
    apply(patch, &mut object).ok().map(|()| object)
}

fn any_patch(choices: &mut Choices<'_>, object: &Value) -> Value {
    let count = choices.below(5);
    (0..count)
        .map(|_| {
            let op = choices.one_of(&["add", "remove", "replace", "move", "copy", "test"]);
            let path = any_pointer(choices, object);
            match op {
                "move" | "copy" => json!({"op": op, "path": path, "from": any_pointer(choices, object)}),
                "remove" => json!({"op": op, "path": path}),
                _ => json!({"op": op, "path": path, "value": values::value(choices, 2)}),
            }
        })
        .collect()
}

fn any_pointer(choices: &mut Choices<'_>, object: &Value) -> String {
    let (mut here, mut pointer) = (object, String::new());
    loop {
        match here {
            Value::Object(fields) if !fields.is_empty() && choices.below(4) != 0 => {
                let Some((name, value)) = fields.iter().nth(choices.below(fields.len())) else {
                    return pointer;
                };
                pointer = differences::step(&pointer, name);
                here = value;
            }
            Value::Array(items) if !items.is_empty() && choices.below(4) != 0 => {
                let index = choices.below(items.len());
                pointer = format!("{pointer}/{index}");
                here = &items[index];
            }
            Value::Array(_) => {
                return format!("{pointer}/{}", choices.one_of(&["-", "0", "1", "7", "-1", "x"]));
            }
            Value::Object(_) => return differences::step(&pointer, &values::name(choices)),
            _ if choices.below(6) == 0 => return differences::step(&pointer, &values::name(choices)),
            _ => return pointer,
        }
    }
}

/// What add, remove and replace do, as far as the RFC and Kubernetes agree; `None` for everything else.
fn naive(before: &Value, patch: &Value) -> Option<Value> {
    let mut object = before.clone();
    for operation in patch.as_array()? {
        let (holder, last) = operation["path"].as_str()?.rsplit_once('/')?;
        let last = last.replace("~1", "/").replace("~0", "~");
        let holder = object.pointer_mut(holder)?;
        match (operation["op"].as_str()?, holder) {
            ("add", Value::Object(fields)) => {
                fields.insert(last, operation["value"].clone());
            }
            ("replace", Value::Object(fields)) => *fields.get_mut(&last)? = operation["value"].clone(),
            ("remove", Value::Object(fields)) => {
                fields.remove(&last)?;
            }
            ("add", Value::Array(items)) => {
                let at = if last == "-" { items.len() } else { index(&last)? };
                (at <= items.len()).then(|| items.insert(at, operation["value"].clone()))?;
            }
            ("replace", Value::Array(items)) => *items.get_mut(index(&last)?)? = operation["value"].clone(),
            ("remove", Value::Array(items)) => {
                let at = index(&last)?;
                (at < items.len()).then(|| items.remove(at))?;
            }
            ("test", Value::Object(fields)) if fields.get(&last)? == &operation["value"] => {}
            _ => return None,
        }
    }
    Some(object)
}

fn index(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn seeds() -> Vec<Vec<u8>> {
    let read = recorded::bodies("application/json-patch+json")
        .into_iter()
        .map(|body| [&[1], body.as_slice()].concat());
    read.chain(noise()).collect()
}

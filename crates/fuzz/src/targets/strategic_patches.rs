//! Strategic merge patches on Kubernetes' own kinds: nothing changes nothing, twice is once, keyed lists stay keyed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use krm::body::FieldValidation;
use krm::kind::Kind;
use krm::patch::strategic::{Layout, Patch};
use serde_json::{Map, Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::{recorded, values};

pub const TARGET: Target = Target {
    name: "strategic_patches",
    check,
    seeds,
    words: &[
        "\"$patch\":\"delete\"",
        "\"$patch\":\"replace\"",
        "\"$retainKeys\":",
        "\"$setElementOrder/finalizers\":",
        "\"$setElementOrder/secrets\":",
        "\"$deleteFromPrimitiveList/finalizers\":",
        "\"secrets\":",
        "\"name\":",
        "\"metadata\":",
        "\"ownerReferences\":",
        "\"uid\":",
        "null",
        "\0",
    ],
};

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds = apiserver::kinds::all();
    kinds.retain(|kind| kind.stored().layout.is_some());
    kinds
});

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let kind = &KINDS[choices.below(KINDS.len())];
    let Some(layout) = &kind.stored().layout else { return };
    if choices.flag() {
        return check_read(layout, choices.rest());
    }
    let object = any_object(&mut choices, false);
    let patch = any_object(&mut choices, true);
    check_patch(layout, &object, &patch);
}

/// An object and a patch, as they were sent, with a zero byte between them.
fn check_read(layout: &Layout, bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (Some(object), Some(patch)) = (parts.next(), parts.next()) else { return };
    if let (Ok(object), Ok(patch)) = (Patch::read(object), Patch::read(patch)) {
        check_patch(layout, object.changes(), patch.changes());
    }
}

fn check_patch(layout: &Layout, object: &Value, patch: &Value) {
    let Some(unchanged) = patched(layout, object, &json!({})) else { return };
    assert_eq!(&unchanged, object, "nothing changed it");
    let Some(once) = patched(layout, object, patch) else { return };
    // What is known to nobody is put in, and can't be merged with when it is there. The server drops it in between.
    let is_strict = applied(layout, object, patch, FieldValidation::Strict).is_some();
    let is_plain = !patch.to_string().contains("\"$");
    if is_strict && is_plain && keys_are_unique(object) && keys_are_unique(patch) {
        let twice = patched(layout, &once, patch).map(values::without_nulls);
        assert_eq!(twice, Some(values::without_nulls(once)), "{patch} twice on {object}");
    }
}

fn patched(layout: &Layout, object: &Value, patch: &Value) -> Option<Value> {
    applied(layout, object, patch, FieldValidation::Ignore)
}

fn applied(layout: &Layout, object: &Value, patch: &Value, validation: FieldValidation) -> Option<Value> {
    let patch = Patch::read(patch.to_string().as_bytes()).ok()?;
    patch.apply(object, layout, validation).ok().map(|(object, _)| object)
}

/// Whether no list has two items with one key, whichever it is, or one text twice.
fn keys_are_unique(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().all(keys_are_unique),
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            let mut is_new = |item: &Value| match item {
                Value::Object(fields) => ["name", "uid"]
                    .iter()
                    .filter_map(|key| Some((key, fields.get(*key)?)))
                    .all(|(key, value)| seen.insert(format!("{key} {value}"))),
                other => seen.insert(other.to_string()),
            };
            items.iter().all(|item| is_new(item) && keys_are_unique(item))
        }
        _ => true,
    }
}

fn any_object(choices: &mut Choices<'_>, is_patch: bool) -> Value {
    let mut object = Map::new();
    let count = choices.below(5);
    for _ in 0..count {
        let (name, value) = match choices.below(9) {
            0 => ("data", texts(choices, is_patch)),
            1 => ("secrets", keyed(choices, "name", is_patch)),
            2 => ("imagePullSecrets", keyed(choices, "name", is_patch)),
            3 => ("rules", json!([{"verbs": list(choices), "resources": list(choices)}])),
            4 => ("subjects", keyed(choices, "name", is_patch)),
            5 => ("spec", json!({"finalizers": list(choices)})),
            6 => ("kind", values::scalar(choices)),
            _ => ("metadata", metadata(choices, is_patch)),
        };
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

fn metadata(choices: &mut Choices<'_>, is_patch: bool) -> Value {
    let mut metadata = Map::new();
    let count = choices.below(4);
    for _ in 0..count {
        let (name, value) = match choices.below(7) {
            0 => ("labels", texts(choices, is_patch)),
            1 => ("annotations", texts(choices, is_patch)),
            2 => ("ownerReferences", keyed(choices, "uid", is_patch)),
            3 if is_patch => ("$deleteFromPrimitiveList/finalizers", list(choices)),
            4 if is_patch => ("$setElementOrder/finalizers", list(choices)),
            5 if is_patch => ("$retainKeys", list(choices)),
            _ => ("finalizers", list(choices)),
        };
        metadata.insert(name.to_owned(), value);
    }
    Value::Object(metadata)
}

fn texts(choices: &mut Choices<'_>, is_patch: bool) -> Value {
    let count = choices.below(4);
    let mut texts = Map::new();
    for _ in 0..count {
        let text = choices.one_of(&["x", "y", ""]);
        let gone = is_patch && choices.below(3) == 0;
        texts.insert(
            choices.one_of(&["a", "b", "c"]).to_owned(),
            if gone { Value::Null } else { json!(text) },
        );
    }
    Value::Object(texts)
}

fn list(choices: &mut Choices<'_>) -> Value {
    let count = choices.below(4);
    (0..count).map(|_| json!(choices.one_of(&["a", "b", "c", "d"]))).collect()
}

fn keyed(choices: &mut Choices<'_>, key: &str, is_patch: bool) -> Value {
    let count = choices.below(4);
    (0..count)
        .map(|_| {
            let mut item = json!({key: choices.one_of(&["a", "b", "c", "d"])});
            match choices.below(6) {
                0 => item["kind"] = json!("K"),
                1 if is_patch => item["$patch"] = json!(choices.one_of(&["delete", "replace", "merge", "x"])),
                2 => item["namespace"] = json!("n"),
                _ => {}
            }
            item
        })
        .collect()
}

fn seeds() -> Vec<Vec<u8>> {
    let object: &[u8] =
        br#"{"metadata":{"name":"a","finalizers":["x/a","x/b"]},"secrets":[{"name":"s"}],"data":{"a":"b"}}"#;
    let read = recorded::bodies("application/strategic-merge-patch+json").into_iter();
    let read =
        read.flat_map(|body| [1, 3].map(|kind: u8| [&[kind, 1], object, b"\0", body.as_slice()].concat()));
    read.chain(noise()).collect()
}

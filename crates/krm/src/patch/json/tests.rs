//! What JSON patches do to objects, and which of them are refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn patched(object: Value, patch: Value) -> Result<Value, PatchError> {
    let mut object = object;
    apply(&patch, &mut object)?;
    Ok(object)
}

fn widget() -> Value {
    json!({"kind": "Widget", "spec": {"size": 1, "plain": ["a", "b", "c"], "params": {"k": "v"}}})
}

#[test]
fn every_operation_does_what_the_rfc_says() {
    let spec = |patch| patched(widget(), patch).unwrap()["spec"].clone();
    assert_eq!(spec(json!([{"op": "add", "path": "/spec/note", "value": "n"}]))["note"], "n");
    assert_eq!(spec(json!([{"op": "replace", "path": "/spec/size", "value": 2}]))["size"], 2);
    let plain = |patch| spec(patch)["plain"].clone();
    assert_eq!(
        plain(json!([{"op": "add", "path": "/spec/plain/0", "value": "x"}])),
        json!(["x", "a", "b", "c"])
    );
    assert_eq!(
        plain(json!([{"op": "add", "path": "/spec/plain/-", "value": "x"}])),
        json!(["a", "b", "c", "x"])
    );
    assert_eq!(
        plain(json!([{"op": "add", "path": "/spec/plain/3", "value": "x"}])),
        json!(["a", "b", "c", "x"])
    );
    assert_eq!(plain(json!([{"op": "remove", "path": "/spec/plain/1"}])), json!(["a", "c"]));
    assert_eq!(
        spec(json!([{"op": "move", "from": "/spec/size", "path": "/spec/params/moved"}])),
        json!({"plain": ["a", "b", "c"], "params": {"k": "v", "moved": 1}})
    );
    assert_eq!(spec(json!([{"op": "copy", "from": "/spec/params/k", "path": "/spec/note"}]))["note"], "v");
    assert_eq!(
        spec(json!([
            {"op": "test", "path": "/spec/size", "value": 1},
            {"op": "replace", "path": "/spec", "value": {"size": 7}}
        ])),
        json!({"size": 7})
    );
}

#[test]
fn slashes_and_tildes_in_keys_are_escaped() {
    let object = json!({"annotations": {"example.com/a": "1", "a~b": 1}});
    let patch = json!([
        {"op": "replace", "path": "/annotations/example.com~1a", "value": "2"},
        {"op": "remove", "path": "/annotations/a~0b"}
    ]);
    assert_eq!(patched(object, patch).unwrap(), json!({"annotations": {"example.com/a": "2"}}));
}

#[test]
fn it_is_lenient_where_kubernetes_is() {
    let spec = |patch| patched(widget(), patch).unwrap()["spec"].clone();
    assert_eq!(spec(json!([{"op": "replace", "path": "/spec/zip", "value": 1}]))["zip"], 1);
    assert_eq!(spec(json!([{"op": "copy", "from": "/zip", "path": "/spec/note"}]))["note"], Value::Null);
    assert_eq!(spec(json!([{"op": "add", "path": "/spec/note"}])).get("note"), Some(&Value::Null));
    assert_eq!(spec(json!([{"op": "remove", "path": "/spec/plain/-1"}]))["plain"], json!(["a", "b"]));
    assert_eq!(
        spec(json!([{"op": "add", "path": "/spec/plain/-1", "value": "x"}]))["plain"],
        json!(["a", "b", "c", "x"])
    );
    assert_eq!(spec(json!([{"op": "remove", "path": "x/spec/size"}])).get("size"), None);
    assert!(patched(widget(), json!([{"op": "test", "path": "/spec/note", "value": null}])).is_ok());
    assert!(patched(widget(), json!([{"op": "test", "path": "/spec/note"}])).is_ok());
    assert_eq!(patched(widget(), Value::Null).unwrap(), widget());
}

#[test]
fn what_does_not_fit_the_object_is_refused_without_details() {
    for patch in [
        json!([{"op": "test", "path": "/spec/size", "value": 2}]),
        json!([{"op": "test", "path": "/spec/zip", "value": 2}]),
        json!([{"op": "test", "path": "/spec/size"}]),
        json!([{"op": "remove", "path": "/spec/zip"}]),
        json!([{"op": "add", "path": "/spec/zip/zap", "value": 1}]),
        json!([{"op": "add", "path": "/spec/size/zap", "value": 1}]),
        json!([{"op": "add", "path": "/spec/plain/5", "value": "x"}]),
        json!([{"op": "add", "path": "/spec/plain/-5", "value": "x"}]),
        json!([{"op": "add", "path": "", "value": {}}]),
        json!([{"op": "remove", "path": "/spec/plain/5"}]),
        json!([{"op": "remove", "path": "/spec/plain/-"}]),
        json!([{"op": "replace", "path": "/spec/plain/3", "value": 1}]),
        json!([{"op": "replace", "path": "", "value": "x"}]),
        json!([{"op": "zap", "path": "/spec/size"}]),
        json!([{"path": "/spec/size"}]),
        json!([{"op": "remove"}]),
        json!([{"op": "remove", "path": null}]),
        json!([{"op": "remove", "path": "spec"}]),
        json!([{"op": "remove", "path": ""}]),
        json!([{"op": "move", "path": "/spec/note"}]),
        json!([{"op": "move", "from": "/spec/zip", "path": "/spec/note"}]),
        json!([{"op": "move", "from": "/spec", "path": "/spec/note"}]),
        json!([{"op": "copy", "from": "/zip/zap", "path": "/spec/note"}]),
        json!([{"op": "copy", "from": "/spec/plain/7", "path": "/spec/note"}]),
        json!([null]),
    ] {
        let refused = patched(widget(), patch.clone());
        assert!(matches!(refused, Err(PatchError::Inapplicable(_))), "{patch} gave {refused:?}");
    }
}

#[test]
fn bodies_that_are_no_json_patch_are_refused() {
    let refusal = |text: &str, validation| match Patch::read(text.as_bytes(), validation) {
        Err(PatchError::Malformed(words)) => words,
        other => panic!("{text} gave {other:?}"),
    };
    for (text, strict, lenient) in [
        (
            r#"{"op":"remove"}"#,
            "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (
            r#"["x"]"#,
            "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp",
            "json: cannot unmarshal string into Go value of type jsonpatch.Operation",
        ),
        ("{", "unexpected end of JSON input", "unexpected end of JSON input"),
        ("", "unexpected end of JSON input", "unexpected end of JSON input"),
    ] {
        assert_eq!(refusal(text, FieldValidation::Warn), format!("error decoding patch: {strict}"));
        assert_eq!(refusal(text, FieldValidation::Strict), format!("error decoding patch: {strict}"));
        assert_eq!(refusal(text, FieldValidation::Ignore), lenient);
    }
    assert_eq!(
        refusal(r#"[{"op":5,"path":"/a"}]"#, FieldValidation::Warn),
        "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
    );
}

#[test]
fn unknown_and_repeated_fields_of_operations_are_told_of() {
    let text = br#"[{"op":"add","path":"/a","path":"/b","value":{"x":1,"x":2},"Zip":1}]"#;
    let patch = Patch::read(text, FieldValidation::Warn).unwrap();
    assert_eq!(
        patch.complaints(),
        [
            r#"json patch duplicate field "[0].path""#,
            r#"json patch duplicate field "[0].value.x""#,
            r#"json patch unknown field "[0].Zip""#,
        ]
    );
    let mut object = json!({});
    patch.apply(&mut object).unwrap();
    assert_eq!(object, json!({"b": {"x": 2}}));
}

#[test]
fn a_patch_has_at_most_ten_thousand_operations() {
    let one = json!({"op": "add", "path": "/a", "value": 1});
    assert!(patched(json!({}), Value::from(vec![one.clone(); 10_000])).is_ok());
    let refused = patched(json!({}), Value::from(vec![one; 10_001])).unwrap_err();
    assert_eq!(refused, PatchError::TooManyOperations { most: 10_000, found: 10_001 });
}

#[test]
fn copies_add_up_to_three_mebibytes_at_most() {
    let object = json!({"a": "x".repeat(1024 * 1024 - 2), "l": []});
    let copies = |count| Value::from(vec![json!({"op": "copy", "from": "/a", "path": "/l/-"}); count]);
    assert!(patched(object.clone(), copies(3)).is_ok());
    let refused = patched(object, copies(4)).unwrap_err().to_string();
    assert_eq!(
        refused,
        "Unable to complete the copy, the accumulated size increase of copy is 4194304, exceeding the limit 3145728"
    );
}

#[test]
fn a_patch_cannot_nest_without_end() {
    let deeper = Value::from(vec![json!({"op": "copy", "from": "/a", "path": "/a/a"}); 9_000]);
    assert_eq!(patched(json!({"a": {}}), deeper).unwrap_err().to_string(), "the result is nested too deep");
    let fits = Value::from(vec![json!({"op": "copy", "from": "/a", "path": "/a/a"}); MOST_DEPTH - 2]);
    assert!(patched(json!({"a": {}}), fits).is_ok());
}

#[test]
fn a_patch_cannot_keep_us_busy() {
    let object = json!({"l": vec![0; 100_000]});
    let swaps = Value::from(vec![json!({"op": "move", "from": "/l/0", "path": "/l/0"}); 9_000]);
    assert_eq!(patched(object, swaps).unwrap_err().to_string(), "the patch takes too much work");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<i8>().prop_map(Value::from), "[a/~]{0,2}".prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[ab/~]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[ab/~]{1,2}", value(), 1..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// The ways to all values in another.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in below {
        let pointer = format!("{at}/{step}");
        pointers(value, &pointer, found);
        found.push(pointer);
    }
}

proptest! {
    #[test]
    fn what_is_removed_and_added_again_is_as_before(object in object(), pick in any::<prop::sample::Index>()) {
        let mut places = Vec::new();
        pointers(&object, "", &mut places);
        let path = pick.get(&places);
        let value = object.pointer(path).unwrap();
        let patch = json!([
            {"op": "test", "path": path, "value": value},
            {"op": "remove", "path": path},
            {"op": "add", "path": path, "value": value},
            {"op": "move", "from": path, "path": path},
            {"op": "replace", "path": path, "value": value}
        ]);
        prop_assert_eq!(patched(object.clone(), patch).unwrap(), object);
    }

    #[test]
    fn what_is_added_is_found_there_and_can_be_removed(object in object(), key in "c[/~]{0,2}", new in value()) {
        let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        let there = json!([
            {"op": "add", "path": path, "value": new},
            {"op": "test", "path": path, "value": new},
            {"op": "remove", "path": path}
        ]);
        prop_assert_eq!(patched(object.clone(), there).unwrap(), object);
    }

    #[test]
    fn no_patch_is_too_odd_to_be_answered(object in value(), patch in proptest::collection::vec(operation(), 0..8)) {
        let _ = patched(object, Value::from(patch));
    }
}

fn operation() -> impl Strategy<Value = Value> {
    let path = "(/(a|b|0|1|-|-1|~0|~1|a~|99)){0,3}";
    let kind = prop::sample::select(vec!["add", "remove", "replace", "move", "copy", "test"]);
    (kind, path, path, value())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}))
}

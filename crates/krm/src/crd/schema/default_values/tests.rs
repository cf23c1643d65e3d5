use serde_json::json;

use super::*;

fn told(schema: Value) -> Vec<String> {
    faults(&schema, true, &Path::ROOT).iter().map(ToString::to_string).collect()
}

fn with_field(field: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}})
}

#[test]
fn defaults_that_fit_are_fine() {
    let fields = [
        json!({"type": "integer", "minimum": 1, "default": 1}),
        json!({"type": "string", "nullable": true, "default": null}),
        json!({"type": "array", "items": {"type": "string"}, "default": ["a"]}),
        json!({"x-kubernetes-int-or-string": true, "default": "50%"}),
        json!({"type": "object", "properties": {"b": {"type": "string", "default": "c"}}, "default": {}}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {"any": 1}}),
        json!({"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}),
    ];
    for field in fields {
        assert_eq!(told(with_field(field.clone())), Vec::<String>::new(), "{field}");
    }
}

#[test]
fn defaults_are_judged_like_values() {
    let cases = [
        (
            json!({"type": "integer", "default": "one"}),
            "Invalid value: \"string\":  in body must be of type integer: \"string\"",
        ),
        (
            json!({"type": "string", "enum": ["x"], "default": "y"}),
            "Unsupported value: \"y\": supported values: \"x\"",
        ),
        (
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "default": {"c": 1}}),
            "Invalid value: {\"c\":1}: must not have unknown fields",
        ),
        (
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1", "message": "small"}]}),
            "Invalid value: 1: small",
        ),
    ];
    for (field, fault) in cases {
        let expected = format!("properties[spec].properties[a].default: {fault}");
        assert_eq!(told(with_field(field.clone())), [expected], "{field}");
    }
}

#[test]
fn parts_of_a_default_are_told_by_their_place() {
    let field = json!({"type": "object", "default": {"list": ["b", ""]}, "properties": {
        "list": {"type": "array", "items": {"type": "string",
            "x-kubernetes-validations": [{"rule": "self != ''", "message": "empty"}]}}}});
    assert_eq!(
        told(with_field(field)),
        ["properties[spec].properties[a].default.list[1]: Invalid value: \"\": empty"]
    );
}

#[test]
fn defaults_of_items_are_judged_too() {
    let field = json!({"type": "array", "items": {"type": "object", "properties": {
        "n": {"type": "integer", "maximum": 5, "default": 6}}}});
    let faults = told(with_field(field));
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0]
            .starts_with("properties[spec].properties[a].items.properties[n].default: Invalid value: 6: ")
    );
}

#[test]
fn defaults_in_metadata_make_valid_metadata() {
    let with_metadata = |metadata: Value| json!({"type": "object", "properties": {"metadata": metadata}});
    let name = |default: &str| json!({"type": "object", "properties": {"name": {"type": "string", "default": default}}});
    assert_eq!(told(with_metadata(name("fine"))), Vec::<String>::new());
    let faults = told(with_metadata(name("a/b")));
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0].starts_with(
            "properties[metadata].properties[name].default: Invalid value: \"a/b\": must result in valid metadata: "
        ),
        "{}",
        faults[0]
    );
}

#[test]
fn embedded_objects_in_defaults_have_a_type_and_valid_metadata() {
    let embedded = |default: Value| {
        with_field(json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true, "default": default}))
    };
    let fine = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
    assert_eq!(told(embedded(fine)), Vec::<String>::new());
    let place = "properties[spec].properties[a].default";
    assert_eq!(
        told(embedded(json!({"metadata": {"name": "a"}}))),
        [format!("{place}.apiVersion: Required value"), format!("{place}.kind: Required value"),]
    );
}

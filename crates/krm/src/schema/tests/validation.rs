//! What is wrong with values, in Kubernetes' words.

use serde_json::{Value, json};

use super::{spec, texts};
use crate::schema::Schema;

/// What is said about `value` in the field `v` of the spec, with the field's name left out of the way.
fn said(schema: Value, value: Value) -> Vec<String> {
    texts(&spec(json!({"v": schema})).validate_shape(&json!({"spec": {"v": value}}), None))
}

#[test]
fn numbers_are_compared_as_kubernetes_compares_them() {
    let integer = |limits: Value| {
        let mut schema = limits;
        schema["type"] = json!("integer");
        schema
    };
    let cases = [
        (
            integer(json!({"maximum": 100})),
            json!(101),
            vec!["spec.v: Invalid value: 101: spec.v in body should be less than or equal to 100"],
        ),
        (integer(json!({"maximum": 100})), json!(100.0), vec![]),
        (
            integer(json!({"maximum": 100})),
            json!(101.0),
            vec!["spec.v: Invalid value: 101: spec.v in body should be less than or equal to 100"],
        ),
        (
            json!({"type": "number", "maximum": 2000000}),
            json!(2000000.5),
            vec![
                "spec.v: Invalid value: 2.0000005e+06: spec.v in body should be less than or equal to 2e+06",
            ],
        ),
        (
            json!({"type": "number", "maximum": 2000000}),
            json!(2000001),
            vec!["spec.v: Invalid value: 2000001: spec.v in body should be less than or equal to 2000000"],
        ),
        (json!({"type": "number", "minimum": 0.5}), json!(0), vec![]),
        (
            integer(json!({"minimum": 0.5})),
            json!(0),
            vec![
                "<nil>: Invalid value: \"\": Minimum boundary value must be of type integer (default format) in spec.v",
                "spec.v: Invalid value: 0: spec.v in body should be greater than or equal to 0.5",
            ],
        ),
        (
            json!({"type": "number", "multipleOf": 0.5}),
            json!(2),
            vec!["spec.v: Invalid value: 0: factor MultipleOf declared for spec.v must be positive: 0"],
        ),
        (json!({"type": "number", "multipleOf": 0.1}), json!(0.3), vec![]),
        (
            json!({"type": "number", "format": "float"}),
            json!(1e39),
            vec![
                "<nil>: Invalid value: \"\": Checked value must be of type number with format float in spec.v",
            ],
        ),
        (
            integer(json!({"minimum": 5, "exclusiveMinimum": true})),
            json!(5),
            vec!["spec.v: Invalid value: 5: spec.v in body should be greater than 5"],
        ),
        (json!({"type": "integer"}), json!(9_223_372_036_854_775_807_i64), vec![]),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(said(schema.clone(), value.clone()), expected, "{schema} {value}");
    }
}

#[test]
fn a_number_beyond_64_bits_is_no_integer() {
    assert_eq!(
        said(json!({"type": "integer"}), json!(u64::MAX)),
        [
            "spec.v: Invalid value: \"number\": spec.v in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.v",
        ]
    );
}

#[test]
fn a_format_takes_the_place_of_the_type_in_messages() {
    let i32 = json!({"type": "integer", "format": "int32"});
    assert_eq!(
        said(i32.clone(), json!(true)),
        ["spec.v: Invalid value: \"\": spec.v in body must be of type int32: \"\""]
    );
    assert_eq!(
        said(i32, json!("x")),
        ["spec.v: Invalid value: \"string\": spec.v in body must be of type integer: \"string\""]
    );
    let time = json!({"type": "string", "format": "date-time"});
    assert_eq!(
        said(time.clone(), json!(5)),
        ["spec.v: Invalid value: \"int64\": spec.v in body must be of type date-time: \"int64\""]
    );
    assert!(said(time, json!([])).is_empty(), "lists slip through where a text has a format");
}

#[test]
fn allowed_values_are_listed() {
    assert_eq!(
        said(json!({"type": "string", "enum": ["a", "b"]}), json!("c")),
        ["spec.v: Unsupported value: \"c\": supported values: \"a\", \"b\""]
    );
    assert_eq!(
        said(json!({"type": "integer", "enum": [1, 2]}), json!(3)),
        ["spec.v: Unsupported value: 3: supported values: \"1\", \"2\""]
    );
    assert!(said(json!({"type": "integer", "enum": [1, 2]}), json!(2.0)).is_empty());
    assert!(said(json!({"enum": [{"a": [1]}]}), json!({"a": [1]})).is_empty());
    assert_eq!(
        said(json!({"type": "string", "nullable": true, "enum": ["a", null]}), json!(null)),
        ["spec.v: Unsupported value: null: supported values: \"a\", \"null\""]
    );
}

#[test]
fn a_text_is_measured_in_characters_and_one_thing_is_said_about_it() {
    let schema = json!({"type": "string", "maxLength": 1, "minLength": 1, "pattern": "^[a-z]$"});
    assert_eq!(said(schema.clone(), json!("ab")), ["spec.v: Too long: may not be more than 1 byte"]);
    assert_eq!(
        said(schema.clone(), json!("")),
        ["spec.v: Invalid value: \"\": spec.v in body should be at least 1 chars long"]
    );
    assert_eq!(
        said(schema, json!("é")),
        ["spec.v: Invalid value: \"é\": spec.v in body should match '^[a-z]$'"]
    );
}

#[test]
fn sizes_of_lists_and_objects_are_bounded() {
    let list = json!({"type": "array", "maxItems": 1, "uniqueItems": true, "items": {"type": "integer"}});
    assert_eq!(
        said(list, json!([1, 1])),
        [
            "spec.v: Too many: 2: must have at most 1 item",
            "spec.v: Invalid value: \"\": spec.v in body shouldn't contain duplicates",
        ]
    );
    let object =
        json!({"type": "object", "additionalProperties": false, "properties": {"a": {}}, "minProperties": 3});
    assert_eq!(
        said(object, json!({"a": 1, "b": 1})),
        [
            "spec.v: Invalid value: 2: spec.v in body should have at least 3 properties",
            "spec.v: Invalid value: \"b\": spec.v.b in body is a forbidden property",
        ]
    );
}

#[test]
fn of_alternatives_that_fail_the_closest_is_explained() {
    let schema = json!({"type": "object", "anyOf": [
        {"properties": {"a": {"type": "string"}}, "required": ["z"]},
        {"properties": {"a": {"type": "integer", "maximum": 1}, "b": {"type": "string"}}},
    ]});
    assert_eq!(
        said(schema, json!({"a": 5, "b": "x"})),
        [
            "<nil>: Invalid value: \"\": \"spec.v\" must validate at least one schema (anyOf)",
            "spec.v.a: Invalid value: 5: spec.v.a in body should be less than or equal to 1",
        ]
    );
}

#[test]
fn the_same_words_are_said_once() {
    let schema = json!({"type": "string", "maxLength": 2, "allOf": [{"maxLength": 2}]});
    assert_eq!(
        said(schema, json!("abc")),
        [
            "spec.v: Too long: may not be more than 2 bytes",
            "<nil>: Invalid value: \"\": \"spec.v\" must validate all the schemas (allOf). None validated",
        ]
    );
}

#[test]
fn names_at_the_root_are_as_kubernetes_writes_them() {
    let schema = Schema::parse(&json!({
        "type": "object", "required": ["spec"], "maxProperties": 1,
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
    }))
    .unwrap();
    let object = json!({"a": 1, "b": {"c": 2}});
    assert_eq!(
        texts(&schema.validate_shape(&object, None)),
        [
            "<nil>: Too many: 2: must have at most 1 item",
            "a: Invalid value: \"integer\": .a in body must be of type object: \"integer\"",
            "b.c: Invalid value: \"integer\": .b.c in body must be of type string: \"integer\"",
            "spec: Required value",
        ]
    );
}

#[test]
fn a_status_is_named_from_the_object_and_described_from_itself() {
    let schema = Schema::parse(&json!({"type": "object", "properties": {
        "spec": {"type": "string"},
        "status": {"type": "object", "required": ["phase"], "properties": {
            "phase": {"type": "string"}, "n": {"type": "integer"},
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}},
    }}))
    .unwrap();
    let object = json!({"spec": 5, "status": {"n": "x", "set": ["a", "a"]}});
    assert_eq!(
        texts(&schema.validate_status(&object, None)),
        [
            "status.n: Invalid value: \"string\": n in body must be of type integer: \"string\"",
            "status.phase: Required value",
            "status.set[1]: Duplicate value: \"a\"",
        ]
    );
    let odd = json!({"status": "x"});
    assert_eq!(
        texts(&schema.validate_status(&odd, None)),
        ["status: Invalid value: \"string\":  in body must be of type object: \"string\""]
    );
    assert!(schema.validate_status(&json!({"spec": 5}), None).is_empty());
}

#[test]
fn sets_and_maps_refuse_what_is_there_already() {
    let schema = spec(json!({
        "set": {"type": "array", "x-kubernetes-list-type": "set"},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"]},
        "nested": {"type": "object", "additionalProperties": {"type": "array", "x-kubernetes-list-type": "set"}},
    }));
    let object = json!({"spec": {
        "set": [1, 1.0, {"x": 1}, {"x": 1}, null, null, "a", "a", "a"],
        "map": [{"a": 1, "b": 2, "c": 3}, {"b": 2, "a": 1}, {"a": 1}, {}, {}, null],
        "nested": {"k/l": ["x", "x"]},
    }});
    assert_eq!(
        texts(&schema.validate_lists(&object, None)),
        [
            "spec.map[1]: Duplicate value: {\"a\":1,\"b\":2}",
            "spec.map[4]: Duplicate value: {}",
            "spec.nested[k/l][1]: Duplicate value: \"x\"",
            "spec.set[3]: Duplicate value: {\"x\":1}",
            "spec.set[5]: Duplicate value: null",
            "spec.set[7]: Duplicate value: \"a\"",
        ]
    );
    let odd = json!({"spec": {"map": [{"a": 1}, 5, 6]}});
    assert_eq!(
        texts(&schema.validate_lists(&odd, None)),
        ["spec.map[1]: Invalid value: 5: must be an object for an array of list-type map"]
    );
}

#[test]
fn long_lists_are_no_different_from_short_ones() {
    let schema = spec(json!({"set": {"type": "array", "x-kubernetes-list-type": "set"}}));
    for length in [2, 15, 16, 17, 100] {
        let mut list: Vec<usize> = (0..length).collect();
        list.extend([1, 1]);
        let object = json!({"spec": {"set": list}});
        let expected = format!("spec.set[{length}]: Duplicate value: 1");
        assert_eq!(texts(&schema.validate_lists(&object, None)), [expected]);
    }
}

#[test]
fn embedded_objects_need_a_type() {
    let schema = spec(json!({
        "map": {"type": "object", "additionalProperties": {"type": "object", "x-kubernetes-embedded-resource": true}}}));
    let object = json!({"spec": {"map": {"k": {"apiVersion": "a/b/c", "kind": ""}, "l": {"apiVersion": 5}}}});
    assert_eq!(
        texts(&schema.validate(&object, None)),
        [
            "spec.map[k].apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
            "spec.map[k].kind: Invalid value: \"\": must not be empty",
            "spec.map[l].apiVersion: Invalid value: 5: must be a string",
            "spec.map[l].kind: Required value",
        ]
    );
}

#[test]
fn a_flood_of_mistakes_is_not_answered_in_full() {
    let list: Vec<usize> = (0..100_000).collect();
    let found = said(json!({"type": "array", "items": {"type": "string"}}), json!(list));
    assert_eq!(found.len(), 1000);
}

#[test]
fn long_names_are_not_repeated_without_end() {
    let each = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "string"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set"},
    }});
    let schema = spec(json!({"map": {"type": "object", "additionalProperties": each}}));
    let long = "k".repeat(300_000);
    let list: Vec<usize> = (0..20_000).map(|number| number / 2).collect();
    let unknown: serde_json::Map<String, Value> = list.iter().map(|n| (format!("u{n}"), json!(1))).collect();
    let mut inside = json!(unknown);
    inside["list"] = json!(list);
    inside["set"] = json!(list);
    let mut object = json!({"spec": {"map": {long: inside}}});
    assert!(schema.prune(&mut object).len() < 10);
    assert!(schema.validate(&object, None).len() < 20);
}

#[test]
fn a_long_enum_is_looked_up() {
    let names: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    let mut allowed: Vec<Value> = names.iter().map(|name| json!(name)).collect();
    allowed.push(json!(5));
    let schema = json!({"enum": allowed});
    assert!(said(schema.clone(), json!("n99")).is_empty());
    assert!(said(schema.clone(), json!(5)).is_empty());
    assert_eq!(said(schema, json!("n100")).len(), 1);
}

use serde_json::json;

use super::*;

const TYPE: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

fn refused(body: &str) -> String {
    read_with_kind(body.as_bytes(), Format::Json).unwrap_err().message("Widget", body.as_bytes())
}

fn unrecognized(why: &str, summary: &str) -> String {
    format!("the object provided is unrecognized (must be of type Widget): {why} ({summary})")
}

#[test]
fn a_body_that_is_no_object_is_not_recognized() {
    let parse_error = |why: &str| format!("couldn't get version/kind; json parse error: {why}");
    let wrong_type =
        |what: &str| parse_error(&format!("json: cannot unmarshal {what} into Go value of type {TYPE}"));
    for (body, why, summary) in [
        ("{", parse_error("unexpected end of JSON input"), "{"),
        ("", parse_error("unexpected end of JSON input"), "<empty>"),
        ("[]", wrong_type("array"), "5b5d"),
        ("\"x\"", wrong_type("string"), "227822"),
        ("5", wrong_type("number"), "35"),
        ("null", "Object 'Kind' is missing in 'null'".to_owned(), "6e756c6c"),
        ("{}", "Object 'Kind' is missing in '{}'".to_owned(), "{}"),
        (
            r#"{"apiVersion":"golden.example.com/v1","kind":"Widget","metadata":{"name":"a"}} trailing"#,
            parse_error("invalid character 't' after top-level value"),
            r#"{"apiVersion":"golden.example. ..."#,
        ),
        (
            r#"{"apiVersion": "a/b/c", "kind": "Widget", "metadata": {"name": "a"}}"#,
            "unexpected GroupVersion string: a/b/c".to_owned(),
            r#"{"apiVersion": "a/b/c", "kind" ..."#,
        ),
        (
            r#"{"kind": 5}"#,
            parse_error("json: cannot unmarshal number into Go struct field .kind of type string"),
            r#"{"kind": 5}"#,
        ),
    ] {
        assert_eq!(refused(body), unrecognized(&why, summary), "{body}");
    }
    assert_eq!(
        refused(r#"{"apiVersion":"g/v1","kind":"Widget","n":1e999}"#),
        r#"Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number 1e999 into Go value of type float64"#
    );
}

#[test]
fn an_object_says_what_it_is() {
    let decoded =
        read_with_kind(br#"{"apiVersion":"g.io/v1","kind":"K","spec":{"n":1.0}}"#, Format::Json).unwrap();
    assert_eq!((&*decoded.group, &*decoded.version, &*decoded.kind), ("g.io", "v1", "K"));
    assert_eq!(decoded.object["spec"], json!({"n": 1.0}));
    assert_eq!(decoded.expect_group_version("g.io/v1"), Ok(()));
    assert_eq!(
        decoded.expect_group_version("g.io/v2").unwrap_err(),
        "the API version in the data (g.io/v1) does not match the expected API version (g.io/v2)"
    );
    let untyped = read(br#"{"metadata":{}}"#, Format::Json).unwrap();
    assert_eq!((&*untyped.group_version(), &*untyped.kind), ("", ""));
    let why = "json: cannot unmarshal array into Go value of type v1.ObjectMeta";
    assert_eq!(
        decoded.refuse(why).message("K", b""),
        format!("K in version \"v1\" cannot be handled as a K: {why}")
    );
    assert_eq!(read(b"null", Format::Json).unwrap().object, Map::new());
}

#[test]
fn what_a_strict_reader_finds_is_told_in_order() {
    let body = br#"{"kind":"W","spec":{"note":"x","note":"y"}}"#;
    let mut decoded = read(body, Format::Json).unwrap();
    assert!(!decoded.complaints.is_empty());
    decoded.complaints.unknown(["extra".to_owned(), "spec.bogus".to_owned()]);
    assert_eq!(
        decoded.complaints.message(),
        r#"strict decoding error: duplicate field "spec.note", unknown field "extra", unknown field "spec.bogus""#
    );
    let yaml = read(b"kind: W\nspec:\n  a: 1\n  a: 2\n", Format::Yaml).unwrap();
    let warnings: Vec<&str> = yaml.complaints.warnings().collect();
    assert_eq!(warnings, [r#"line 4: key "a" already set in map"#]);
    assert_eq!(
        yaml.complaints.message(),
        "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"a\" already set in map"
    );
    assert!(read(b"{}", Format::Json).unwrap().complaints.is_empty());
}

#[test]
fn complaints_come_in_the_order_of_the_body() {
    let body = br#"{"kind":"ConfigMap","metadata":{"name":"a","nope":1},"data":{"k":"1","k":"2"},"list":[{"z":1},{"z":1}],"bogus":{"a":1}}"#;
    let mut complaints = read(body, Format::Json).unwrap().complaints;
    complaints.unknown(["bogus", "list[1].z", "metadata.nope", "not.there"].map(String::from));
    complaints.sort_by_place(body);
    assert_eq!(
        complaints.fields,
        [
            r#"unknown field "metadata.nope""#,
            r#"duplicate field "data.k""#,
            r#"unknown field "list[1].z""#,
            r#"unknown field "bogus""#,
            r#"unknown field "not.there""#,
        ]
    );
}

#[test]
fn the_body_of_an_apply_is_a_map() {
    let error = |text: &str| read_apply(text.as_bytes()).unwrap_err();
    let no_map = |what: &str| {
        format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
        )
    };
    let no_yaml = "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content";
    assert_eq!(error("{"), no_yaml);
    assert_eq!(error("a: ["), no_yaml);
    assert_eq!(error("[]"), no_map("array"));
    assert_eq!(error("5"), no_map("number"));
    assert_eq!(error("just text"), no_map("string"));
    assert_eq!(read_apply(b"").unwrap().0, Map::new());
    assert_eq!(read_apply(b"null").unwrap().0, Map::new());
    let (object, complaints) = read_apply(b"kind: W\nspec:\n  note: a\n  note: b\n").unwrap();
    assert_eq!(Value::Object(object), json!({"kind": "W", "spec": {"note": "b"}}));
    assert_eq!(
        strict_apply_message(&complaints),
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 4: key \"note\" already set in map"
    );
}

#[test]
fn yaml_is_an_object_too() {
    let decoded = read_with_kind(b"apiVersion: g/v1\nkind: W\nmetadata: {name: y}\n", Format::Yaml).unwrap();
    assert_eq!(decoded.object["metadata"], json!({"name": true}));
    let body = b"{";
    let refusal = read_with_kind(body, Format::Yaml).unwrap_err();
    assert_eq!(
        refusal.message("Widget", body),
        unrecognized("yaml: line 1: did not find expected node content", "{")
    );
    assert_eq!(refusal.why(), "yaml: line 1: did not find expected node content");
}

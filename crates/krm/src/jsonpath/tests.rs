use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object() -> Value {
    json!({
        "metadata": {"name": "a", "annotations": {"example.com/x": "y", "a.b": "dotted"}, "a": {"b": "nested"}},
        "spec": {"size": 3, "ratio": 1.5, "on": true, "tags": ["x", "y", "z"], "none": null, "empty": []},
        "status": {"conditions": [
            {"type": "Synced", "status": "False", "count": 1},
            {"type": "Ready", "status": "True", "count": 5},
            {"status": "Unknown"},
        ]},
    })
}

fn found(path: &str) -> Value {
    let object = object();
    let path = JsonPath::parse(path).unwrap();
    path.find(&object).unwrap().into_iter().map(Cow::into_owned).collect()
}

fn refused(path: &str) -> String {
    let object = object();
    JsonPath::parse(path).unwrap().find(&object).unwrap_err()
}

#[test]
fn paths_lead_to_values() {
    for (path, expected) in [
        (".spec.size", json!([3])),
        ("$.spec.size", json!([3])),
        (".spec.none", json!([null])),
        (".spec.none.deeper", json!([])),
        (".spec.missing.deeper", json!([])),
        (".spec.size.deeper", json!([])),
        (".spec.tags", json!([["x", "y", "z"]])),
        (".spec.tags[0]", json!(["x"])),
        (".spec.tags[-1]", json!(["z"])),
        (".spec.tags[-2]", json!(["y"])),
        (".spec.tags[0:2]", json!(["x", "y"])),
        (".spec.tags[1:]", json!(["y", "z"])),
        (".spec.tags[:-1]", json!(["x", "y"])),
        (".spec.tags[::2]", json!(["x", "z"])),
        (".spec.tags[1:1]", json!([])),
        (".spec.tags[0,2]", json!(["x", "z"])),
        (".spec.tags[*]", json!(["x", "y", "z"])),
        (".spec.empty[*]", json!([])),
        (".spec.none[0]", json!([])),
        (".status.conditions[*].type", json!(["Synced", "Ready"])),
        (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
        (".status.conditions[?(@.type=='Ready')].status", json!(["True"])),
        (".status.conditions[?(@.type == \"Ready\")].status", json!(["True"])),
        (".status.conditions[?(@.type!=\"Ready\")].status", json!(["False"])),
        (".status.conditions[?(@.type)].status", json!(["False", "True"])),
        (".status.conditions[?(@.count>1)].type", json!(["Ready"])),
        (".status.conditions[?(@.count<=1)].type", json!(["Synced"])),
        (".status.conditions[?(@.type==\"No)pe\")].status", json!([])),
        (".metadata.annotations.example\\.com/x", json!(["y"])),
        (".metadata.annotations['example\\.com/x']", json!(["y"])),
        (".metadata['name']", json!(["a"])),
        (".metadata['a.b']", json!(["nested"])),
        (".metadata.annotations.*", json!(["dotted", "y"])),
        ("..type", json!(["Synced", "Ready"])),
        (".spec.size} {.spec.ratio", json!([3])),
        ("", json!([object()])),
    ] {
        assert_eq!(found(path), expected, "{path}");
    }
}

#[test]
fn a_value_of_another_shape_is_an_error() {
    assert_eq!(refused(".spec.size[0]"), "it is not array or slice");
    assert_eq!(refused(".spec.tags[3]"), "array index out of bounds: index 3, length 3");
    assert_eq!(refused(".spec.tags[-4]"), "array index out of bounds: index -1, length 3");
    assert_eq!(refused(".spec.tags[::0]"), "step must be > 0");
    assert_eq!(refused(".spec[?(@.a)]"), "it is not array or slice and cannot be filtered");
    assert_eq!(refused(".status.conditions[?(@.count==\"1\")]"), "incompatible types for comparison");
    assert_eq!(refused(".status.conditions[?(@.count==1.0)]"), "incompatible types for comparison");
    assert_eq!(refused(".status.conditions[?(@.count===1)]"), "unrecognized filter operator");
    assert_eq!(refused("range"), "unrecognized identifier range");
}

#[test]
fn a_path_that_is_none_is_refused() {
    for (path, says) in [
        (".a[", "unterminated array"),
        (".a[x]", "invalid array index x"),
        (".a[0:1:1:1]", "invalid array index 0:1:1:1"),
        (".a[?(@.b", "unterminated filter"),
        (".a[?(@.b)", "unclosed array expect ]"),
        ("....", "invalid multiple recursive descent"),
        (".a\n", "unclosed action"),
        (".a \"x", "unterminated quoted string"),
        ("(", "unrecognized character in action: U+0028 '('"),
        ("1.2.3", "cannot parse number 1.2.3"),
    ] {
        assert_eq!(JsonPath::parse(path).unwrap_err(), says, "{path}");
    }
}

#[test]
fn the_first_value_is_found_without_the_others() {
    let object = object();
    let first = |path: &str| JsonPath::parse(path).unwrap().first(&object).map(Cow::into_owned);
    assert_eq!(first(".spec.size"), Some(json!(3)));
    assert_eq!(first(".spec.tags[*]"), Some(json!("x")));
    assert_eq!(first(".status.conditions[?(@.type==\"Ready\")].status"), Some(json!("True")));
    assert_eq!(first(".spec.tags[9]"), None);
    assert_eq!(first(".spec.missing"), None);
}

#[test]
fn descending_over_and_over_has_an_end() {
    let mut deep = json!([1, 2]);
    for _ in 0..60 {
        deep = json!({"a": deep, "b": [deep_enough()]});
    }
    let path = JsonPath::parse("...*...*...*...*...*").unwrap();
    assert_eq!(path.find(&deep).unwrap_err(), "the path leads to too many values");
}

fn deep_enough() -> Value {
    json!({"x": [1, {"y": [2, 3]}]})
}

proptest! {
    #[test]
    fn no_path_makes_us_panic(path in "[.\\[\\]?()@$*:,'\"a=<0-9\\\\ü{}-]{0,24}") {
        if let Ok(path) = JsonPath::parse(&path) {
            let _ = path.find(&object());
            let _ = path.first(&object());
        }
    }

    #[test]
    fn the_short_way_to_the_first_value_is_the_long_one(path in "(\\.(spec|status|tags|conditions|type|size|none)|\\[0\\]|\\[\\*\\]){1,4}") {
        let object = object();
        let path = JsonPath::parse(&path).unwrap();
        let long = path.find(&object).ok().and_then(|found| found.into_iter().next());
        prop_assert_eq!(path.first(&object), long);
    }
}

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::schema_of;
use crate::schema::Schema;

/// A rack.
#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Rack {
    #[serde(rename = "apiVersion")]
    version: String,
    metadata: BTreeMap<String, Value>,
    spec: RackSpec,
    #[serde(default)]
    status: Option<RackStatus>,
}

#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct RackSpec {
    /// How many units it has.
    units: u8,
    serial: Option<String>,
    #[serde(default = "one")]
    weight: i32,
    size: u32,
    big: u64,
    ratio: f64,
    tags: BTreeSet<String>,
    labels: BTreeMap<String, String>,
    rows: Vec<Option<i64>>,
    anything: Value,
    side: Side,
    perhaps: Option<Side>,
    power: Power,
    port: Port,
    mode: Mode,
    children: Vec<Child>,
    pair: (String, u8),
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    named: Vec<Named>,
    #[schemars(length(max = 5), regex(pattern = "^[a-z]+$"))]
    short: String,
}

fn one() -> i32 {
    1
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct RackStatus {
    ready: bool,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Named {
    name: String,
}

#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Child {
    children: Vec<Child>,
}

#[derive(JsonSchema, Deserialize)]
enum Side {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Power {
    Feed { watts: u16 },
    Battery { hours: i32 },
}

#[derive(JsonSchema, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Port {
    Number(i32),
    Name(String),
}

#[derive(JsonSchema, Deserialize)]
#[serde(tag = "type")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Mode {
    Fixed { speed: i32 },
    Auto,
}

fn spec() -> Value {
    schema_of::<Rack>()["properties"]["spec"]["properties"].clone()
}

#[test]
fn an_object_has_type_and_metadata_whatever_its_type_says() {
    let schema = schema_of::<Rack>();
    assert_eq!(schema["description"], "A rack.");
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["spec"]));
    assert_eq!(schema["properties"]["metadata"], json!({"type": "object"}));
    assert_eq!(schema["properties"]["kind"], json!({"type": "string"}));
}

#[test]
fn plain_fields_say_what_they_hold() {
    let spec = spec();
    let expected = json!({
        "units": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 255, "description": "How many units it has."},
        "serial": {"type": "string"},
        "weight": {"type": "integer", "format": "int32", "default": 1},
        "size": {"type": "integer", "format": "int64", "minimum": 0, "maximum": 4_294_967_295_u32},
        "big": {"type": "integer", "format": "int64", "minimum": 0},
        "ratio": {"type": "number", "format": "double"},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "integer", "format": "int64", "nullable": true}},
        "anything": {"x-kubernetes-preserve-unknown-fields": true},
        "pair": {"type": "array", "minItems": 2, "maxItems": 2,
                 "items": {"x-kubernetes-preserve-unknown-fields": true}},
        "named": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "short": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
    });
    for (name, expected) in expected.as_object().unwrap() {
        assert_eq!(&spec[name], expected, "{name}");
    }
}

#[test]
fn enums_take_the_forms_a_structural_schema_has() {
    let spec = spec();
    assert_eq!(spec["side"], json!({"type": "string", "enum": ["Left", "Right"]}));
    assert_eq!(spec["perhaps"], json!({"type": "string", "enum": ["Left", "Right"]}));
    assert_eq!(spec["port"], json!({"x-kubernetes-int-or-string": true}));
    let watts = json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 65535});
    let hours = json!({"type": "integer", "format": "int32"});
    assert_eq!(
        spec["power"],
        json!({
            "type": "object",
            "properties": {
                "feed": {"type": "object", "properties": {"watts": watts}, "required": ["watts"]},
                "battery": {"type": "object", "properties": {"hours": hours}, "required": ["hours"]},
            },
            "oneOf": [{"required": ["feed"]}, {"required": ["battery"]}],
        })
    );
    assert_eq!(
        spec["mode"],
        json!({
            "type": "object",
            "properties": {"speed": hours, "type": {"type": "string", "enum": ["Fixed", "Auto"]}},
            "required": ["type"],
            "oneOf": [
                {"properties": {"type": {"enum": ["Fixed"]}}, "required": ["type", "speed"]},
                {"properties": {"type": {"enum": ["Auto"]}}, "required": ["type"]},
            ],
        })
    );
}

#[test]
fn a_type_that_holds_itself_is_cut_off() {
    let children = &spec()["children"]["items"]["properties"]["children"];
    assert_eq!(children["items"], json!({"x-kubernetes-preserve-unknown-fields": true}));
}

#[test]
fn objects_of_the_type_pass_and_others_do_not() {
    let schema = Schema::parse(&schema_of::<Rack>()).unwrap();
    let mut rack = json!({
        "apiVersion": "v1", "kind": "Rack", "metadata": {"name": "a"},
        "spec": {
            "units": 42, "serial": null, "size": 1, "big": 1, "ratio": 1, "tags": ["a"], "labels": {},
            "rows": [1, null], "anything": {"x": [1]}, "side": "Left", "power": {"feed": {"watts": 5}},
            "port": "http", "mode": {"type": "Auto"}, "children": [], "pair": ["a", 1], "named": [], "short": "a",
        },
    });
    assert_eq!(schema.prune(&mut rack), Vec::<String>::new());
    schema.default(&mut rack);
    assert_eq!(rack["spec"]["weight"], 1);
    assert!(rack["spec"].get("serial").is_none());
    assert_eq!(schema.validate(&rack, None), vec![]);
    serde_json::from_value::<Rack>(rack.clone()).unwrap();

    rack["spec"]["units"] = json!(256);
    rack["spec"]["power"] = json!({});
    rack["spec"]["mode"] = json!({"type": "Fixed"});
    rack["spec"]["tags"] = json!(["a", "a"]);
    let fields: Vec<String> = schema.validate(&rack, None).into_iter().map(|error| error.field).collect();
    assert_eq!(fields, ["", "spec.mode.speed", "", "spec.power.feed", "spec.units", "spec.tags[1]"]);
}

#[test]
fn a_description_is_one_line_per_paragraph() {
    /// Height of the rack,
    /// in rack units.
    ///
    /// Never changes.
    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema matters")]
    struct Wrapped {
        /// Number of units
        /// in the rack.
        units: u8,
    }
    let schema = schema_of::<Wrapped>();
    assert_eq!(schema["description"], "Height of the rack, in rack units.\n\nNever changes.");
    assert_eq!(schema["properties"]["units"]["description"], "Number of units in the rack.");
}

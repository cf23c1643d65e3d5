//! Schemas and values: pruning and defaults are done once, an old object only takes errors away, and nothing is wrong
//! with what has not changed.

use krm::body;
use krm::encode::to_json;
use krm::schema::Schema;
use serde_json::{Map, Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::values;

pub const TARGET: Target = Target {
    name: "schemas",
    check,
    seeds: noise,
    words: &[
        "\0",
        "\"pattern\":\"^(a|b)*$\"",
        "\"multipleOf\":0.1",
        "\"format\":\"date-time\"",
        "\"uniqueItems\":true",
        "\"maximum\":1e308",
    ],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (schema, mut object, old) = match choices.flag() {
        true => {
            let mut parts = choices.rest().splitn(3, |byte| *byte == 0);
            let mut part = || Some(body::read(parts.next()?).ok()?.value);
            let (Some(schema), Some(object)) = (part(), part()) else { return };
            (schema, object, part().unwrap_or(Value::Null))
        }
        false => {
            let spec = any_schema(&mut choices, 3);
            let object = json!({"spec": fitting(&mut choices, &spec, 4)});
            let old = values::changed(&mut choices, &object);
            (json!({"type": "object", "properties": {"spec": spec}}), object, old)
        }
    };
    let Ok(schema) = Schema::parse(&schema) else { return };
    schema.prune(&mut object);
    let pruned = object.clone();
    assert_eq!(schema.prune(&mut object), Vec::<String>::new(), "{pruned} was pruned before");
    assert_eq!(object, pruned);
    schema.default(&mut object);
    let defaulted = object.clone();
    schema.default(&mut object);
    assert_eq!(object, defaulted, "defaults are filled in once");

    let fresh = schema.validate_shape(&object, None);
    let update = schema.validate_shape(&object, Some(&old));
    assert!(update.iter().all(|error| fresh.contains(error)), "an old object makes errors: {update:?}");
    schema.validate(&object, Some(&old));
    schema.validate_status(&object, Some(&old));
    let _ = schema.coerce_embedded(&mut object);
    assert!(body::read(&to_json(&object)).is_ok());
}

/// A schema of whatever a structural one can say, and some of what it can't.
pub fn any_schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut schema = Map::new();
    match choices.below(if depth == 0 { 5 } else { 9 }) {
        0 => put(&mut schema, "type", json!("string")),
        1 => put(&mut schema, "type", json!("integer")),
        2 => put(&mut schema, "type", json!(choices.one_of(&["number", "boolean"]))),
        3 => put(&mut schema, "x-kubernetes-int-or-string", json!(true)),
        4 => put(&mut schema, "x-kubernetes-preserve-unknown-fields", json!(true)),
        5 => {
            put(&mut schema, "type", json!("array"));
            put(&mut schema, "items", any_schema(choices, depth - 1));
            match choices.below(5) {
                0 => put(&mut schema, "x-kubernetes-list-type", json!("set")),
                1 => {
                    put(&mut schema, "x-kubernetes-list-type", json!("map"));
                    put(&mut schema, "x-kubernetes-list-map-keys", json!([choices.one_of(&["a", "b"])]));
                }
                _ => {}
            }
        }
        6 => {
            put(&mut schema, "type", json!("object"));
            put(&mut schema, "additionalProperties", any_schema(choices, depth - 1));
        }
        _ => {
            put(&mut schema, "type", json!("object"));
            let count = choices.below(4);
            let fields = (0..count)
                .map(|_| (choices.one_of(&["a", "b", "c"]).to_owned(), any_schema(choices, depth - 1)));
            put(&mut schema, "properties", Value::Object(fields.collect()));
        }
    }
    let more = choices.below(3);
    for _ in 0..more {
        constrain(&mut schema, choices);
    }
    Value::Object(schema)
}

fn constrain(schema: &mut Map<String, Value>, choices: &mut Choices<'_>) {
    match choices.below(16) {
        0 => put(schema, "nullable", json!(true)),
        1 => put(schema, "default", values::value(choices, 2)),
        2 => put(schema, "enum", json!([values::scalar(choices), values::scalar(choices)])),
        3 => put(schema, "maximum", values::scalar(choices)),
        4 => put(schema, "minLength", json!(choices.below(3))),
        5 => put(schema, "maxItems", json!(choices.below(3))),
        6 => put(schema, "required", json!([choices.one_of(&["a", "b", "d"])])),
        7 => put(schema, "pattern", json!(choices.one_of(&["^a", "(", "[a-c]+$", "\\d", "(?i)x", "a{2,3}"]))),
        8 => put(
            schema,
            "format",
            json!(choices.one_of(&["int32", "date-time", "ipv4", "byte", "email", "duration", "nosuch"])),
        ),
        9 => put(schema, "multipleOf", json!(choices.one_of(&[0.1, 2.0, 1e-300]))),
        10 => put(schema, "x-kubernetes-embedded-resource", json!(true)),
        11 => put(schema, "anyOf", json!([{"required": ["a"]}, {"maxProperties": 1}])),
        12 => put(schema, "not", json!({"enum": ["a"]})),
        13 => put(schema, "x-kubernetes-map-type", json!(choices.one_of(&["atomic", "granular"]))),
        14 => put(schema, "minProperties", json!(choices.below(3))),
        _ => put(
            schema,
            "x-kubernetes-validations",
            json!([{"rule": choices.one_of(&["self == oldSelf", "true", "self != null", "has(self.a)", "self.size() < 3"])}]),
        ),
    }
}

fn put(schema: &mut Map<String, Value>, field: &str, value: Value) {
    schema.insert(field.to_owned(), value);
}

/// A value that fits the schema more often than not.
fn fitting(choices: &mut Choices<'_>, schema: &Value, depth: usize) -> Value {
    if depth == 0 || choices.below(8) == 0 {
        return values::value(choices, 2);
    }
    match schema["type"].as_str() {
        Some("integer") => json!(i64::from(choices.byte()) - 3),
        Some("boolean") => json!(choices.flag()),
        Some("number") => json!(choices.one_of(&[0.3, 2.0, -1.5])),
        Some("string") => {
            json!(choices.one_of(&["", "a", "ab", "10.0.0.1", "2026-01-02T03:04:05Z", "1h", "ä"]))
        }
        Some("array") => {
            let count = choices.below(4);
            (0..count).map(|_| fitting(choices, &schema["items"], depth - 1)).collect()
        }
        Some("object") => {
            let count = choices.below(4);
            let fields = (0..count).map(|_| {
                let name = choices.one_of(&["a", "b", "c", "d"]);
                let below = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]).clone();
                (name.to_owned(), fitting(choices, &below, depth - 1))
            });
            Value::Object(fields.collect())
        }
        _ => values::value(choices, 2),
    }
}

//! Parsing, pruning and defaults.

use serde_json::{Value, json};

use super::spec;
use crate::schema::{Additional, JsonType, ListType, Schema, SchemaError};

#[test]
fn only_objects_are_schemas() {
    assert_eq!(Schema::parse(&json!([])).unwrap_err(), SchemaError::NotAnObject);
    let odd = json!({"properties": {"a": 5}});
    assert_eq!(Schema::parse(&odd).unwrap_err(), SchemaError::NotAnObject);
}

#[test]
fn schemas_without_end_are_refused() {
    let mut json = json!({});
    for _ in 0..2000 {
        // Moved, not written into a new value: that would go down all of it again.
        json = Value::Object([("not".to_owned(), json)].into_iter().collect());
    }
    assert_eq!(Schema::parse(&json).unwrap_err(), SchemaError::TooDeep);
    // Dropping it recursively is serde_json's affair; 2000 levels are fine.
}

#[test]
fn keywords_of_the_wrong_type_are_left_aside() {
    let json = json!({
        "type": 5, "properties": [], "required": "x", "enum": {}, "minimum": "1", "pattern": 7, "items": [],
        "allOf": {}, "not": true, "default": null, "x-kubernetes-validations": "r", "nullable": "yes",
    });
    let schema = Schema::parse(&json).unwrap();
    assert!(schema.validate_shape(&json!("anything"), None).is_empty());
    assert_eq!(schema.json(), &json);
}

#[test]
fn the_tree_tells_what_was_declared() {
    let schema = Schema::parse(&json!({
        "type": "object",
        "properties": {
            "ports": {
                "type": "array", "maxItems": 3,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {"type": "object", "required": ["port"], "x-kubernetes-map-type": "atomic"},
            },
            "size": {"x-kubernetes-int-or-string": true, "nullable": true},
            "map": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 5, "enum": ["a"]}},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-embedded-resource": true},
        },
        "x-kubernetes-validations": [{"rule": "true"}],
        "allOf": [{}, {}], "anyOf": [{}], "not": {"required": ["x"]},
    }))
    .unwrap();
    let root = schema.root();
    assert_eq!(root.json_type(), Some(JsonType::Object));
    assert_eq!(root.rules(), [json!({"rule": "true"})]);
    assert_eq!(root.properties().map(|(name, _)| name).collect::<Vec<_>>(), ["map", "ports", "raw", "size"]);
    let ports = root.property("ports").unwrap();
    assert_eq!((ports.list_type(), ports.max_items()), (ListType::Map, Some(3)));
    assert_eq!(ports.list_map_keys(), ["port", "protocol"]);
    assert_eq!(ports.items().unwrap().map_type(), Some("atomic"));
    assert_eq!(ports.items().unwrap().required(), ["port"]);
    let size = root.property("size").unwrap();
    assert!(size.is_int_or_string() && size.is_nullable() && size.json_type().is_none());
    let map = root.property("map").unwrap();
    assert!(matches!(map.additional_properties(), Additional::Each(each) if each.max_length() == Some(5)));
    assert_eq!(map.field("any").unwrap().allowed_values(), [json!("a")]);
    let raw = root.property("raw").unwrap();
    assert!(raw.preserves_unknown_fields() && raw.is_embedded_resource());
    let all = [root.all_of().len(), root.any_of().len(), root.one_of().len()];
    assert_eq!(
        (all, root.not().and_then(|not| not.required().first()).map(String::as_str)),
        ([2, 1, 0], Some("x"))
    );
}

fn pruned(schema: &Schema, mut object: Value) -> (Value, Vec<String>) {
    let unknown = schema.prune(&mut object);
    (object, unknown)
}

#[test]
fn unknown_fields_are_named_by_the_way_to_them() {
    let schema = spec(json!({
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object"}},
    }));
    let object = json!({
        "apiVersion": "v1", "kind": "K", "metadata": {"anything": 1},
        "spec": {"list": [{"a": "x"}, {"b": {"c": 1}}], "map": {"k.l": {"z": 1}}, "x": 1, "metadata": 1},
        "top": 1,
    });
    let (object, unknown) = pruned(&schema, object);
    assert_eq!(unknown, ["spec.list[1].b", "spec.map.k.l.z", "spec.metadata", "spec.x", "top"]);
    assert_eq!(
        object,
        json!({
            "apiVersion": "v1", "kind": "K", "metadata": {"anything": 1},
            "spec": {"list": [{"a": "x"}, {}], "map": {"k.l": {}}},
        })
    );
}

#[test]
fn where_anything_is_allowed_objects_are_emptied_unless_kept() {
    let schema = spec(json!({
        "open": {"type": "object", "additionalProperties": true},
        "kept": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                 "properties": {"strict": {"type": "object"}}},
        "list": {"type": "array", "x-kubernetes-preserve-unknown-fields": true,
                 "items": {"type": "object", "properties": {"strict": {"type": "object"}}}},
        "bare": {"type": "array"},
    }));
    let object = json!({"spec": {
        "open": {"a": {"b": 1}, "c": 2},
        "kept": {"a": {"b": 1}, "strict": {"x": 1}},
        "list": [{"a": 1, "strict": {"x": 1}}],
        "bare": [1, [{"x": 1}]],
    }});
    let (object, unknown) = pruned(&schema, object);
    assert_eq!(
        unknown,
        ["spec.bare[1][0].x", "spec.kept.strict.x", "spec.list[0].strict.x", "spec.open.a.b"]
    );
    assert_eq!(
        object["spec"],
        json!({
            "open": {"a": {}, "c": 2},
            "kept": {"a": {"b": 1}, "strict": {}},
            "list": [{"a": 1, "strict": {}}],
            "bare": [1, [{}]],
        })
    );
}

#[test]
fn embedded_objects_keep_their_type_and_metadata() {
    let schema = spec(json!({"object": {"type": "object", "x-kubernetes-embedded-resource": true,
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}}}}));
    let object = json!({"spec": {"object": {
        "apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a": "b"}, "name": null}, "extra": 1}}});
    let (object, unknown) = pruned(&schema, object);
    assert_eq!(unknown, ["spec.object.extra"]);
    let kept = json!({"apiVersion": "v1", "kind": "K", "metadata": {"labels": {"a": "b"}}});
    assert_eq!(object["spec"]["object"], kept);
}

#[test]
fn nulls_go_where_they_may_not_stand() {
    let schema = spec(json!({
        "plain": {"type": "string"},
        "nullable": {"type": "string", "nullable": true},
        "defaulted": {"type": "string", "default": "d"},
        "list": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }));
    let nulls = json!({"spec": {
        "plain": null, "nullable": null, "defaulted": null, "list": [null], "map": {"a": null}}});
    let (mut object, unknown) = pruned(&schema, nulls);
    assert!(unknown.is_empty());
    let left = json!({"nullable": null, "defaulted": null, "list": [null], "map": {}});
    assert_eq!(object["spec"], left);
    schema.default(&mut object);
    assert_eq!(object["spec"]["defaulted"], "d");
    assert_eq!(object["spec"]["list"], json!([null]));
}

#[test]
fn without_pruning_a_null_stays_unless_there_is_a_default() {
    let schema = spec(json!({"plain": {"type": "string"}, "defaulted": {"type": "integer", "default": 1}}));
    let mut object = json!({"spec": {"plain": null, "defaulted": null}});
    schema.default(&mut object);
    assert_eq!(object["spec"], json!({"plain": null, "defaulted": 1}));
}

#[test]
fn defaults_reach_into_lists_maps_and_other_defaults() {
    let schema = spec(json!({
        "list": {"type": "array", "items": {"type": "object", "default": {"b": 2},
            "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "integer"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "integer", "default": 7}},
        "made": {"type": "object", "default": {}, "properties": {"x": {"type": "string", "default": "y"}}},
        "null": {"type": "string", "nullable": true, "default": "n"},
    }));
    let mut object = json!({"spec": {"list": [{}, null], "map": {"k": null}, "null": null}});
    schema.default(&mut object);
    assert_eq!(
        object["spec"],
        json!({"list": [{"a": 1}, {"a": 1, "b": 2}], "map": {"k": 7}, "made": {"x": "y"}, "null": null})
    );
    let mut nothing = json!({});
    schema.default(&mut nothing);
    assert_eq!(nothing, json!({}), "a default needs its parent");
}

#[test]
fn defaults_are_pruned_like_everything_else() {
    let schema = spec(json!({
        "made": {"type": "object", "default": {"a": 1, "zip": 2}, "properties": {"a": {"type": "integer"}}}}));
    let mut object = json!({"spec": {}});
    schema.default(&mut object);
    assert_eq!(object["spec"], json!({"made": {"a": 1}}));
}

//! What was wrong before is tolerated as long as it does not change.

use serde_json::{Value, json};

use super::{spec, texts};
use crate::schema::Schema;

fn said(schema: &Schema, new: Value, old: Value) -> Vec<String> {
    texts(&schema.validate(&json!({"spec": new}), Some(&json!({"spec": old}))))
}

#[test]
fn an_unchanged_mistake_is_tolerated_beside_a_change() {
    let schema =
        spec(json!({"a": {"type": "integer", "maximum": 5}, "b": {"type": "string", "maxLength": 2}}));
    let old = json!({"a": 9, "b": "x"});
    assert!(said(&schema, json!({"a": 9, "b": "y"}), old.clone()).is_empty());
    assert_eq!(
        said(&schema, json!({"a": 8, "b": "x"}), old.clone()),
        ["spec.a: Invalid value: 8: spec.a in body should be less than or equal to 5"]
    );
    assert_eq!(
        said(&schema, json!({"a": 9, "b": "long"}), old),
        ["spec.b: Too long: may not be more than 2 bytes"]
    );
}

#[test]
fn a_field_that_was_absent_has_no_past() {
    let schema = spec(json!({"a": {"type": "integer", "maximum": 5}}));
    assert_eq!(said(&schema, json!({"a": 9}), json!({})).len(), 1);
}

#[test]
fn a_missing_field_is_tolerated_only_if_the_object_around_it_is_unchanged() {
    let schema = spec(json!({"o": {"type": "object", "required": ["x"],
        "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}}));
    let old = json!({"o": {"y": 1}});
    assert!(said(&schema, json!({"o": {"y": 1}}), old.clone()).is_empty());
    assert_eq!(said(&schema, json!({"o": {"y": 2}}), old), ["spec.o.x: Required value"]);
}

#[test]
fn items_of_maps_are_known_by_their_keys_and_other_lists_change_as_a_whole() {
    let item = json!({"type": "object", "properties": {
        "k": {"type": "string"}, "n": {"type": "integer", "maximum": 5}}});
    let schema = spec(json!({
        "map": {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        "list": {"type": "array", "items": item},
    }));
    let items = json!([{"k": "a", "n": 9}, {"k": "b", "n": 1}]);
    let more = json!([{"k": "c", "n": 1}, {"k": "a", "n": 9}]);
    assert!(said(&schema, json!({"map": more}), json!({"map": items})).is_empty());
    assert!(said(&schema, json!({"list": items}), json!({"list": items})).is_empty());
    assert_eq!(
        said(&schema, json!({"list": more}), json!({"list": items})),
        ["spec.list[1].n: Invalid value: 9: spec.list[1].n in body should be less than or equal to 5"]
    );
    let changed = json!([{"k": "a", "n": 8}]);
    assert_eq!(said(&schema, json!({"map": changed}), json!({"map": items})).len(), 1);
}

#[test]
fn the_order_of_a_map_does_not_count_as_a_change() {
    let item = json!({"type": "object", "properties": {"k": {"type": "string"}}});
    let schema = spec(json!({"map": {"type": "array", "maxItems": 1, "items": item,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}}));
    let forth = json!({"map": [{"k": "a"}, {"k": "b"}]});
    let back = json!({"map": [{"k": "b"}, {"k": "a"}]});
    assert!(said(&schema, back, forth.clone()).is_empty());
    assert_eq!(said(&schema, json!({"map": [{"k": "b"}, {"k": "c"}]}), forth).len(), 1);
}

#[test]
fn fields_nobody_declared_cannot_be_compared() {
    let schema = spec(
        json!({"o": {"type": "object", "maxProperties": 1, "x-kubernetes-preserve-unknown-fields": true}}),
    );
    let object = json!({"o": {"a": 1, "b": 2}});
    assert_eq!(said(&schema, object.clone(), object), ["spec.o: Too many: 2: must have at most 1 item"]);
}

#[test]
fn mistakes_within_alternatives_are_tolerated_with_the_value_they_are_about() {
    let schema = spec(json!({"o": {"type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "allOf": [{"properties": {"a": {"maximum": 5}}}]}}));
    let old = json!({"o": {"a": 9, "b": 1}});
    assert!(said(&schema, old.clone(), old.clone()).is_empty());
    assert_eq!(said(&schema, json!({"o": {"a": 9, "b": 2}}), old).len(), 2);
}

#[test]
fn the_type_of_an_object_is_always_checked() {
    let schema = Schema::parse(&json!({"type": "object", "properties": {
        "kind": {"type": "string", "enum": ["A"]}, "n": {"type": "integer"}}}))
    .unwrap();
    let (new, old) = (json!({"kind": "B", "n": 1}), json!({"kind": "B", "n": 2}));
    assert_eq!(
        texts(&schema.validate_shape(&new, Some(&old))),
        ["kind: Unsupported value: \"B\": supported values: \"A\""]
    );
}

#[test]
fn duplicates_are_tolerated_where_there_were_some() {
    let set = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
    let schema = spec(json!({"a": set, "b": set}));
    let new = json!({"a": ["x", "x"], "b": ["y", "y"]});
    assert!(said(&schema, new.clone(), json!({"a": ["z", "z"]})).is_empty());
    assert_eq!(said(&schema, new, json!({"a": ["z"]})).len(), 2);
}

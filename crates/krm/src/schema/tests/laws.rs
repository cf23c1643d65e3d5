//! What holds for every object.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::schema::{Node, Schema};

fn schema() -> Schema {
    let leaf = json!({"type": "integer", "maximum": 2, "default": 1});
    let item =
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": leaf}});
    Schema::parse(&json!({"type": "object", "properties": {"a": {"type": "object", "minProperties": 2, "properties": {
        "a": {"type": "array", "maxItems": 1, "items": item},
        "b": {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
        "c": {"type": "object", "additionalProperties": leaf},
        "d": {"type": "array", "items": {"type": "string", "format": "date"}, "x-kubernetes-list-type": "set"},
        "e": {"type": "string", "nullable": true, "pattern": "^[a-b]$"},
    }}}}))
    .unwrap()
}

/// Objects that often hit the schema's fields and often miss.
fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        (-3_i64..4).prop_map(|number| json!(number)),
        (-3.0..4.0).prop_map(|number: f64| json!(number)),
        "[a-c]{0,2}".prop_map(|text| json!(text)),
    ];
    let value = leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|list| json!(list)),
            btree_map("[a-f]", inner, 0..5).prop_map(|map| json!(map)),
        ]
    });
    btree_map("[a-f]", value, 0..5).prop_map(|inside| json!({"a": inside, "kind": "K"}))
}

fn is_declared(node: &Node, value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            map.iter().all(|(key, value)| node.field(key).is_some_and(|node| is_declared(node, value)))
        }
        Value::Array(list) => match node.items() {
            Some(items) => list.iter().all(|item| is_declared(items, item)),
            None => !list.iter().any(|item| item.as_object().is_some_and(|map| !map.is_empty())),
        },
        _ => true,
    }
}

proptest! {
    #[test]
    fn pruning_leaves_what_is_declared_and_has_nothing_more_to_do(mut object in objects()) {
        let schema = schema();
        schema.prune(&mut object);
        object.as_object_mut().unwrap().remove("kind");
        prop_assert!(is_declared(schema.root(), &object), "{}", object);
        let once = object.clone();
        prop_assert!(schema.prune(&mut object).is_empty());
        prop_assert_eq!(object, once);
    }

    #[test]
    fn defaults_are_filled_in_once_and_survive_pruning(mut object in objects()) {
        let schema = schema();
        schema.prune(&mut object);
        schema.default(&mut object);
        let once = object.clone();
        schema.default(&mut object);
        prop_assert_eq!(&object, &once);
        prop_assert!(schema.prune(&mut object).is_empty());
        prop_assert_eq!(object, once);
    }

    #[test]
    fn defaults_only_add(object in objects()) {
        let schema = schema();
        let mut pruned = object;
        schema.prune(&mut pruned);
        let mut defaulted = pruned.clone();
        schema.default(&mut defaulted);
        prop_assert!(covers(&defaulted, &pruned));
    }

    #[test]
    fn an_old_object_only_takes_errors_away(new in objects(), old in objects()) {
        let schema = schema();
        let fresh = schema.validate_shape(&new, None);
        let update = schema.validate_shape(&new, Some(&old));
        prop_assert!(update.iter().all(|error| fresh.contains(error)));
    }

    #[test]
    fn nothing_is_wrong_with_what_has_not_changed(mut object in objects()) {
        let schema = schema();
        schema.prune(&mut object);
        object.as_object_mut().unwrap().remove("kind");
        // Items without keys have no past, so they count as changed.
        object["a"].as_object_mut().unwrap().remove("b");
        prop_assert_eq!(schema.validate_shape(&object, Some(&object)), vec![]);
    }
}

/// Whether everything in `small` is in `large`, nulls aside.
fn covers(large: &Value, small: &Value) -> bool {
    match (large, small) {
        (_, Value::Null) => true,
        (Value::Object(large), Value::Object(small)) => {
            small.iter().all(|(key, value)| large.get(key).is_some_and(|large| covers(large, value)))
        }
        (Value::Array(large), Value::Array(small)) => {
            large.len() == small.len() && large.iter().zip(small).all(|(large, small)| covers(large, small))
        }
        (large, small) => large == small,
    }
}

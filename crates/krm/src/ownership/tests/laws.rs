//! What holds for all configurations, whoever applies them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::object::Object;
use crate::ownership::*;
use crate::time::Moment;

fn versions() -> Versions {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"},
        "note": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "args": {"type": "array", "items": {"type": "string"}},
        "params": texts,
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "value": {"type": "string"}, "params": texts,
            }},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}}});
    Versions::new("Thing", Origin::Custom).with("example.com/v1", Type::from_schema(&schema))
}

fn endpoint(versions: &Versions) -> Endpoint<'_> {
    Endpoint { versions, api_version: "example.com/v1", subresource: "", resets: &[] }
}

fn thing(spec: Map<String, Value>) -> Object {
    let mut thing = Object::new("example.com/v1", "Thing");
    thing.set_meta("name", Some("a".into()));
    thing.set("spec", Some(Value::Object(spec)));
    thing
}

fn applied(versions: &Versions, live: Option<&Object>, config: &Object, manager: &str, at: i64) -> Object {
    let applier = Applier { manager, force: true };
    endpoint(versions).apply(live, config, applier, Moment::of_seconds(at)).unwrap()
}

/// What an object says apart from who owns it.
fn content(object: &Object) -> Object {
    let mut object = object.clone();
    object.set_meta("managedFields", None);
    object
}

fn owners(object: &Object) -> Vec<Value> {
    let mut entries = object.meta("managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    entries.iter_mut().for_each(|entry| {
        entry.as_object_mut().unwrap().remove("time");
    });
    entries.sort_by_key(Value::to_string);
    entries
}

fn any_texts(names: &'static str) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(names, "[xy]", 0..3).prop_map(|map| json!(map))
}

fn any_items(names: &'static str) -> impl Strategy<Value = Value> {
    let item = (names, prop::option::of("[xy]"), prop::option::of(any_texts("[ab]")));
    prop::collection::vec(item, 1..4).prop_map(|items| {
        let mut seen = std::collections::BTreeSet::new();
        let mut list = Vec::new();
        for (name, value, params) in items {
            if !seen.insert(name.clone()) {
                continue;
            }
            let mut item = json!({"name": name});
            if let Some(value) = value {
                item["value"] = json!(value);
            }
            if let Some(params) = params {
                item["params"] = params;
            }
            list.push(item);
        }
        Value::Array(list)
    })
}

fn any_tags(names: &'static str) -> impl Strategy<Value = Value> {
    let tags = prop::collection::btree_set(names, 1..4);
    tags.prop_map(|tags| tags.into_iter().collect::<Vec<_>>()).prop_shuffle().prop_map(|tags| json!(tags))
}

/// A configuration whose entries, items and scalars are drawn from these names.
fn any_config(names: &'static str, items: &'static str) -> impl Strategy<Value = Object> {
    let free = any_texts(names).prop_map(|texts| json!({"deep": texts}));
    (
        prop::option::of(any_tags(names)),
        prop::option::of(any_texts(names)),
        prop::option::of(any_items(items)),
        prop::option::of(free),
    )
        .prop_map(|(tags, params, items, free)| {
            let mut spec = Map::new();
            for (field, value) in [("tags", tags), ("params", params), ("items", items), ("free", free)] {
                if let Some(value) = value {
                    spec.insert(field.to_owned(), value);
                }
            }
            thing(spec)
        })
}

fn with_scalars(config: impl Strategy<Value = Object>) -> impl Strategy<Value = Object> {
    (
        config,
        prop::option::of(0..3_i64),
        prop::option::of("[xy]"),
        prop::option::of(prop::collection::vec("[xy]", 0..3)),
    )
        .prop_map(|(mut config, size, note, args)| {
            let spec = &mut config.0["spec"];
            if let Some(size) = size {
                spec["size"] = json!(size);
            }
            if let Some(note) = note {
                spec["note"] = json!(note);
            }
            if let Some(args) = args {
                spec["args"] = json!(args);
            }
            config
        })
}

fn anything() -> impl Strategy<Value = Object> {
    with_scalars(any_config("[a-d]", "[a-d]"))
}

/// Whether every field of `part` is in `whole`, items and tags by what they are known by.
fn says(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(name, part)| {
            let whole = whole.get(name).unwrap_or(&Value::Null);
            if name == "args" { whole == part } else { says(whole, part) }
        }),
        (Value::Array(whole), Value::Array(part)) => part
            .iter()
            .all(|part| whole.iter().any(|whole| whole.get("name") == part.get("name") && says(whole, part))),
        // As in Kubernetes, what loses its last entry becomes null, even if it is applied empty.
        (Value::Null, Value::Object(empty)) | (Value::Object(empty), Value::Null) => empty.is_empty(),
        _ => whole == part,
    }
}

proptest! {
    #[test]
    fn applying_twice_is_applying_once(first in anything(), config in anything()) {
        let versions = versions();
        let live = applied(&versions, None, &first, "other", 1);
        let once = applied(&versions, Some(&live), &config, "me", 2);
        let twice = applied(&versions, Some(&once), &config, "me", 3);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn what_was_applied_is_there(first in anything(), second in anything(), config in anything()) {
        let versions = versions();
        let live = applied(&versions, None, &first, "me", 1);
        let live = applied(&versions, Some(&live), &second, "other", 2);
        let now = applied(&versions, Some(&live), &config, "me", 3);
        prop_assert!(says(now.get("spec").unwrap(), config.get("spec").unwrap()), "{:?}", now);
    }

    #[test]
    fn managers_of_disjoint_fields_commute(
        mine in any_config("[ab]", "[ab]"),
        theirs in any_config("[cd]", "[cd]"),
    ) {
        let versions = versions();
        let apply_both = |first: &Object, by: &str, second: &Object, then: &str| {
            let live = applied(&versions, None, first, by, 1);
            let applier = Applier { manager: then, force: false };
            endpoint(&versions).apply(Some(&live), second, applier, Moment::of_seconds(2))
        };
        let one = apply_both(&mine, "me", &theirs, "them").unwrap();
        let other = apply_both(&theirs, "them", &mine, "me").unwrap();
        prop_assert_eq!(owners(&one), owners(&other));
        prop_assert!(says(one.get("spec").unwrap(), other.get("spec").unwrap()));
        prop_assert!(says(other.get("spec").unwrap(), one.get("spec").unwrap()));
    }

    #[test]
    fn what_nobody_owns_any_more_is_gone(first in anything(), second in anything()) {
        let versions = versions();
        let fresh = applied(&versions, None, &second, "me", 1);
        let live = applied(&versions, None, &first, "me", 1);
        let now = applied(&versions, Some(&live), &second, "me", 2);
        prop_assert_eq!(owners(&now), owners(&fresh));
        let (now, fresh) = (now.get("spec").unwrap(), fresh.get("spec").unwrap());
        prop_assert!(says(now, fresh) && says(fresh, now), "{:?} {:?}", now, fresh);
    }

    #[test]
    fn a_manager_that_agreed_and_left_leaves_no_trace(others in anything()) {
        let versions = versions();
        let live = applied(&versions, None, &others, "other", 1);
        let agreed = applied(&versions, Some(&live), &others, "me", 2);
        let left = applied(&versions, Some(&agreed), &thing(Map::new()), "me", 3);
        prop_assert_eq!(content(&left), content(&live));
    }

    #[test]
    fn a_write_that_changes_nothing_changes_no_owner(first in anything(), second in anything()) {
        let versions = versions();
        let at = endpoint(&versions);
        let mut old = first.clone();
        at.update(None, &mut old, "maker", Moment::of_seconds(1)).unwrap();
        old.set_meta("uid", Some("u".into()));
        let mut new = second.clone();
        new.set_meta("uid", Some("u".into()));
        at.update(Some(&old), &mut new, "changer", Moment::of_seconds(2)).unwrap();
        let mut again = new.clone();
        at.update(Some(&new), &mut again, "third", Moment::of_seconds(3)).unwrap();
        prop_assert_eq!(&again, &new);
    }

    #[test]
    fn no_input_does_harm(live in any_object(), new in any_object(), entries in any_json()) {
        let versions = versions();
        let mut live = live;
        live.set_meta("uid", Some("u".into()));
        live.set_meta("managedFields", Some(entries));
        let now = Moment::of_seconds(1);
        let applier = Applier { manager: "me", force: true };
        let applied = endpoint(&versions).apply(Some(&live), &new, applier, now);
        prop_assert!(applied.is_err() || applied.is_ok_and(|object| object.kind() == "Thing"));
        let mut updated = new.clone();
        let tracked = endpoint(&versions).update(Some(&live), &mut updated, "me", now);
        prop_assert!(tracked.is_ok() || updated.meta("managedFields").is_none());
        let mut kept = updated.clone();
        keep_times(&live, &mut kept);
        prop_assert_eq!(content(&kept), content(&updated));
    }
}

/// Whatever can stand in an object, made of names that mean something.
fn any_json() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(1),
        json!(1.0),
        json!(9_007_199_254_740_993_i64),
        json!(9_007_199_254_740_992.0),
        json!(u64::MAX),
    ];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(numbers.to_vec()),
        "[a-c]".prop_map(Value::from),
        prop::sample::select(vec!["Apply", "Update", "FieldsV1", "example.com/v1"]).prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 40, 4, |inner| {
        let names = prop::sample::select(vec![
            "size",
            "note",
            "tags",
            "args",
            "params",
            "items",
            "free",
            "name",
            "value",
            "f:spec",
            "f:tags",
            ".",
            "k:{\"name\":\"a\"}",
            "v:1",
            "v:\"a\"",
            "i:0",
            "x:y",
            "manager",
            "operation",
            "apiVersion",
            "fieldsType",
            "fieldsV1",
            "time",
            "labels",
            "finalizers",
            "ownerReferences",
            "managedFields",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Object> {
    let spec = (any_json(), any_json(), any_json(), any_json()).prop_map(
        |(tags, items, free, params)| json!({"tags": tags, "items": items, "free": free, "params": params}),
    );
    let spec = prop_oneof![any_json(), spec, anything().prop_map(|thing| thing.0["spec"].clone())];
    (spec, prop::option::of(any_json())).prop_map(|(spec, metadata)| {
        let mut object = Object::new("example.com/v1", "Thing");
        object.set("spec", Some(spec));
        if let Some(metadata) = metadata {
            object.set("metadata", Some(metadata));
        }
        object
    })
}

//! Stories of creates, updates and patches.

use serde_json::{Value, json};

use super::story::{Story, V1, owned, schema};
use crate::object::Object;
use crate::ownership::*;
use crate::time::Moment;

fn sizes() -> Value {
    json!({
        "size": {"type": "integer"},
        "note": {"type": "string"},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    })
}

#[test]
fn who_changes_a_field_owns_it_alone_and_who_removes_one_owns_nothing() {
    let mut story = Story::of(sizes());
    story.update("one", json!({"size": 1, "note": "n", "set": ["a", "b"]})).unwrap();
    story.update("two", json!({"size": 2, "set": ["b", "c"]})).unwrap();
    assert_eq!(
        story.owners(),
        owned(&[
            ("one Update", json!({".": {}, "f:set": {".": {}, "v:\"b\"": {}}})),
            ("two Update", json!({"f:size": {}, "f:set": {"v:\"c\"": {}}})),
        ])
    );
    story.update("three", json!({})).unwrap();
    assert_eq!(story.owners(), owned(&[("one Update", json!({}))]));
}

#[test]
fn a_field_set_again_to_what_it_is_keeps_its_owner_and_its_time() {
    let mut story = Story::of(sizes());
    story.update("one", json!({"size": 1})).unwrap();
    let before = story.live.clone();
    story.update("two", json!({"size": 1.0})).unwrap();
    let after = story.live.clone().unwrap();
    assert_eq!(after.meta("managedFields"), before.unwrap().meta("managedFields"));
}

#[test]
fn a_value_that_turns_into_one_of_another_kind_is_owned_anew() {
    let mut story =
        Story::of(json!({"free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}));
    story.update("one", json!({"free": {"x": {"y": 1}}})).unwrap();
    story.update("two", json!({"free": {"x": [1]}})).unwrap();
    assert_eq!(
        story.owners(),
        owned(&[
            ("one Update", json!({".": {}, "f:free": {}})),
            ("two Update", json!({"f:free": {"f:x": {}}})),
        ])
    );
    story.update("three", json!({"free": {"x": {"z": 1}}})).unwrap();
    assert_eq!(
        story.owners(),
        owned(&[
            ("one Update", json!({".": {}, "f:free": {}})),
            ("three Update", json!({"f:free": {"f:x": {".": {}, "f:z": {}}}})),
        ])
    );
}

fn endpoint(versions: &Versions) -> Endpoint<'_> {
    Endpoint { versions, api_version: V1, subresource: "", resets: &[] }
}

fn stored(versions: &Versions, entries: Value) -> Object {
    let mut object = Object::new(V1, "Thing");
    object.set("spec", Some(json!({"size": 1})));
    endpoint(versions).update(None, &mut object, "maker", Moment::of_seconds(1)).unwrap();
    object.set_meta("uid", Some("u".into()));
    if !entries.is_null() {
        object.set_meta("managedFields", Some(entries));
    }
    object
}

#[test]
fn a_client_may_rewrite_or_forget_owners_but_not_by_mistake() {
    let entry = |manager: &str| {
        json!({
            "manager": manager, "operation": "Apply", "apiVersion": V1, "time": "2020-01-01T02:00:00+02:00",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}},
        })
    };
    let mut malformed = entry("x");
    malformed["fieldsType"] = json!("FieldsV2");
    for (origin, sent, managers) in [
        (Origin::Custom, json!([entry("moved")]), vec!["moved"]),
        (Origin::Custom, json!([entry("two"), entry("one")]), vec!["one", "two"]),
        (Origin::Custom, json!([malformed]), vec!["maker"]),
        (Origin::Custom, json!([entry("fine"), {"manager": "no operation"}]), vec!["maker"]),
        (Origin::Custom, json!("nonsense"), vec!["maker"]),
        (Origin::Custom, json!(null), vec!["maker"]),
        (Origin::Custom, json!([]), vec!["maker"]),
        (Origin::BuiltIn, json!([]), vec![]),
        (Origin::Custom, json!([{}]), vec![]),
        (Origin::BuiltIn, json!([null]), vec![]),
    ] {
        let versions = Versions::new("Thing", origin).with(V1, schema(sizes()));
        let live = stored(&versions, Value::Null);
        let mut new = live.clone();
        new.set_meta("managedFields", Some(sent.clone()));
        endpoint(&versions).update(Some(&live), &mut new, "me", Moment::of_seconds(2)).unwrap();
        let entries = new.meta("managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
        let found: Vec<&str> = entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
        assert_eq!(found, managers, "{origin:?} {sent}");
        if managers == ["moved"] {
            assert_eq!(entries[0]["time"], "2020-01-01T00:00:00Z");
        }
    }
}

#[test]
fn forgotten_owners_stay_forgotten_until_somebody_applies() {
    let versions = Versions::new("Thing", Origin::Custom).with(V1, schema(sizes()));
    let live = stored(&versions, json!([]));
    let mut new = live.clone();
    new.0["spec"]["size"] = json!(2);
    endpoint(&versions).update(Some(&live), &mut new, "me", Moment::of_seconds(2)).unwrap();
    assert_eq!(new.meta("managedFields"), None);
    let applier = Applier { manager: "me", force: false };
    let mut config = Object::new(V1, "Thing");
    config.set("spec", Some(json!({"note": "n"})));
    let applied = endpoint(&versions).apply(Some(&new), &config, applier, Moment::of_seconds(3)).unwrap();
    let entries = applied.meta("managedFields").unwrap();
    assert_eq!(entries[1]["manager"], "before-first-apply");
    assert_eq!(entries[1]["fieldsV1"], json!({"f:spec": {".": {}, "f:size": {}}}));
}

#[test]
fn writes_to_a_subresource_own_what_they_reach_and_ignore_owners_that_are_sent() {
    let ty = Type::from_schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": sizes()},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }}));
    let versions = Versions::new("Thing", Origin::Custom).with(V1, ty);
    let main = [(V1.to_owned(), FieldSet::of(&[&["status"]]))];
    let status = [(V1.to_owned(), FieldSet::of(&[&["metadata"], &["spec"]]))];
    let main = Endpoint { versions: &versions, api_version: V1, subresource: "", resets: &main };
    let status = Endpoint { versions: &versions, api_version: V1, subresource: "status", resets: &status };
    let mut live = Object::new(V1, "Thing");
    live.set("spec", Some(json!({"size": 1})));
    live.set("status", Some(json!({"phase": "ignored"})));
    main.update(None, &mut live, "me", Moment::of_seconds(1)).unwrap();
    live.set("status", None);
    live.set_meta("uid", Some("u".into()));
    let mut new = live.clone();
    new.0["spec"]["size"] = json!(2);
    new.set_meta("labels", Some(json!({"a": "b"})));
    new.set_meta("managedFields", Some(json!([{}])));
    new.set("status", Some(json!({"phase": "Up"})));
    status.update(Some(&live), &mut new, "me", Moment::of_seconds(2)).unwrap();
    let entries = new.meta("managedFields").unwrap().as_array().unwrap();
    let fields: Vec<_> = entries.iter().map(|entry| (&entry["subresource"], &entry["fieldsV1"])).collect();
    assert_eq!(
        fields,
        [
            (&json!(null), &json!({"f:spec": {".": {}, "f:size": {}}})),
            (&json!("status"), &json!({"f:status": {".": {}, "f:phase": {}}})),
        ]
    );
}

#[test]
fn fields_that_a_built_in_kind_always_has_are_not_owned_by_who_creates_it() {
    let blank = Object::from_value(json!({"spec": {}})).unwrap();
    let versions = Versions::new("Thing", Origin::BuiltIn).with(V1, schema(sizes())).blank(blank);
    let mut story = Story::with(versions);
    story.update("me", json!({"size": 1})).unwrap();
    assert_eq!(story.owners(), owned(&[("me Update", json!({"f:size": {}}))]));
}

#[test]
fn what_is_not_of_the_type_is_stored_without_owners() {
    let mut story = Story::of(sizes());
    story.update("one", json!({"size": 1})).unwrap();
    let why = story.update("two", json!({"size": "x"})).unwrap_err();
    assert_eq!(
        why.to_string(),
        "failed to update managedFields: failed to convert new object (/a; example.com/v1, Kind=Thing) to smd typed: \
         .spec.size: expected numeric (int or float), got string"
    );
    assert!(story.owners().is_empty());
}

#[test]
fn the_oldest_of_many_updaters_become_one_for_each_version() {
    let versions = Versions::new("Thing", Origin::Custom)
        .with(V1, schema(sizes()))
        .with("example.com/v2", schema(sizes()));
    let mut story = Story::with(versions);
    let mut map = json!({});
    for at in 0..14 {
        story.version = if at % 2 == 0 { V1 } else { "example.com/v2" };
        map[format!("k{at:02}")] = json!("v");
        story.update(&format!("m{at:02}"), json!({ "map": map })).unwrap();
    }
    let entries = story.live.as_ref().unwrap().meta("managedFields").unwrap().as_array().unwrap().clone();
    let names: Vec<&str> = entries.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["ancient-changes", "ancient-changes", "m06", "m07", "m08", "m09", "m10", "m11", "m12", "m13",]
    );
    assert_eq!(entries[0]["apiVersion"], V1);
    assert_eq!(entries[1]["apiVersion"], "example.com/v2");
    assert_eq!(entries[1]["fieldsV1"]["f:spec"], json!({"f:map": {"f:k01": {}, "f:k03": {}, "f:k05": {}}}));
    assert_eq!(entries[1]["time"], "1970-01-01T00:00:06Z");
}

#[test]
fn times_come_back_when_they_are_all_that_changed() {
    let mut story = Story::of(sizes());
    story.apply("me", json!({"size": 1}));
    let live = story.live.clone().unwrap();
    let mut new = live.clone();
    new.0["metadata"]["managedFields"][0]["time"] = json!("2030-01-01T00:00:00Z");
    let mut changed = new.clone();
    keep_times(&live, &mut new);
    assert_eq!(new, live);
    changed.0["spec"]["size"] = json!(2);
    let as_sent = changed.clone();
    keep_times(&live, &mut changed);
    assert_eq!(changed, as_sent);
}

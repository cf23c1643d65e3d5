//! Stories of applying.

use serde_json::{Value, json};

use super::story::{Story, V1, owned, schema};
use crate::object::Object;
use crate::ownership::*;

fn keyed_list(list_type: &str) -> Value {
    json!({"list": {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "value": {"type": "integer"}}},
        "x-kubernetes-list-type": list_type,
        "x-kubernetes-list-map-keys": ["name"],
    }})
}

fn numbers() -> Value {
    json!({"set": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}})
}

fn texts() -> Value {
    json!({
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "note": {"type": "string"},
    })
}

#[test]
fn an_item_that_is_there_twice_becomes_one_when_it_is_applied() {
    let mut story = Story::of(numbers());
    story.update("updater", json!({"set": [1, 1, 3, 4]})).unwrap();
    assert_eq!(
        story.owners(),
        owned(&[(
            "updater Update",
            json!({
                ".": {}, "f:set": {".": {}, "v:1": {}, "v:3": {}, "v:4": {}}
            })
        )])
    );
    let refused = story.try_apply("applier", json!({"set": [1]})).unwrap_err();
    assert_eq!(
        refused,
        r#"Apply failed with 1 conflict: conflict with "updater" using example.com/v1: .spec.set[=1]"#
    );
    story.force("applier", json!({"set": [1]}));
    assert_eq!(story.spec(), json!({"set": [1, 3, 4]}));
    assert_eq!(
        story.owners(),
        owned(&[
            ("applier Apply", json!({"f:set": {"v:1": {}}})),
            ("updater Update", json!({".": {}, "f:set": {".": {}, "v:3": {}, "v:4": {}}})),
        ])
    );
}

#[test]
fn items_that_are_there_twice_stay_when_others_are_applied() {
    let mut story = Story::of(numbers());
    story.update("updater", json!({"set": [1, 1, 3, 4]})).unwrap();
    story.apply("applier", json!({"set": [5]}));
    assert_eq!(story.spec(), json!({"set": [1, 1, 3, 4, 5]}));
}

#[test]
fn a_list_that_became_atomic_is_owned_as_a_whole_by_who_owned_an_item() {
    let mut story = Story::of(keyed_list("map"));
    story.apply("one", json!({"list": [{"name": "a", "value": 1}]}));
    story.apply("two", json!({"list": [{"name": "b", "value": 1}]}));
    let spec = story.spec();
    story.versions = Versions::new("Thing", Origin::Custom).with(V1, schema(keyed_list("atomic")));
    let refused = story.try_apply("one", json!({"list": [{"name": "a", "value": 2}]})).unwrap_err();
    assert_eq!(refused, r#"Apply failed with 1 conflict: conflict with "two": .spec.list"#);
    story.apply("one", spec.clone());
    assert_eq!(story.spec(), spec);
    let whole = json!({"f:list": {}});
    assert_eq!(story.owners(), owned(&[("one Apply", whole.clone()), ("two Apply", whole)]));
}

#[test]
fn a_map_that_became_atomic_is_owned_as_a_whole_by_who_owned_an_entry() {
    let mut story = Story::of(texts());
    story.apply("one", json!({"map": {"a": "1"}}));
    let mut properties = texts();
    properties["map"]["x-kubernetes-map-type"] = json!("atomic");
    story.versions = Versions::new("Thing", Origin::Custom).with(V1, schema(properties));
    story.update("two", json!({"map": {"a": "1"}, "note": "n"})).unwrap();
    assert_eq!(
        story.owners(),
        owned(&[("one Apply", json!({"f:map": {}})), ("two Update", json!({"f:note": {}})),])
    );
}

#[test]
fn applying_in_another_version_replaces_what_was_applied_in_the_first() {
    let versions = Versions::new("Thing", Origin::Custom)
        .with(V1, schema(texts()))
        .with("example.com/v2", schema(texts()));
    let mut story = Story::with(versions);
    story.apply("me", json!({"map": {"a": "1", "b": "2"}, "note": "n"}));
    story.apply("you", json!({"map": {"b": "2"}}));
    story.version = "example.com/v2";
    story.apply("me", json!({"map": {"a": "1"}}));
    assert_eq!(story.spec(), json!({"map": {"a": "1", "b": "2"}}));
    let entries = story.live.as_ref().unwrap().meta("managedFields").unwrap().clone();
    assert_eq!(entries[1]["apiVersion"], "example.com/v2");
    let refused = story.try_apply("them", json!({"map": {"b": "3"}})).unwrap_err();
    assert_eq!(refused, r#"Apply failed with 1 conflict: conflict with "you": .spec.map.b"#);
}

#[test]
fn a_version_that_is_no_more_is_an_error_for_custom_kinds_and_forgotten_for_others() {
    for (origin, version, refusal) in [
        (
            Origin::Custom,
            "example.com/v0",
            Some("request to convert CR to an invalid group/version: example.com/v0"),
        ),
        (
            Origin::Custom,
            "other.com/v1",
            Some(
                "example.com/v1, Kind=Thing is unstructured and is not suitable for converting to \"other.com/v1\"",
            ),
        ),
        (Origin::BuiltIn, "example.com/v0", None),
    ] {
        let mut story = Story::with(Versions::new("Thing", origin).with(V1, schema(texts())));
        story.apply("me", json!({"note": "n"}));
        let live = story.live.as_mut().unwrap();
        let mut entries = live.meta("managedFields").unwrap().clone();
        entries.as_array_mut().unwrap().push(json!({
            "manager": "old", "operation": "Update", "apiVersion": version,
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:map": {}}},
        }));
        live.set_meta("managedFields", Some(entries));
        let outcome = story.try_apply("me", json!({"note": "m"}));
        assert_eq!(outcome.as_ref().err().map(String::as_str), refusal);
        if refusal.is_none() {
            assert_eq!(story.owners(), owned(&[("me Apply", json!({"f:note": {}}))]));
        } else {
            assert!(story.update("you", json!({"note": "x"})).is_err());
            assert!(story.owners().is_empty(), "what cannot be told is not told");
        }
    }
}

#[test]
fn what_a_default_or_an_update_put_there_stays_when_the_applier_leaves() {
    let mut story = Story::of(texts());
    story.apply("me", json!({"map": {"a": "1"}}));
    story.update("you", json!({"map": {"a": "1", "b": "2"}, "note": "n"})).unwrap();
    story.apply("me", json!({}));
    assert_eq!(story.spec(), json!({"map": {"b": "2"}, "note": "n"}));
}

#[test]
fn a_map_that_somebody_else_owns_becomes_null_with_its_last_entry_as_in_kubernetes() {
    let mut story = Story::of(texts());
    story.update("you", json!({"map": {}})).unwrap();
    story.apply("me", json!({"map": {"a": "1"}}));
    story.apply("me", json!({}));
    assert_eq!(story.spec(), json!({"map": null}));
}

#[test]
fn a_configuration_that_says_who_owns_it_is_refused() {
    let mut story = Story::of(texts());
    for entries in [json!([]), json!([{}])] {
        let mut config = story.thing(json!({}));
        config.set_meta("managedFields", Some(entries));
        let refused = story.apply_object(Applier { manager: "me", force: false }, &config).unwrap_err();
        assert_eq!(refused, "metadata.managedFields must be nil");
    }
    let mut config = story.thing(json!({"note": "n"}));
    config.set_meta("managedFields", Some(json!(null)));
    story.apply_object(Applier { manager: "me", force: false }, &config).unwrap();
    assert_eq!(story.owners(), owned(&[("me Apply", json!({"f:note": {}}))]));
}

#[test]
fn malformed_owners_are_an_error_for_applies() {
    let mut story = Story::of(texts());
    story.apply("me", json!({"note": "n"}));
    let entry = json!([{"manager": "x", "operation": "Nope", "apiVersion": V1}]);
    story.live.as_mut().unwrap().set_meta("managedFields", Some(entry));
    let refused = story.try_apply("me", json!({"note": "n"})).unwrap_err();
    assert_eq!(refused, "failed to decode managed fields: operation must be `Apply` or `Update`");
}

#[test]
fn everything_that_is_of_the_wrong_type_is_named() {
    let mut story = Story::of(json!({
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}},
        "any": {"x-kubernetes-int-or-string": true},
    }));
    let refused = story.try_apply("me", json!({"flag": "yes", "list": ["a", {"b": [1, null]}], "any": 5}));
    assert_eq!(
        refused.unwrap_err(),
        "failed to create typed patch object (/a; example.com/v1, Kind=Thing): errors:\n  \
         .spec.flag: expected boolean, got &{yes}\n  \
         .spec.list[1]: expected string, got &value.valueUnstructured{Value:map[string]interface {}\
         {\"b\":[]interface {}{1, interface {}(nil)}}}"
    );
}

#[test]
fn an_object_nested_too_deeply_is_refused_and_harms_nobody() {
    let mut deep = json!("leaf");
    for _ in 0..5000 {
        deep = Value::Array(vec![deep]);
    }
    let mut story = Story::of(json!({"free": {"x-kubernetes-preserve-unknown-fields": true}}));
    let mut spec = json!({});
    spec["free"] = deep;
    let mut config = story.thing(spec);
    let refused = story.apply_object(Applier { manager: "me", force: false }, &config).unwrap_err();
    assert!(refused.ends_with(": nested too deeply"), "{refused}");
    let mut rest = config.0.remove("spec").unwrap()["free"].take();
    while let Value::Array(mut items) = rest {
        rest = items.pop().unwrap_or_default();
    }
}

fn client_applied(story: &mut Story, note: &str) {
    let mut new = story.thing(json!({"note": note}));
    let last = json!({"apiVersion": V1, "kind": "Thing", "metadata": {"name": "a"}, "spec": {"note": note}});
    let last = json!({LAST_APPLIED_ANNOTATION: last.to_string()});
    new.set_meta("annotations", Some(last));
    new.set_meta("uid", Some("u".into()));
    let endpoint = Endpoint { versions: &story.versions, api_version: V1, subresource: "", resets: &[] };
    let now = crate::time::Moment::of_seconds(1);
    endpoint.update(None, &mut new, "kubectl-client-side-apply", now).unwrap();
    story.live = Some(new);
}

#[test]
fn kubectl_carries_on_on_the_server_what_it_applied_as_a_client() {
    let mut story = Story::of(texts());
    client_applied(&mut story, "n");
    let refused = story.try_apply("other", json!({"note": "m"})).unwrap_err();
    assert_eq!(
        refused,
        r#"Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com/v1: .spec.note"#
    );
    story.apply("kubectl", json!({"note": "m"}));
    assert_eq!(story.spec(), json!({"note": "m"}));
    let live = story.live.as_ref().unwrap();
    assert_eq!(
        live.annotation(LAST_APPLIED_ANNOTATION),
        Some(
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"note\":\"m\"}}\n"
        )
    );
}

#[test]
fn kubectl_conflicts_over_what_changed_since_it_applied_as_a_client() {
    let mut story = Story::of(texts());
    client_applied(&mut story, "n");
    let mut new = story.live.clone().unwrap();
    new.0["spec"]["note"] = json!("changed");
    let endpoint = Endpoint { versions: &story.versions, api_version: V1, subresource: "", resets: &[] };
    let now = crate::time::Moment::of_seconds(2);
    endpoint.update(story.live.as_ref(), &mut new, "somebody", now).unwrap();
    story.live = Some(new);
    let refused = story.try_apply("kubectl", json!({"note": "m"})).unwrap_err();
    assert_eq!(
        refused,
        r#"Apply failed with 1 conflict: conflict with "somebody" using example.com/v1: .spec.note"#
    );
}

#[test]
fn the_annotation_goes_when_it_would_make_the_object_too_large() {
    let mut story = Story::of(texts());
    client_applied(&mut story, "n");
    let long = "x".repeat(300_000);
    story.apply("kubectl", json!({"note": "n", "map": {"a": long}}));
    assert_eq!(story.live.as_ref().unwrap().annotation(LAST_APPLIED_ANNOTATION), None);
}

#[test]
fn an_item_without_one_of_its_keys_is_another_item() {
    let mut story = Story::of(json!({"ports": {
        "type": "array",
        "items": {"type": "object", "properties": {"port": {"type": "integer"}, "name": {"type": "string"}}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "name"],
    }}));
    story.apply("me", json!({"ports": [{"port": 80}, {"port": 80, "name": "web"}]}));
    assert_eq!(
        story.owners(),
        owned(&[(
            "me Apply",
            json!({"f:ports": {
                "k:{\"port\":80}": {".": {}, "f:port": {}},
                "k:{\"name\":\"web\",\"port\":80}": {".": {}, "f:port": {}, "f:name": {}},
            }})
        )])
    );
}

#[test]
fn objects_without_a_schema_are_owned_entry_by_entry() {
    let mut story = Story::with(Versions::new("Thing", Origin::Custom).with(V1, Type::deduced()));
    story.apply("me", json!({"a": {"b": [1, 2]}}));
    let conflict = story.try_apply("you", json!({"a": {"b": [1]}})).unwrap_err();
    assert_eq!(conflict, r#"Apply failed with 1 conflict: conflict with "me": .spec.a.b"#);
    story.apply("you", json!({"a": {"c": true}}));
    assert_eq!(story.spec(), json!({"a": {"b": [1, 2], "c": true}}));
}

#[test]
fn nobody_comes_to_own_by_an_apply_what_only_the_server_sets() {
    let mut story = Story::of(texts());
    let config = json!({
        "apiVersion": V1, "kind": "Thing",
        "metadata": {"name": "a", "uid": "u", "generation": 7, "labels": {"l": "v"}, "generateName": "g"},
    });
    let config = Object::from_value(config).unwrap();
    story.apply_object(Applier { manager: "me", force: false }, &config).unwrap();
    let entries = story.live.as_ref().unwrap().meta("managedFields").unwrap();
    assert_eq!(
        entries[0]["fieldsV1"],
        json!({"f:metadata": {"f:labels": {"f:l": {}}, "f:generateName": {}}})
    );
}

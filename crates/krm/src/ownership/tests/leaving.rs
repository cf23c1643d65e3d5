//! Stories of appliers that no longer apply something, while others still hold on to parts of it.

use serde_json::{Value, json};

use super::story::{Story, V1, owned, schema};
use crate::ownership::*;

const VERSIONS: [&str; 4] = [V1, "example.com/v2", "example.com/v3", "example.com/v4"];

enum Act {
    Apply(&'static str, Value),
    Update(&'static str, Value),
}

use Act::{Apply, Update};

/// Everything in one version, and everything in turn in different versions of the same type.
fn told(ty: impl Fn() -> Type, acts: &[Act]) -> [Story; 2] {
    [false, true].map(|in_turn| {
        let mut versions = Versions::new("Thing", Origin::Custom);
        for version in VERSIONS {
            versions = versions.with(version, ty());
        }
        let mut story = Story::with(versions);
        for (at, act) in acts.iter().enumerate() {
            if in_turn {
                story.version = VERSIONS[at % VERSIONS.len()];
            }
            match act {
                Apply(manager, spec) => story.apply(manager, spec.clone()),
                Update(manager, spec) => story.update(manager, spec.clone()).unwrap(),
            }
        }
        story
    })
}

fn lists() -> Type {
    schema(json!({"list": {
        "type": "array",
        "items": {"type": "object", "properties": {
            "name": {"type": "string"},
            "value": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        }},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }}))
}

fn list(items: &[(&str, &[&str])]) -> Value {
    let items = items.iter().map(|(name, value)| match value {
        [] => json!({"name": name}),
        value => json!({"name": name, "value": value}),
    });
    json!({"list": items.collect::<Vec<_>>()})
}

#[test]
fn an_item_stays_for_who_applies_it_too_without_what_only_the_leaver_put_in_it() {
    let acts = [
        Apply("one", list(&[("a", &[]), ("b", &["c"])])),
        Apply("two", list(&[("b", &["d"])])),
        Apply("one", list(&[("a", &[])])),
    ];
    for story in told(lists, &acts) {
        assert_eq!(story.spec(), list(&[("a", &[]), ("b", &["d"])]));
        assert_eq!(
            story.owners(),
            owned(&[
                ("one Apply", json!({"f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}})),
                (
                    "two Apply",
                    json!({"f:list": {"k:{\"name\":\"b\"}": {
                        ".": {}, "f:name": {}, "f:value": {"v:\"d\"": {}},
                    }}})
                ),
            ])
        );
    }
}

#[test]
fn what_an_update_put_into_an_item_that_stays_stays() {
    let acts = [
        Apply("one", list(&[("a", &[]), ("b", &["c"])])),
        Apply("two", list(&[("b", &["d"])])),
        Update("controller", list(&[("a", &[]), ("b", &["c", "d", "e"])])),
        Apply("one", list(&[("a", &[])])),
    ];
    for story in told(lists, &acts) {
        assert_eq!(story.spec(), list(&[("a", &[]), ("b", &["d", "e"])]));
        let by_controller = json!({"f:list": {"k:{\"name\":\"b\"}": {"f:value": {"v:\"e\"": {}}}}});
        assert_eq!(story.owners()["controller Update"], by_controller);
    }
}

#[test]
fn an_item_that_nobody_applies_any_more_takes_what_an_update_put_into_it_along() {
    let acts = [
        Apply("one", list(&[("a", &[]), ("b", &["c"])])),
        Apply("two", list(&[("a", &["b"])])),
        Update("controller", list(&[("a", &["b"]), ("b", &["c", "d"])])),
        Apply("one", list(&[("a", &[])])),
    ];
    for story in told(lists, &acts) {
        assert_eq!(story.spec(), list(&[("a", &["b"])]));
        assert!(!story.owners().contains_key("controller Update"));
    }
}

fn structs() -> Type {
    schema(json!({"struct": {"type": "object", "properties": {
        "name": {"type": "string"}, "value": {"type": "integer"},
    }}}))
}

#[test]
fn a_struct_goes_with_its_last_field_unless_it_is_applied_itself() {
    let applied = || Apply("me", json!({"struct": {"name": "a"}}));
    let updated = || Update("you", json!({"struct": {"name": "a", "value": 1}}));
    let rest = json!({"struct": {"value": 1}});
    for (acts, left) in [
        (vec![applied(), Apply("me", json!({}))], json!(null)),
        (vec![applied(), Apply("me", json!({"struct": null}))], json!({"struct": null})),
        (vec![applied(), updated(), Apply("me", json!({}))], rest.clone()),
        (vec![applied(), updated(), Apply("me", json!({"struct": {}}))], rest.clone()),
        (vec![applied(), updated(), Apply("me", json!({"struct": null}))], rest.clone()),
        (
            vec![
                applied(),
                Update("you", json!({"struct": {"name": "b", "value": 1}})),
                Apply("me", json!({"struct": null})),
            ],
            json!({"struct": {"name": "b", "value": 1}}),
        ),
    ] {
        for story in told(structs, &acts) {
            assert_eq!(story.spec(), left);
        }
    }
}

#[test]
fn branches_of_a_free_tree_stay_where_somebody_else_applies_them() {
    let acts = [
        Apply("one", json!({"a": {"b": null}, "c": {"d": null}})),
        Apply("two", json!({"a": null, "c": {"d": null}})),
        Update("controller", json!({"a": {"b": {"c": null}}, "c": {"d": {"e": null}}})),
        Update("other", json!({"a": {"b": {"c": {"d": null}}}, "c": {"d": {"e": {"f": null}}}})),
        Update(
            "controller",
            json!({"a": {"b": {"c": {"d": {"e": null}}}}, "c": {"d": {"e": {"f": {"g": null}}}}}),
        ),
        Apply("one", json!({})),
    ];
    let [story, in_turn] = told(Type::deduced, &acts);
    assert_eq!(story.spec(), json!({"a": null, "c": {"d": {"e": {"f": {"g": null}}}}}));
    assert_eq!(in_turn.spec(), story.spec());
    assert_eq!(
        story.owners(),
        owned(&[
            ("one Apply", json!({})),
            ("two Apply", json!({".": {}, "f:a": {}, "f:c": {".": {}, "f:d": {}}})),
            ("controller Update", json!({"f:c": {"f:d": {"f:e": {".": {}, "f:f": {"f:g": {}}}}}})),
            ("other Update", json!({"f:c": {"f:d": {"f:e": {"f:f": {}}}}})),
        ])
    );
}

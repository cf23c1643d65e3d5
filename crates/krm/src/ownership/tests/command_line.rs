//! Stories of the command line, and of an undo.

use serde_json::{Value, json};

use super::story::{Story, owned};

fn texts() -> Value {
    json!({
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "size": {"type": "integer"},
        "note": {"type": "string"},
    })
}

#[test]
fn an_apply_carries_on_what_the_same_command_line_created() {
    let mut story = Story::of(texts());
    story.update("groundplane", json!({"size": 1, "note": "by hand"})).unwrap();
    story.apply("groundplane", json!({"size": 2}));
    assert_eq!(story.spec(), json!({"size": 2, "note": "by hand"}));
    assert_eq!(
        story.owners(),
        owned(
            &[("groundplane Apply", json!({"f:size": {}})), ("groundplane Update", json!({"f:note": {}})),]
        )
    );
    story.apply("groundplane", json!({"note": "applied"}));
    assert_eq!(story.spec(), json!({"note": "applied"}), "what was applied before and is left out goes");
}

#[test]
fn others_are_asked_and_so_is_the_same_name_of_another_program() {
    for (updater, applier) in [("bob", "groundplane"), ("ci", "ci"), ("groundplane", "ci")] {
        let mut story = Story::of(texts());
        story.update(updater, json!({"size": 1})).unwrap();
        let refused = story.try_apply(applier, json!({"size": 2})).unwrap_err();
        assert!(refused.contains(&format!("conflict with {updater:?}")), "{updater} {applier}: {refused}");
    }
}

#[test]
fn what_kubectl_applied_on_the_server_is_taken_field_by_field() {
    let mut story = Story::of(texts());
    story.apply("kubectl", json!({"size": 1, "note": "kubectl's"}));
    story.apply("groundplane", json!({"size": 2}));
    assert_eq!(story.spec(), json!({"size": 2, "note": "kubectl's"}));
    assert_eq!(
        story.owners(),
        owned(&[("groundplane Apply", json!({"f:size": {}})), ("kubectl Apply", json!({"f:note": {}}))])
    );
}

#[test]
fn what_comes_back_belongs_to_who_owned_it() {
    let mut story = Story::of(texts());
    story.apply("ci", json!({"size": 1, "map": {"a": "x"}}));
    let past = story.live.clone().unwrap();
    story.apply("ci", json!({"size": 2}));
    story.update("bob", json!({"size": 2, "note": "bob's"})).unwrap();
    story.bring_back("groundplane", json!({"size": 1, "map": {"a": "x"}, "note": "bob's"}), &past);
    assert_eq!(
        story.owners(),
        owned(&[
            ("ci Apply", json!({"f:size": {}, "f:map": {"f:a": {}}})),
            ("bob Update", json!({"f:note": {}})),
        ])
    );
    story.apply("ci", json!({"size": 3}));
    assert_eq!(story.spec(), json!({"size": 3, "note": "bob's"}));
}

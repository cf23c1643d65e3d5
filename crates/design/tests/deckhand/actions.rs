//! What a child changes of its parent.

use design::deckhand::ProblemKind;

use crate::{problem, rendered};

/// A parent and a child whose actions and data are given.
fn family(parent: &str, actions: &str, child: &str) -> String {
    format!(
        "schema: a/Thing/v1
metadata:
  name: parent
  labels: {{role: base}}
  layeringDefinition: {{abstract: true, layer: global}}
data: {parent}
---
schema: a/Thing/v1
metadata:
  name: child
  layeringDefinition:
    layer: site
    parentSelector: {{role: base}}
    actions: {actions}
data: {child}"
    )
}

fn child(parent: &str, actions: &str, child: &str) -> String {
    rendered(&family(parent, actions, child), "child")
}

#[test]
fn merge_goes_into_maps_and_replaces_lists() {
    assert_eq!(
        child(
            "{a: {x: 1, y: 2}, l: [1, 2], n: 1}",
            "[{method: merge, path: .}]",
            "{a: {y: 3, z: 4}, l: [9], n: null}"
        ),
        r#"{"a":{"x":1,"y":3,"z":4},"l":[9],"n":null}"#
    );
}

#[test]
fn merge_at_a_path_the_parent_lacks_creates_it() {
    assert_eq!(child("{}", "[{method: merge, path: .a.b}]", "{a: {b: {c: 1}}}"), r#"{"a":{"b":{"c":1}}}"#);
}

#[test]
fn merge_of_different_kinds_takes_the_child() {
    assert_eq!(child("{a: [1]}", "[{method: merge, path: .}]", "{a: {b: 1}}"), r#"{"a":{"b":1}}"#);
}

#[test]
fn replace_overwrites_at_its_path_and_nowhere_else() {
    assert_eq!(
        child("{a: {x: 1}, b: 1}", "[{method: replace, path: .a}]", "{a: {y: 2}, b: 2}"),
        r#"{"a":{"y":2},"b":1}"#
    );
    assert_eq!(
        child("{a: [x, y]}", "[{method: replace, path: '.a[1]'}]", "{a: [p, q]}"),
        r#"{"a":["x","q"]}"#
    );
}

#[test]
fn delete_removes_by_path() {
    assert_eq!(child("{a: 1, b: 1}", "[{method: delete, path: .b}]", "{}"), r#"{"a":1}"#);
    assert_eq!(child("{a: 1}", "[{method: delete, path: .}]", "{}"), "{}");
}

#[test]
fn actions_are_applied_in_order() {
    let (delete_all, merge) = ("{method: delete, path: .}", "{method: merge, path: .}");
    assert_eq!(child("{a: 1}", &format!("[{delete_all}, {merge}]"), "{b: 2}"), r#"{"b":2}"#);
    assert_eq!(child("{a: 1}", &format!("[{merge}, {delete_all}]"), "{b: 2}"), "{}");
}

#[test]
fn paths_may_name_the_data_first() {
    assert_eq!(child("{a: 1, b: 1}", "[{method: replace, path: .data.b}]", "{b: 2}"), r#"{"a":1,"b":2}"#);
}

#[test]
fn a_child_without_actions_stays_as_it_is() {
    assert_eq!(child("{a: 1}", "[]", "{b: 2}"), r#"{"b":2}"#);
}

#[test]
fn an_action_on_nothing_is_told_with_its_line() {
    let replace = family("{a: 1}", "[{method: replace, path: .b}]", "{}");
    assert_eq!(
        problem(&replace),
        (
            ProblemKind::MissingInAction,
            "site.yaml:14:15: a/Thing/v1 child has nothing to replace at .b".to_owned()
        )
    );
    let delete = family("{a: 1}", "[{method: delete, path: .b}]", "{b: 1}");
    assert_eq!(
        problem(&delete).1,
        "site.yaml:14:15: a/Thing/v1 child deletes .b, which its parent does not have"
    );
}

#[test]
fn an_unknown_method_is_told_with_its_line() {
    let text = family("{}", "[{method: mrege, path: .}]", "{}");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::Malformed,
            "site.yaml:14:24: a/Thing/v1 child: the method \"mrege\" is not merge, replace or delete"
                .to_owned()
        )
    );
}

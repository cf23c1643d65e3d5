//! Which document becomes the parent, and which mistakes in labels are told.

use design::deckhand::{ProblemKind, render};
use design::document::parse;

use crate::{problem, problems, rendered};

/// Nine lines; the layer stands on the seventh.
fn base(name: &str, layer: &str, data: &str) -> String {
    format!(
        "---
schema: a/Thing/v1
metadata:
  name: {name}
  labels: {{role: base, tier: one}}
  layeringDefinition:
    layer: {layer}
    parentSelector: {{}}
data: {data}
"
    )
}

/// Nine lines; the selector stands on the eighth.
fn child(selector: &str) -> String {
    format!(
        "---
schema: a/Thing/v1
metadata:
  name: child
  layeringDefinition:
    layer: site
    actions: [{{method: merge, path: .}}]
    parentSelector: {selector}
data: {{}}
"
    )
}

#[test]
fn the_nearest_layer_above_wins() {
    let text =
        base("g", "global", "{from: global}") + &base("t", "type", "{from: type}") + &child("{role: base}");
    assert_eq!(rendered(&text, "child"), r#"{"from":"type"}"#);
}

#[test]
fn every_pair_of_the_selector_must_match() {
    let text = base("g", "global", "{from: global}") + &child("{role: base, tier: two}");
    assert_eq!(rendered(&text, "child"), "{}");
}

#[test]
fn a_child_inherits_what_its_parent_inherited() {
    let middle = "---
schema: a/Thing/v1
metadata:
  name: m
  labels: {role: middle}
  layeringDefinition:
    layer: type
    parentSelector: {role: base}
    actions: [{method: merge, path: .}]
data: {b: 2}
";
    let text = child("{role: middle}") + middle + &base("g", "global", "{a: 1}");
    assert_eq!(rendered(&text, "child"), r#"{"a":1,"b":2}"#);
}

#[test]
fn no_match_is_no_mistake() {
    assert_eq!(rendered(&child("{role: nobody}"), "child"), "{}");
}

#[test]
fn two_matches_in_the_nearest_layer_are_a_mistake() {
    let text = base("g1", "global", "{}") + &base("g2", "global", "{}") + &child("{role: base}");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::IndeterminateParent,
            "site.yaml:26:21: the parent selector of a/Thing/v1 child matches several documents of one layer: \
             a/Thing/v1 g1 (site.yaml:2), a/Thing/v1 g2 (site.yaml:11)"
                .to_owned()
        )
    );
}

#[test]
fn a_match_in_the_same_layer_is_a_mistake() {
    let text = base("s", "site", "{}") + &child("{role: base}");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::ParentNotAbove,
            "site.yaml:17:21: the parent selector of a/Thing/v1 child matches a/Thing/v1 s (site.yaml:2), \
             whose layer is not above its own"
                .to_owned()
        )
    );
}

#[test]
fn a_match_of_another_schema_is_a_mistake() {
    let text = base("g", "global", "{}").replace("a/Thing/v1", "a/Other/v1") + &child("{role: base}");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::ParentOfOtherSchema,
            "site.yaml:17:21: the parent selector of a/Thing/v1 child matches a/Other/v1 g (site.yaml:2), \
             which has another schema"
                .to_owned()
        )
    );
}

#[test]
fn a_layer_the_policy_does_not_have_is_a_mistake() {
    assert_eq!(
        problem(&base("g", "globe", "{}")),
        (
            ProblemKind::UnknownLayer,
            "site.yaml:7:12: a/Thing/v1 g is in layer \"globe\", but the policy has only global, type, site"
                .to_owned()
        )
    );
}

#[test]
fn a_parent_selector_needs_a_policy() {
    let refusal =
        render(parse("site.yaml", child("{role: base}").as_bytes()).unwrap().documents).unwrap_err();
    assert_eq!(refusal.len(), 1);
    assert_eq!(refusal[0].kind, ProblemKind::NoLayeringPolicy);
    assert_eq!(
        refusal[0].to_string(),
        "site.yaml:8:21: a/Thing/v1 child has a parent selector, but no deckhand/LayeringPolicy/v1 says how layers \
         are ordered"
    );
}

#[test]
fn two_documents_of_one_name_are_a_mistake() {
    let text = base("g", "global", "{}") + &base("g", "type", "{}");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::Duplicate,
            "site.yaml:11:1: a second document a/Thing/v1 g; the first is at site.yaml:2".to_owned()
        )
    );
}

#[test]
fn all_mistakes_are_told_in_the_order_of_lines() {
    let told = problems(&(base("a", "x", "{}") + &base("b", "y", "{}")));
    assert_eq!(told.iter().map(|problem| problem.at.line).collect::<Vec<_>>(), [7, 16]);
}

//! A replacement takes the place of its parent everywhere.

use design::deckhand::{ProblemKind, render};

use crate::{documents, problem, rendered};

const PARENT: &str = "---
schema: a/Thing/v1
metadata:
  name: thing
  labels: {role: base}
  layeringDefinition: {layer: global}
data: {a: 1, b: 1}
";

const REPLACEMENT: &str = "---
schema: a/Thing/v1
metadata:
  name: thing
  replacement: true
  layeringDefinition:
    layer: site
    parentSelector: {role: base}
    actions: [{method: merge, path: .}]
data: {b: 2}
";

const SIBLING: &str = "---
schema: a/Thing/v1
metadata:
  name: sibling
  layeringDefinition:
    layer: site
    parentSelector: {role: base}
    actions: [{method: merge, path: .}]
data: {c: 3}
";

#[test]
fn the_replaced_document_is_not_emitted() {
    let emitted = render(documents(&[PARENT, REPLACEMENT].concat())).unwrap();
    let things: Vec<_> = emitted.iter().filter(|document| document.name() == "thing").collect();
    assert_eq!(things.len(), 1);
    assert_eq!(serde_json::to_string(&things[0].data).unwrap(), r#"{"a":1,"b":2}"#);
}

#[test]
fn siblings_inherit_the_replaced_data() {
    assert_eq!(rendered(&[SIBLING, PARENT, REPLACEMENT].concat(), "sibling"), r#"{"a":1,"b":2,"c":3}"#);
}

#[test]
fn substitutions_take_the_replaced_data() {
    let reader = "---
schema: a/Reader/v1
metadata:
  name: reader
  substitutions: [{src: {schema: a/Thing/v1, name: thing, path: .b}, dest: {path: .b}}]
data: {}
";
    assert_eq!(rendered(&[reader, PARENT, REPLACEMENT].concat(), "reader"), r#"{"b":2}"#);
}

#[test]
fn a_replacement_without_a_parent_is_a_mistake() {
    assert_eq!(
        problem(REPLACEMENT),
        (
            ProblemKind::ReplacementWithoutParent,
            "site.yaml:8:21: a/Thing/v1 thing is a replacement, but nothing matches its parent selector"
                .to_owned()
        )
    );
}

#[test]
fn a_replacement_of_another_name_is_a_mistake() {
    let text = [PARENT, &REPLACEMENT.replace("name: thing", "name: other")].concat();
    assert_eq!(
        problem(&text),
        (
            ProblemKind::ReplacementWithoutParent,
            "site.yaml:15:21: a/Thing/v1 other is a replacement, but its parent is a/Thing/v1 thing (site.yaml:2): \
             a replacement has the schema and name of its parent"
                .to_owned()
        )
    );
}

#[test]
fn two_replacements_of_one_document_are_a_mistake() {
    assert_eq!(
        problem(&[PARENT, REPLACEMENT, REPLACEMENT].concat()),
        (
            ProblemKind::Duplicate,
            "site.yaml:19:1: a second replacement a/Thing/v1 thing; the first is at site.yaml:9".to_owned()
        )
    );
}

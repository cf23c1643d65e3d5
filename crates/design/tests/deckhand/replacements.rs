//! A replacement takes the place of its parent everywhere.

use design::deckhand::{MissingSource, ProblemKind, render, render_with};

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
fn of_several_replacements_the_most_specific_is_used_whatever_their_order() {
    let of_type = REPLACEMENT.replace("layer: site", "layer: type").replace("b: 2", "b: 9");
    for text in
        [[PARENT, REPLACEMENT, &of_type, SIBLING].concat(), [PARENT, &of_type, REPLACEMENT, SIBLING].concat()]
    {
        let rendering = render_with(documents(&text), MissingSource::Refuse).unwrap();
        let things: Vec<String> = rendering
            .documents
            .iter()
            .filter(|document| document.name() == "thing")
            .map(|document| serde_json::to_string(&document.data).unwrap())
            .collect();
        assert_eq!(things, [r#"{"a":1,"b":2}"#]);
        assert_eq!(rendered(&text, "sibling"), r#"{"a":1,"b":2,"c":3}"#);
        let told = &rendering.warnings[0].message;
        assert!(told.starts_with("a/Thing/v1 thing is not used: a/Thing/v1 thing (site.yaml:"), "{told}");
    }
    // In one layer the first is used, as in Deckhand.
    let twice = [PARENT, REPLACEMENT, &REPLACEMENT.replace("b: 2", "b: 9")].concat();
    assert_eq!(rendered(&twice, "thing"), r#"{"a":1,"b":2}"#);
}

#[test]
fn control_documents_of_one_name_are_no_mistake() {
    let schema = "---
schema: deckhand/DataSchema/v1
metadata: {name: a/Thing/v1, schema: metadata/Control/v1}
data: {type: object}
";
    let rendering =
        render_with(documents(&[schema, schema, PARENT].concat()), MissingSource::Refuse).unwrap();
    assert_eq!(rendering.documents.iter().filter(|one| one.name() == "a/Thing/v1").count(), 1);
}

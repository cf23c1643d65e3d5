//! Documents of kinds that users define are held to their schema, and can be substituted into others.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{deckhand::render, document::parse, user_kinds::UserKinds};

const KINDS: &str = "
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: shop/Order/v1}
data:
  type: object
  properties:
    lines: {type: array, minItems: 1, items: {$ref: '#/definitions/line'}}
    state: {enum: [open, closed]}
  required: [lines]
  additionalProperties: false
  definitions:
    line: {type: object, properties: {item: {type: string, pattern: '^[a-z]+$'}, count: {type: integer, minimum: 1}}}
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: shop/Order/v2}
data: {oneOf: [{type: string}, {type: object, required: [by]}]}
";

fn told(documents: &str) -> Vec<String> {
    let documents = parse("a.yaml", format!("{KINDS}{documents}").as_bytes()).unwrap().documents;
    let kinds = UserKinds::of(&documents);
    kinds.check(&documents).iter().map(|one| one.message.clone()).collect()
}

#[test]
fn a_document_is_held_to_the_schema_of_its_version() {
    let order = |version: &str, data: &str| {
        told(&format!("---\n{{schema: shop/Order/{version}, metadata: {{name: o}}, data: {data}}}\n"))
    };
    assert_eq!(order("v1", "{lines: [{item: bolt, count: 2}], state: open}"), [""; 0]);
    assert_eq!(order("v1", "{}"), ["data: `lines` is required"]);
    assert_eq!(
        order("v1", "{lines: [{item: BOLT, count: 0}, 5], state: lost, colour: red}"),
        [
            "data.lines[0].item: must match ^[a-z]+$",
            "data.lines[0].count: must be at least 1",
            "data.lines[1]: expected object, found an integer",
            "data.state: must be one of open, closed",
            "data.colour: unknown field",
        ]
    );
    assert_eq!(order("v2", "{by: ann}"), [""; 0]);
    assert_eq!(order("v2", "{}"), ["data: must match exactly one of 2 schemas, but matches 0"]);
    assert_eq!(order("v3", "anything"), [""; 0]);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let text = "
---
{schema: deckhand/DataSchema/v1, metadata: {name: a/Tree/v1}, data: {type: object, properties: {left: {$ref: '#'}}, allOf: [{$ref: '#'}]}}
---
{schema: a/Tree/v1, metadata: {name: t}, data: {left: {left: 5}}}
";
    let documents = parse("a.yaml", text.as_bytes()).unwrap().documents;
    assert!(!UserKinds::of(&documents).check(&documents).is_empty());
}

#[test]
fn a_value_of_a_users_kind_is_substituted_into_a_profile() {
    let text = "
---
{schema: deckhand/LayeringPolicy/v1, metadata: {name: p}, data: {layerOrder: [site]}}
---
{schema: shop/Order/v1, metadata: {name: o, layeringDefinition: {abstract: false, layer: site}}, data: {lines: [{item: bolt}]}}
---
schema: drydock/HostProfile/v1
metadata:
  name: h
  layeringDefinition: {abstract: false, layer: site}
  substitutions: [{src: {schema: shop/Order/v1, name: o, path: '.lines[0].item'}, dest: {path: .metadata.owner_data.part}}]
data: {}
";
    let documents = render(parse("a.yaml", text.as_bytes()).unwrap().documents).unwrap();
    let profile = documents.iter().find(|document| document.name() == "h").unwrap();
    let part = profile.data.get("metadata").and_then(|node| node.get("owner_data")?.get("part"));
    assert_eq!(part.unwrap().value.as_str(), Some("bolt"));
}

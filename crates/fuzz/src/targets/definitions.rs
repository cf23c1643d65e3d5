//! CustomResourceDefinitions: one that is let in can be served, is let in again as it is, and shows in OpenAPI.

use krm::crd::{self, Definition};
use krm::kind::Version;
use krm::ownership::Type;
use krm::{Object, body};
use serde_json::{Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::recorded;
use crate::targets::schemas::any_schema;

pub const TARGET: Target = Target {
    name: "definitions",
    check,
    seeds,
    words: &[
        "\"x-kubernetes-validations\":",
        "\"x-kubernetes-list-type\":\"map\"",
        "\"x-kubernetes-list-map-keys\":",
        "\"x-kubernetes-preserve-unknown-fields\":true",
        "\"x-kubernetes-int-or-string\":true",
        "\"x-kubernetes-embedded-resource\":true",
        "\"default\":",
        "\"nullable\":true",
        "\"anyOf\":",
        "\"oneOf\":",
        "\"not\":",
        "\"additionalProperties\":",
        "\"items\":",
        "\"properties\":",
        "\"type\":\"object\"",
        "\"type\":\"array\"",
        "\"type\":\"string\"",
        "\"pattern\":",
        "\"enum\":",
        "\"maxLength\":",
        "\"required\":",
        "\"rule\":\"self == oldSelf\"",
        "\"format\":",
        "\"subresources\":",
        "\"selectableFields\":",
        "\"additionalPrinterColumns\":",
    ],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let definition = match choices.flag() {
        true => match body::read(choices.rest()) {
            Ok(body) => body.value,
            Err(_) => return,
        },
        false => with_schema(any_schema(&mut choices, 3)),
    };
    let Some(mut object) = Object::from_value(definition) else { return };
    if crd::decode(&mut object).is_err() {
        return;
    }
    let decoded = object.clone();
    assert_eq!(crd::decode(&mut object), Ok(Vec::new()), "what was decoded decodes as it is");
    assert_eq!(object, decoded);
    crd::default(&mut object);
    let defaulted = object.clone();
    crd::default(&mut object);
    assert_eq!(object, defaulted, "defaults are filled in once");
    crd::prepare_for_create(&mut object);
    crd::warnings(&object, None);
    crd::non_structural_schema(&object);
    crd::approval_condition(&object);
    if crd::validate_create(&object).is_empty() {
        let_in(&object);
    }
}

/// A definition that was let in.
fn let_in(object: &Object) {
    let errors = crd::validate_update(object, object);
    assert!(errors.is_empty(), "it may not stay as it is: {errors:?}");
    let definition = Definition::parse(object).unwrap_or_else(|error| panic!("it can't be read: {error}"));
    assert!(definition.storage_version().is_some(), "nothing can be stored");
    for version in &definition.versions {
        let Some(schema) = &version.schema else { continue };
        let made = Version::new(&version.name, schema.clone());
        let made = made.unwrap_or_else(|error| panic!("it was let in, but can't be served: {error}"));
        Type::from_schema(schema);
        let mut sample =
            json!({"apiVersion": "e.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}});
        made.schema.prune(&mut sample);
        made.schema.default(&mut sample);
        let errors = made.schema.validate(&sample, None);
        if krm::cel::blocked_by(&errors).is_none() {
            made.rules.check(&made.schema, &sample, None);
        }
    }
}

fn with_schema(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.e.example.com"},
        "spec": {
            "group": "e.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": schema},
            }}}],
        },
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let read = recorded::definitions()
        .into_iter()
        .map(|definition| [&[1], definition.to_string().as_bytes()].concat());
    read.chain(noise()).collect()
}

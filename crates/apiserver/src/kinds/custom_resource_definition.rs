//! CustomResourceDefinition: a kind that is declared while the server runs.

use std::sync::Arc;

use krm::crd::{self, SHAPE};
use krm::field::FieldError;
use krm::kind::{Kind, RawChange, Scope, Subresource};
use krm::object::Object;
use krm::shape::{Outline, Published};
use krm::table::{Column, Columns};
use serde_json::json;

use super::{columns, declare};
use crate::openapi::names;

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "CustomResourceDefinition declares a kind, which the server then offers like its own.")
        .says("spec", "The kind that is wanted.")
        .says("spec.group", "The group of the kind: /apis/<group>/….")
        .says("spec.names", "What the kind is called.")
        .says("spec.scope", "Namespaced or Cluster.")
        .says("spec.versions", "The versions of the kind; in one of them objects are stored.")
        .says("spec.versions[].name", "The name of the version, such as v1alpha1.")
        .says("spec.versions[].served", "Whether the version can be asked for.")
        .says("spec.versions[].storage", "Whether objects are stored in it; true for exactly one.")
        .says("spec.versions[].schema", "What objects look like: their fields, defaults and rules.")
        .says(
            "spec.versions[].subresources",
            "Whether status is written apart, and where the numbers of a Scale are.",
        )
        .says(
            "spec.versions[].additionalPrinterColumns",
            "What a table of objects shows besides their names.",
        )
        .says("spec.versions[].selectableFields", "Fields that a field selector may name.")
        .says("spec.conversion", "How objects get from one version to another.")
        .says("spec.preserveUnknownFields", "Of earlier versions of the API; false.")
        .says("status", "Whether the kind is offered, and under which names.")
        .says("status.conditions", "Established, NamesAccepted and the like.")
        .says("status.acceptedNames", "The names the kind is offered under.")
        .says("status.storedVersions", "Versions that objects may still be stored in.")
        .says(
            "spec.versions[].schema.openAPIV3Schema",
            "The schema, as OpenAPI 3.0 writes it, of whole objects.",
        )
        .says("spec.versions[].schema.openAPIV3Schema.default", "What a field holds that is not given.")
        .says("spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations", "Rules in CEL.")
        .says(
            "spec.versions[].subresources.status",
            "When given, status is written through a path of its own.",
        )
        .says(
            "spec.versions[].subresources.scale",
            "Where the numbers of a Scale are, when objects can be scaled.",
        )
        .says("spec.conversion.webhook", "Who converts, when the strategy is Webhook.")
        .says("spec.conversion.webhook.clientConfig", "Where it is found.")
        .says(
            "spec.conversion.webhook.clientConfig.service",
            "A Service; there are none here, so give a url.",
        )
        .says("status.conditions[].lastTransitionTime", "When the status of the condition changed last.")
        .keyed("status.conditions", "type")
        .keyed("spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations", "rule")
        .merged("spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations", "rule")
        .requires("", &["spec"])
        .requires("spec", &["group", "names", "scope", "versions"])
        .requires("spec.names", &["plural", "kind"])
        .requires("spec.versions[]", &["name", "served", "storage"])
        .requires("spec.versions[].subresources.scale", &["specReplicasPath", "statusReplicasPath"])
        .requires("spec.versions[].additionalPrinterColumns[]", &["name", "type", "jsonPath"])
        .requires("spec.versions[].selectableFields[]", &["jsonPath"])
        .requires("spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations[]", &["rule"])
        .requires("spec.conversion.webhook.clientConfig.service", &["namespace", "name"])
        .requires("spec.conversion", &["strategy"])
        .requires("spec.conversion.webhook", &["conversionReviewVersions"])
        .requires("status.conditions[]", &["type", "status"])
        .format("spec.conversion.webhook.clientConfig.caBundle", "byte");
    let mut kind = declare::core(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        Scope::Cluster,
        &SHAPE,
        &outline,
    );
    if let Some(published) = &mut kind.versions[0].published {
        name_open_types(published);
    }
    kind.names.short = vec!["crd".into(), "crds".into()];
    kind.names.categories = vec!["api-extensions".into()];
    kind.generations = true;
    // HyperShift's definitions say `feature-gate.release.openshift.io/: "true"`.
    kind.bare_annotations = true;
    kind.unconditional_update = false;
    kind.versions[0].subresources = vec![Subresource::Status];
    kind.versions[0].columns = Columns::new(vec![Column::name(), columns::created()]);
    kind.complete.push(Arc::new(crd::default));
    kind.prepare.push(Arc::new(prepare));
    kind.validations.push(Arc::new(validate));
    kind.warnings.push(Arc::new(warnings));
    kind.mark = Some(Arc::new(crd::mark_for_deletion));
    kind
}

/// Values in schemas that may be of several types are types of their own.
fn name_open_types(published: &mut Published) {
    const OPEN: [(&str, &str, &str); 7] = [
        ("/default", "JSON", "JSON is any value."),
        ("/example", "JSON", ""),
        ("/enum/items", "JSON", ""),
        ("/items", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrArray is a schema or a list of schemas."),
        (
            "/additionalProperties",
            "JSONSchemaPropsOrBool",
            "JSONSchemaPropsOrBool is a schema, true or false.",
        ),
        ("/additionalItems", "JSONSchemaPropsOrBool", ""),
        (
            "/dependencies/additionalProperties",
            "JSONSchemaPropsOrStringArray",
            "JSONSchemaPropsOrStringArray is a schema or a list of texts.",
        ),
    ];
    let full = |name: &str| names::go_type("apiextensions.k8s.io", "v1", name);
    let mut definitions = std::mem::take(&mut published.definitions);
    if let Some(fields) =
        definitions.get_mut(&full("JSONSchemaProps")).and_then(|of| of.get_mut("properties"))
    {
        for (at, name, words) in OPEN {
            if let Some(field) = fields.pointer_mut(at) {
                let mut reference = json!({ "$ref": full(name) });
                if let Some(words) = field.get("description") {
                    reference["description"] = words.clone();
                }
                *field = reference;
            }
            if !words.is_empty() {
                published.definitions.insert(full(name), json!({ "description": words }));
            }
        }
    }
    published.definitions.append(&mut definitions);
}

fn prepare(new: &mut Object, old: Option<&Object>, subresource: &str) {
    match (old, subresource) {
        (None, _) => crd::prepare_for_create(new),
        (Some(old), "status") => crd::prepare_for_status_update(new, old),
        (Some(old), _) => crd::prepare_for_update(new, old),
    }
}

fn warnings(change: &RawChange<'_>) -> Vec<String> {
    match (change.new, change.subresource) {
        (Some(new), "") => crd::warnings(new, change.old),
        _ => Vec::new(),
    }
}

fn validate(change: &RawChange<'_>) -> Vec<FieldError> {
    match (change.new, change.old, change.subresource) {
        (None, ..) => Vec::new(),
        (Some(new), _, "status") => crd::validate_status_update(new),
        (Some(new), None, _) => crd::validate_create(new),
        (Some(new), Some(old), _) => crd::validate_update(new, old),
    }
}

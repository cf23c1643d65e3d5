//! CustomResourceDefinition: a kind that is defined at run time.

use std::sync::Arc;

use krm::crd::{self, SHAPE};
use krm::field::FieldError;
use krm::kind::{Kind, MetadataChecks, RawChange, Scope, Subresource};
use krm::object::Object;
use krm::shape::{Outline, Published};
use krm::table::{Column, Columns};
use serde_json::json;

use super::{columns, declare};
use crate::openapi::names;

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "CustomResourceDefinition defines a kind that the server then serves like a built-in one. Its name must be <spec.names.plural>.<spec.group>.")
        .says("spec", "How the custom resource should be served.")
        .says("spec.group", "API group of the custom resource, served under /apis/<group>/…. Must match the name of the definition.")
        .says("spec.names", "Plural, singular, short and kind names of the custom resource.")
        .says("spec.scope", "Whether the custom resource is namespaced or cluster-scoped: Namespaced or Cluster.")
        .says("spec.versions", "All versions of the custom resource. Exactly one is the storage version.")
        .says("spec.versions[].name", "Name of the version, such as v1alpha1.")
        .says("spec.versions[].served", "Whether the version is served by the REST API.")
        .says("spec.versions[].storage", "Whether objects are persisted in this version. Must be true for exactly one version.")
        .says("spec.versions[].schema", "Schema for validation, pruning and defaulting of this version.")
        .says(
            "spec.versions[].subresources",
            "Subresources of this version: status and scale.",
        )
        .says(
            "spec.versions[].additionalPrinterColumns",
            "Additional columns of tables, such as those that kubectl get prints.",
        )
        .says("spec.versions[].selectableFields", "Paths of fields that can be used in field selectors.")
        .says("spec.conversion", "Conversion between versions. Defaults to strategy None, which only changes apiVersion.")
        .says("spec.preserveUnknownFields", "Deprecated: must be false. Use x-kubernetes-preserve-unknown-fields in the schema instead.")
        .says("status", "Observed state of the definition.")
        .says("status.conditions", "Conditions of the definition, such as Established and NamesAccepted.")
        .says("status.acceptedNames", "Names that the custom resource is served under. They may differ from spec.names if those conflict.")
        .says("status.storedVersions", "Versions that were ever persisted. Objects may still be stored in any of them.")
        .says(
            "spec.versions[].schema.openAPIV3Schema",
            "OpenAPI v3 schema for validation and pruning of objects.",
        )
        .says("spec.versions[].schema.openAPIV3Schema.default", "Default value of the field if it is undefined. Part of the schema must be structural.")
        .says("spec.versions[].schema.openAPIV3Schema.x-kubernetes-validations", "Validation rules in the CEL expression language.")
        .says(
            "spec.versions[].subresources.status",
            "Enables the /status subresource: status is only written through it, and everything else only through the main endpoint.",
        )
        .says(
            "spec.versions[].subresources.scale",
            "Enables the /scale subresource, with the paths of its replica fields.",
        )
        .says("spec.conversion.webhook", "How to call the conversion webhook. Required if the strategy is Webhook.")
        .says("spec.conversion.webhook.clientConfig", "How to reach the webhook: a URL and its CA bundle.")
        .says(
            "spec.conversion.webhook.clientConfig.service",
            "Reference to a Service. This server has no Services: set url instead.",
        )
        .says("status.conditions[].lastTransitionTime", "Last time the condition changed from one status to another.")
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
    kind.buckets.push((crate::definitions::OF_GROUP, Arc::new(group_of)));
    kind.names.short = vec!["crd".into(), "crds".into()];
    kind.names.categories = vec!["api-extensions".into()];
    kind.generations = true;
    // HyperShift's definitions say `feature-gate.release.openshift.io/: "true"`.
    kind.bare_annotations = true;
    kind.metadata_checks = MetadataChecks::CUSTOM;
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
fn group_of(definition: &Object) -> Vec<String> {
    definition.at("spec.group").and_then(serde_json::Value::as_str).map(str::to_owned).into_iter().collect()
}

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

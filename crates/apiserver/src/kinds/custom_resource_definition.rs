//! CustomResourceDefinition: a kind that is declared while the server runs.

use std::sync::Arc;

use krm::crd::{self, SHAPE};
use krm::field::FieldError;
use krm::kind::{Kind, RawChange, Scope, Subresource};
use krm::object::Object;
use krm::shape::Outline;
use krm::table::{Column, Columns};

use super::{columns, declare};

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
        .keyed("status.conditions", "type")
        .requires("", &["spec"])
        .requires("spec", &["group", "names", "scope", "versions"])
        .requires("spec.names", &["plural", "kind"])
        .requires("spec.versions[]", &["name", "served", "storage"])
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
    kind.names.short = vec!["crd".into(), "crds".into()];
    kind.names.categories = vec!["api-extensions".into()];
    kind.generations = true;
    kind.unconditional_update = false;
    kind.versions[0].subresources = vec![Subresource::Status];
    kind.versions[0].columns = Columns::new(vec![Column::name(), columns::created()]);
    kind.complete.push(Arc::new(crd::default));
    kind.prepare.push(Arc::new(prepare));
    kind.validations.push(Arc::new(validate));
    kind.mark = Some(Arc::new(crd::mark_for_deletion));
    kind
}

fn prepare(new: &mut Object, old: Option<&Object>, subresource: &str) {
    match (old, subresource) {
        (None, _) => crd::prepare_for_create(new),
        (Some(old), "status") => crd::prepare_for_status_update(new, old),
        (Some(old), _) => crd::prepare_for_update(new, old),
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

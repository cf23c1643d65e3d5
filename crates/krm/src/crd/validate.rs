//! Validation of CustomResourceDefinitions.

mod approval;
mod columns;
mod conversion;
mod names;
mod selectable;
mod spec;
mod subresources;

use std::collections::BTreeMap;

use serde_json::Value;

pub use approval::{Approval, approval};

use super::conditions::is_true;
use super::spec::{Names, Spec};
use crate::field::{FieldError, Path};
use crate::{Object, names as rules};

/// Everything that is wrong with a new definition, apart from what the rules for every object's metadata say.
///
/// It has been through [`decode`](super::decode), [`default`](super::default) and
/// [`prepare_for_create`](super::prepare_for_create) before.
pub fn validate_create(object: &Object) -> Vec<FieldError> {
    let spec = Spec::read(object);
    let mut errors = name(object, &spec);
    errors.extend(spec::validate(&spec, &spec::Demands::of_a_new_one()));
    errors.extend(accepted_names(object));
    errors.extend(stored_versions(object, &spec));
    errors.extend(approval::validate(object, None, spec.group));
    errors.extend(preserve_unknown(&spec, None));
    errors
}

/// Everything that is wrong with a changed definition. What was let through before stays let through.
pub fn validate_update(new: &Object, old: &Object) -> Vec<FieldError> {
    let spec = Spec::read(new);
    let before = Spec::read(old);
    let established = is_true(old, "Established");
    let mut errors = spec::validate(&spec, &spec::Demands::of_a_changed_one(&spec, &before, established));
    errors.extend(spec::immutable(&spec, &before, established));
    errors.extend(accepted_names(new));
    errors.extend(stored_versions(new, &spec));
    errors.extend(approval::validate(new, Some(old), spec.group));
    errors.extend(preserve_unknown(&spec, Some(&before)));
    errors
}

/// Everything that is wrong with a definition whose status was written.
pub fn validate_status_update(new: &Object) -> Vec<FieldError> {
    accepted_names(new)
}

fn name(object: &Object, spec: &Spec<'_>) -> Vec<FieldError> {
    let metadata = Path::of("metadata");
    let required = format!("{}.{}", spec.names.plural, spec.group);
    let mut errors = Vec::new();
    for field in ["generateName", "name"] {
        let name = object.meta_text(field);
        if !name.is_empty() && name != required {
            let detail = r#"must be spec.names.plural+"."+spec.group"#;
            errors.push(FieldError::invalid_text(&metadata.field(field), name, detail));
        }
    }
    errors
}

fn accepted_names(object: &Object) -> Vec<FieldError> {
    let Some(accepted) = object.at("status.acceptedNames") else { return Vec::new() };
    let status = Path::of("status");
    names::validate(&Names::read(accepted), &status.field("acceptedNames"))
}

fn stored_versions(object: &Object, spec: &Spec<'_>) -> Vec<FieldError> {
    let status = Path::of("status");
    let path = status.field("storedVersions");
    let none = Value::Null;
    let value = object.at("status.storedVersions").unwrap_or(&none);
    let stored = value.as_array().map_or(&[][..], Vec::as_slice);
    if stored.is_empty() {
        return vec![FieldError::invalid(&path, value, "must have at least one stored version")];
    }
    let mut left = BTreeMap::new();
    for (index, name) in stored.iter().enumerate() {
        left.insert(name.as_str().unwrap_or(""), index);
    }
    let mut errors = Vec::new();
    for version in spec.versions() {
        if left.remove(version.name).is_none() && version.storage {
            let detail = format!("must have the storage version {}", version.name);
            errors.push(FieldError::invalid(&path, value, detail));
        }
    }
    for (name, index) in left {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in \
             spec.versions until a storage migration ensures no data remains persisted in {name} and removes \
             {name} from status.storedVersions"
        );
        errors.push(FieldError::invalid_text(&path.index(index), name, detail));
    }
    errors
}

fn preserve_unknown(spec: &Spec<'_>, before: Option<&Spec<'_>>) -> Option<FieldError> {
    if !spec.preserve_unknown || before.is_some_and(|before| before.preserve_unknown) {
        return None;
    }
    let path = Path::of("spec");
    Some(FieldError::invalid(
        &path.field("preserveUnknownFields"),
        &true.into(),
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ))
}

/// Whether certificates in base64 can be read; none at all can.
pub(super) fn ca_bundle_is_readable(bundle: &str) -> bool {
    conversion::ca_bundle_fault(bundle).is_none()
}

/// The faults of a text as one detail.
fn joined(faults: rules::Faults) -> Option<String> {
    (!faults.is_empty()).then(|| faults.join(","))
}

//! Admission of workloads: everything that is wrong with one is told at once, by field.

mod interfaces;
mod placements;
mod runtime;
mod volumes;

use krm::field::{FieldError, Path};
use krm::kind::{Change, Refusal, Verdict, View, allow};

use crate::kinds::Workload;
use crate::names::RESERVED;
use crate::places;

/// A workload can run as it is written. What was admitted before stays admitted, though a city or an instance type is no
/// longer offered.
pub fn is_admissible(change: &Change<Workload>, view: &mut View<'_>) -> Verdict {
    let Some(workload) = change.after() else { return allow() };
    let before = change.before();
    let is_unchanged = before.is_some_and(|before| before.spec == workload.spec);
    if is_unchanged || workload.metadata.deletion_timestamp.is_some() {
        return allow();
    }
    let places = places::places(&view.bucket(places::AVAILABLE, places::ALL));
    let mut errors = Vec::new();
    placements::check(workload, before, &places, &mut errors);
    let at = Path::of("spec");
    let template = at.field("template");
    labels(workload, &template, &mut errors);
    runtime::check(workload, before, view, &template, &mut errors);
    let spec = template.field("spec");
    interfaces::check(workload, &spec.field("networkInterfaces"), &mut errors);
    volumes::check(workload, &spec.field("volumes"), &mut errors);
    if errors.is_empty() { allow() } else { Err(Refusal::Invalid(errors)) }
}

/// Labels of the platform are not given by users: instances are found by them.
fn labels(workload: &Workload, template: &Path<'_>, errors: &mut Vec<FieldError>) {
    let metadata = template.field("metadata");
    let labels = metadata.field("labels");
    for (key, value) in &workload.spec.template.metadata.labels {
        let at = labels.key(key);
        if key.starts_with(RESERVED) {
            errors
                .push(FieldError::forbidden(&at, format!("labels below {RESERVED} are set by the platform")));
        }
        let faults = krm::names::label_key(key).into_iter().chain(krm::names::label_value(value));
        errors.extend(faults.map(|fault| FieldError::invalid_text(&at, value, fault)));
    }
}

/// What is wrong with a DNS label.
fn dns_label(name: &str, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        return errors.push(FieldError::required(at, ""));
    }
    let faults = krm::names::dns1123_label(name);
    errors.extend(faults.into_iter().map(|fault| FieldError::invalid_text(at, name, fault)));
}

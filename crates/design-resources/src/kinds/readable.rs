//! Validates an object like the document that it holds, with the same messages.

use design::inherit::is_secret;
use design::model::Design;
use design::object::{DIALECT, document_of};
use krm::field::{FieldError, Path};
use krm::kind::RawChange;
use serde_json::Value;

/// The errors of the document that the object holds.
pub(super) fn validate_document(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new.filter(|_| change.subresource.is_empty()) else { return Vec::new() };
    // Unchanged content stays valid, even if rules have become stricter since.
    if change
        .old
        .is_some_and(|old| old.get("spec") == new.get("spec") && old.meta("labels") == new.meta("labels"))
    {
        return Vec::new();
    }
    let object = Value::Object(new.0.clone());
    let spec = Path::of("spec");
    let mut errors = plain_secrets(&object, &spec);
    let Some(document) = document_of(&object, &|_, _| None) else { return errors };
    // Substituted values are not known yet: the design reports errors after substitution.
    if object["spec"].get("substitutions").is_some() {
        return errors;
    }
    let is_ours = object["metadata"]["labels"][DIALECT].is_null();
    let read = Design::read(std::slice::from_ref(&document));
    for problem in read.outcomes.iter().flat_map(|outcome| &outcome.problems) {
        if !problem.fault.refuses() {
            continue;
        }
        let mut why = problem.message.clone();
        if !is_ours && why.starts_with("unknown field") {
            why.push_str(&format!(
                "; fields beyond Drydock's are allowed after you remove the label {DIALECT}"
            ));
        }
        let field = problem.path.as_str();
        errors.push(match field {
            "" => FieldError::invalid_shown(&spec, String::new(), why),
            field => FieldError::invalid_shown(&spec.field(field), String::new(), why),
        });
    }
    errors
}

/// BMC passwords must be in Secrets, so that reading documents does not reveal them.
fn plain_secrets(object: &Value, spec: &Path<'_>) -> Vec<FieldError> {
    let oob = object["spec"]["oob"].as_object();
    let keys = oob.into_iter().flat_map(|oob| oob.keys());
    keys.filter(|key| !key.starts_with('!') && is_secret(&format!("oob.{key}")))
        .map(|key| {
            let why =
                format!("store it in a Secret and refer to that in spec.oob_secrets.{key}: {{name, key}}");
            FieldError::forbidden(&spec.field("oob").key(key), why)
        })
        .collect()
}

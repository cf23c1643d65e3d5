//! An object is refused for what its document would be refused for, in the same words.

use design::inherit::is_secret;
use design::model::Design;
use design::object::{DIALECT, document_of};
use krm::field::{FieldError, Path};
use krm::kind::RawChange;
use serde_json::Value;

/// Everything for which a document with the content of the object would be refused.
pub(super) fn as_a_document(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new.filter(|_| change.subresource.is_empty()) else { return Vec::new() };
    // What was taken before and says the same is taken again: rules may have become stricter since.
    if change
        .old
        .is_some_and(|old| old.get("spec") == new.get("spec") && old.meta("labels") == new.meta("labels"))
    {
        return Vec::new();
    }
    let object = Value::Object(new.0.clone());
    let spec = Path::of("spec");
    let mut errors = open_secrets(&object, &spec);
    let Some(document) = document_of(&object, &|_, _| None) else { return errors };
    // What others fill in is not there yet: the design tells what is wrong once it is.
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
                "; what Drydock does not know is there once the label {DIALECT} is taken away"
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

/// Whoever may list documents must not learn the passwords of BMCs.
fn open_secrets(object: &Value, spec: &Path<'_>) -> Vec<FieldError> {
    let oob = object["spec"]["oob"].as_object();
    let keys = oob.into_iter().flat_map(|oob| oob.keys());
    keys.filter(|key| !key.starts_with('!') && is_secret(&format!("oob.{key}")))
        .map(|key| {
            let why = format!("put it into a Secret, and name that in spec.oob_secrets.{key}: {{name, key}}");
            FieldError::forbidden(&spec.field("oob").key(key), why)
        })
        .collect()
}

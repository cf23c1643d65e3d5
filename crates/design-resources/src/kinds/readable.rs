//! Validates an object like the document that it holds, with the same messages.

use design::model::{Design, Fault};
use design::object::{DIALECT, document_of, is_partial};
use design::secrets::{is_secret_key, is_secret_path, is_secret_schema, is_secret_text};
use krm::field::{FieldError, Path};
use krm::kind::RawChange;
use serde_json::Value;

/// The errors of the document that the object holds. What it lacks is no error: another source may bring it, and the design
/// reports what is missing from all of them.
pub(super) fn validate_document(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(object) = changed(change) else { return Vec::new() };
    let spec = Path::of("spec");
    let mut errors = plain_secrets(&object["spec"], &spec);
    let Some(document) = document_of(&object, &|_, _| None) else { return errors };
    // Values of other layers and documents are not known yet: the design reports errors after it has rendered them.
    if is_partial(&object["spec"]) {
        return errors;
    }
    let is_ours = object["metadata"]["labels"][DIALECT].is_null();
    let read = Design::read(std::slice::from_ref(&document));
    for problem in read.outcomes.iter().flat_map(|outcome| &outcome.problems) {
        if !problem.fault.refuses() || problem.fault == Fault::Missing {
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

/// The errors of a document of another kind: it must not hold secrets.
pub(super) fn validate_item(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(object) = changed(change) else { return Vec::new() };
    secrets_of_item(&object["spec"], &Path::of("spec"))
}

/// Plain secrets in the spec of a document's object, for revisions, which hold many.
pub(super) fn secrets_of(kind: &str, spec: &Value, path: &Path<'_>) -> Vec<FieldError> {
    match kind == design::object::ITEMS.0 {
        true => secrets_of_item(spec, path),
        false => plain_secrets(spec, path),
    }
}

/// The new object. Unchanged content stays valid, even if rules have become stricter since.
fn changed(change: &RawChange<'_>) -> Option<Value> {
    let new = change.new.filter(|_| change.subresource.is_empty())?;
    let is_same = change
        .old
        .is_some_and(|old| old.get("spec") == new.get("spec") && old.meta("labels") == new.meta("labels"));
    (!is_same).then(|| Value::Object(new.0.clone()))
}

/// Passwords and private keys must be in Secrets, so that reading documents does not reveal them.
fn plain_secrets(spec: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let oob = spec["oob"].as_object();
    let keys = oob.into_iter().flat_map(|oob| oob.iter());
    let is_secret = |key: &str, value: &Value| {
        is_secret_path(&format!("oob.{key}")) || value.as_str().is_some_and(is_secret_text)
    };
    let mut errors: Vec<FieldError> = keys
        .filter(|(key, value)| is_secret(key, value))
        .map(|(key, _)| {
            let why =
                format!("store it in a Secret and refer to that in spec.oob_secrets.{key}: {{name, key}}");
            FieldError::forbidden(&path.field("oob").key(key), why)
        })
        .collect();
    for (name, field) in spec.as_object().into_iter().flatten().filter(|(name, _)| *name != "oob") {
        find(field, &format!("/{name}"), &|_, text| is_secret_text(text), &mut |place| {
            errors.push(FieldError::forbidden(&path.field(name), in_secret(place)));
        });
    }
    errors
}

fn secrets_of_item(spec: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let data = &spec["data"];
    let schema = spec["schema"].as_str().unwrap_or_default();
    if is_secret_schema(schema) && !data.is_null() {
        let why = format!(
            "documents of {schema} are secret; store the data in a Secret, as YAML, and refer to that in spec.data_secret: \
             {{name, key}}"
        );
        return vec![FieldError::forbidden(&path.field("data"), why)];
    }
    let mut errors = Vec::new();
    let is_secret = |name: &str, text: &str| is_secret_text(text) || is_secret_key(name) && !text.is_empty();
    find(data, "", &is_secret, &mut |place| {
        errors.push(FieldError::forbidden(&path.field("data"), in_secret(place)));
    });
    errors
}

fn in_secret(place: &str) -> String {
    format!(
        "{place} is a secret; store it in a Secret and list it in spec.secret_values: {{path: {place}, name, key}}"
    )
}

/// Tells the path of every text that is a secret by its value or the name of its field.
fn find(value: &Value, path: &str, is_secret: &dyn Fn(&str, &str) -> bool, tell: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            let name = path.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default();
            if text != design::secrets::HIDDEN && is_secret(name, text) {
                tell(path);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let member = item["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
                find(item, &format!("{path}/{member}"), is_secret, tell);
            }
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, one)| find(one, &format!("{path}/{name}"), is_secret, tell));
        }
        _ => {}
    }
}

//! Validation of events: lenient in the core group, strict in `events.k8s.io`.

use krm::field::{FieldError, Path};
use krm::names;
use krm::object::Object;
use serde_json::{Value, json};

use super::text;

const MOST_IN_WORD: usize = 128;
const MOST_IN_MESSAGE: usize = 1024;

/// Fields that say what happened, with the names that errors give them. They don't change when it happens again.
const SETTLED: [(&str, &str); 12] = [
    ("involvedObject", "involvedObject"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "firstTimestamp"),
    ("lastTimestamp", "lastTimestamp"),
    ("count", "count"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingComponent", "reportingController"),
];
const REFERENCE: [(&str, &str); 7] = [
    ("kind", "Kind"),
    ("namespace", "Namespace"),
    ("name", "Name"),
    ("uid", "UID"),
    ("apiVersion", "APIVersion"),
    ("resourceVersion", "ResourceVersion"),
    ("fieldPath", "FieldPath"),
];
const SOURCE: [(&str, &str); 2] = [("component", "Component"), ("host", "Host")];

/// What was asked of events ever since; `component` is what the field for the reporting controller is called.
pub fn as_ever(event: &Object, component: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let about = text(event, "involvedObject.namespace");
    let here = event.namespace();
    let has_time = !text(event, "eventTime").is_empty();
    let matches = match (has_time, about) {
        // An event about something without a namespace.
        (false, "") => matches!(here, "" | "default"),
        (false, about) => about == here,
        (true, "") => matches!(here, "default" | "kube-system"),
        (true, _) => true,
    };
    if !matches {
        let involved = Path::of("involvedObject");
        let detail = "does not match event.namespace";
        errors.push(FieldError::invalid_text(&involved.field("namespace"), about, detail));
    }
    if has_time {
        new_ones(event, component, &mut errors);
    }
    let faults = names::dns1123_subdomain(here).into_iter();
    errors.extend(faults.map(|fault| FieldError::invalid_text(&Path::of("namespace"), here, fault)));
    errors
}

/// Events that tell their time are of the new kind.
fn new_ones(event: &Object, component: &str, errors: &mut Vec<FieldError>) {
    let controller = text(event, "reportingComponent");
    if controller.is_empty() {
        errors.push(FieldError::required(&Path::of(component), ""));
    }
    let faults = names::qualified_name(controller).into_iter();
    errors.extend(faults.map(|fault| FieldError::invalid_text(&Path::of(component), controller, fault)));
    for field in ["reportingInstance", "action", "reason"] {
        let path = Path::of(field);
        match text(event, field).len() {
            0 => errors.push(FieldError::required(&path, "")),
            length => errors.extend(too_long(&path, length, MOST_IN_WORD)),
        }
    }
    errors.extend(too_long(&Path::of("message"), text(event, "message").len(), MOST_IN_MESSAGE));
}

fn too_long(path: &Path<'_>, length: usize, most: usize) -> Option<FieldError> {
    let detail = || format!("can have at most {most} characters");
    (length > most).then(|| FieldError::invalid_text(path, "", detail()))
}

/// What is asked besides when an event is made through `events.k8s.io`.
pub fn made(event: &Object) -> Vec<FieldError> {
    let mut errors = series_faults(event);
    if text(event, "eventTime").is_empty() {
        errors.push(FieldError::required(&Path::of("eventTime"), ""));
    }
    let kind = text(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid_text(&Path::of("type"), "", detail));
    }
    let given = |field: &str| match field {
        "count" => event.get(field).is_some(),
        "source" => event.get(field).and_then(Value::as_object).is_some_and(|source| !source.is_empty()),
        field => !text(event, field).is_empty(),
    };
    for field in ["firstTimestamp", "lastTimestamp", "count", "source"].iter().filter(|field| given(field)) {
        errors.push(FieldError::invalid_text(&Path::of(field), "", "needs to be unset"));
    }
    errors
}

/// What is asked besides when an event is changed through `events.k8s.io`: only its series goes on.
pub fn changed(new: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = match new.get("series") == old.get("series") {
        true => Vec::new(),
        false => series_faults(new),
    };
    // Kubernetes looks at the reason twice.
    let settled = SETTLED.iter().chain(&[("reason", "reason"), ("reportingInstance", "reportingInstance")]);
    for (field, name) in settled.filter(|(field, _)| new.get(field) != old.get(field)) {
        errors.push(FieldError::invalid_shown(&Path::of(name), shown(new, field), "field is immutable"));
    }
    errors
}

fn series_faults(event: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if event.get("series").is_none() {
        return errors;
    }
    if event.at("series.count").and_then(Value::as_i64).unwrap_or(0) < 2 {
        errors.push(FieldError::invalid_text(&Path::of("series.count"), "", "should be at least 2"));
    }
    if text(event, "series.lastObservedTime").is_empty() {
        errors.push(FieldError::required(&Path::of("series.lastObservedTime"), ""));
    }
    errors
}

/// A field as errors show it: structs with the names that Go has for their fields.
fn shown(event: &Object, field: &str) -> String {
    let value = event.get(field);
    let names: &[(&str, &str)] = match (field, value) {
        ("involvedObject", _) | ("related", Some(_)) => &REFERENCE,
        ("source", _) => &SOURCE,
        ("count", None) => return "0".into(),
        ("reason" | "message" | "type" | "action", None) => return "\"\"".into(),
        (_, value) => return value.unwrap_or(&Value::Null).to_string(),
    };
    let text = |name: &str| value.and_then(|value| value.get(name)).cloned().unwrap_or_else(|| json!(""));
    let fields: Vec<String> =
        names.iter().map(|(name, go_name)| format!("\"{go_name}\":{}", text(name))).collect();
    format!("{{{}}}", fields.join(","))
}

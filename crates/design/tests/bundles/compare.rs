//! The rules of comparison: which keys count, which are ignored, what of a message counts.

use serde_json::{Map, Value, json};

const MODELS: [&str; 8] = [
    "region",
    "networks",
    "network_links",
    "racks",
    "hardware_profiles",
    "host_profiles",
    "nodes",
    "bootactions",
];
const STATUSES: [&str; 3] = ["ingest_status", "status", "error_count"];
/// The order of `versioned_object.changes` is that of a Python set: another in every recording.
const IGNORED: [&str; 6] =
    ["model_type", "model_version", "source", "doc_ref", "_vg_extra", "versioned_object.changes"];

/// A recording without what a defect of the original lost everywhere: it never read `bootable`, we do (corner rule 4).
pub fn without_bootable(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("bootable");
            fields.values_mut().for_each(without_bootable);
        }
        Value::Array(items) => items.iter_mut().for_each(without_bootable),
        _ => {}
    }
}

pub fn whole(truth: &Value, printed: &Value) -> Result<(), String> {
    if let Some(error) = truth.get("error") {
        let told = printed.get("error").ok_or("the design must be refused")?;
        return equal("error", &pick(error, &["kind", "about"]), &pick(told, &["kind", "about"]));
    }
    models(truth, printed)?;
    for status in STATUSES.iter().filter(|status| truth.get(**status).is_some()) {
        equal(status, &truth[status], &printed[status])?;
    }
    equal("messages", &messages(truth), &messages(printed))
}

pub fn models(truth: &Value, printed: &Value) -> Result<(), String> {
    if let Some(error) = printed.get("error") {
        return Err(format!("refused: {error}"));
    }
    let is_compiled = truth.get("ingest_status").is_none_or(|status| status == "Success");
    for model in MODELS {
        let view = if is_compiled { cleaned } else { names };
        equal(model, &view(&truth[model]), &view(&printed[model]))?;
    }
    Ok(())
}

/// What the original said before it crashed, we say as well.
pub fn begins_with_messages_of(truth: &Value, printed: &Value) -> Result<(), String> {
    let (recorded, ours) = (messages(truth), messages(printed));
    let count = recorded.as_array().map_or(0, Vec::len);
    let ours: Value = ours.as_array().into_iter().flatten().take(count).cloned().collect();
    equal("messages", &recorded, &ours)
}

/// Nulls and what is ignored taken out, at every depth.
fn cleaned(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept =
                fields.iter().filter(|(key, value)| !value.is_null() && !IGNORED.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), cleaned_field(key, value))).collect())
        }
        Value::Array(items) => items.iter().map(cleaned).collect(),
        other => other.clone(),
    }
}

fn cleaned_field(key: &str, value: &Value) -> Value {
    match value.as_str() {
        Some(line) if key == "_kernel_param_string" && line.starts_with("ERR") => json!("ERR"),
        _ => cleaned(value),
    }
}

/// Of a design that could not be read only the accepted documents count; a region is one document, not a map of them.
fn names(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("authorized_keys") => fields["name"].clone(),
        Value::Object(fields) => fields.keys().map(|name| json!(name)).collect(),
        _ => Value::Null,
    }
}

fn messages(printed: &Value) -> Value {
    let messages = printed["messages"].as_array().into_iter().flatten();
    messages.map(|message| pick(message, &["name", "error", "level", "documents"])).collect()
}

fn pick(value: &Value, keys: &[&str]) -> Value {
    let picked: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), value.get(*key)?.clone()))).collect();
    Value::Object(picked)
}

/// Equal, or where the first difference is.
fn equal(path: &str, truth: &Value, printed: &Value) -> Result<(), String> {
    match (truth, printed) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().try_for_each(|key| {
                let none = Value::Null;
                equal(&format!("{path}.{key}"), a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().try_for_each(|(i, (a, b))| equal(&format!("{path}[{i}]"), a, b))
        }
        (a, b) if a == b => Ok(()),
        (a, b) => Err(format!("{path}: expected {a}, printed {b}")),
    }
}

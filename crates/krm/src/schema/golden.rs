//! Recorded answers of kube-apiserver, given by the engine alone: prune, coerce, default, validate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use serde_json::{Map, Value, json};

use super::Schema;
use crate::field::FieldError;

fn cases() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube"))
}

fn read(path: &FilePath) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn fixture(name: &str) -> Schema {
    let crd = read(&cases().join(format!("fixtures/{name}.json")));
    Schema::parse(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]).unwrap()
}

/// What a request comes to: the object, or why it is refused.
enum Outcome {
    Stored { content: Value, unknown: BTreeSet<String> },
    Unreadable(String),
    Invalid(BTreeSet<(String, String, String)>),
}

fn create(schema: &Schema, mut object: Value, has_status: bool) -> Outcome {
    let mut unknown: BTreeSet<String> = schema.prune(&mut object).into_iter().collect();
    match schema.coerce_embedded(&mut object) {
        Ok(fields) => unknown.extend(fields),
        Err(error) => return Outcome::Unreadable(error.to_string()),
    }
    schema.default(&mut object);
    if has_status {
        object.as_object_mut().unwrap().remove("status");
    }
    let errors = schema.validate(&object, None);
    if !errors.is_empty() {
        let cause = |error: &FieldError| {
            let field = if error.field.is_empty() { "<nil>" } else { &error.field };
            (field.to_owned(), error.fault.reason().to_owned(), error.message())
        };
        return Outcome::Invalid(errors.iter().map(cause).collect());
    }
    Outcome::Stored { content: content(&object), unknown }
}

/// Everything but type and metadata, numbers by value.
fn content(object: &Value) -> Value {
    let fields = object.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !["apiVersion", "kind", "metadata"].contains(&key.as_str()));
    let map: Map<String, Value> = fields.map(|(key, value)| (key.clone(), by_value(value))).collect();
    Value::Object(map)
}

fn by_value(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(list) => list.iter().map(by_value).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), by_value(value))).collect())
        }
        other => other.clone(),
    }
}

fn recorded_unknown(response: &Value) -> BTreeSet<String> {
    let warnings = response["headers"]["Warning"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let fields = warnings.filter_map(|text| {
        text.strip_prefix("299 - \"unknown field \\\"")?.strip_suffix("\\\"\"").map(str::to_owned)
    });
    // The object's own metadata is read elsewhere.
    fields.filter(|field| !field.starts_with("metadata.")).collect()
}

fn recorded_causes(body: &Value) -> BTreeSet<(String, String, String)> {
    let text = |cause: &Value, key| cause[key].as_str().unwrap_or_default().to_owned();
    let causes = body["details"]["causes"].as_array().into_iter().flatten();
    causes.map(|cause| (text(cause, "field"), text(cause, "reason"), text(cause, "message"))).collect()
}

/// Replays every creation of a scenario; returns how many there were.
fn replay(path: &FilePath) -> usize {
    let scenario = read(path);
    let golden = read(&path.with_extension("golden.json"));
    let mut replayed = 0;
    for (step, recorded) in
        scenario["steps"].as_array().unwrap().iter().zip(golden["steps"].as_array().unwrap())
    {
        let resource = step["path"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let is_fixture = ["widgets", "probes", "bags", "gadgets"].contains(&resource);
        let body = match (&step["body"], step["raw"].as_str()) {
            (Value::Null, Some(raw)) => serde_json::from_str(raw).unwrap_or_default(),
            (body, _) => body.clone(),
        };
        if step["method"] != "POST" || !is_fixture || !body.is_object() {
            continue;
        }
        let response = &recorded["response"];
        let what = format!("{} {}", path.display(), body);
        match (response["status"].as_u64(), create(&fixture(resource), body, resource == "widgets")) {
            (Some(201), Outcome::Stored { content: ours, unknown }) => {
                assert_eq!(normalized(&ours), normalized(&content(&response["body"])), "{what}");
                if step["query"]["fieldValidation"].as_str() != Some("Ignore") {
                    assert_eq!(unknown, recorded_unknown(response), "{what}");
                }
            }
            (Some(422), Outcome::Invalid(causes)) => {
                assert_eq!(causes, recorded_causes(&response["body"]), "{what}");
            }
            (Some(400), Outcome::Unreadable(why)) => {
                let message = response["body"]["message"].as_str().unwrap_or_default();
                assert!(message.ends_with(&why), "{what}: {why} is not {message}");
            }
            (Some(400), Outcome::Stored { unknown, .. }) => {
                let message = response["body"]["message"].as_str().unwrap_or_default();
                assert!(message.contains("strict decoding error"), "{what}: {message}");
                for field in unknown {
                    assert!(message.contains(&format!("unknown field \"{field}\"")), "{what}: {message}");
                }
            }
            (Some(422), Outcome::Stored { .. })
                if response["body"]["message"].as_str().is_some_and(is_about_query) => {}
            (status, outcome) => panic!("{what}: {status:?} was answered, we say {}", outcome.name()),
        }
        replayed += 1;
    }
    replayed
}

fn is_about_query(message: &str) -> bool {
    message.contains("fieldValidation")
}

impl Outcome {
    fn name(&self) -> String {
        match self {
            Outcome::Stored { .. } => "stored".into(),
            Outcome::Unreadable(why) => format!("unreadable: {why}"),
            Outcome::Invalid(causes) => format!("invalid: {causes:?}"),
        }
    }
}

/// The recording replaces what looks like an identity.
fn normalized(value: &Value) -> Value {
    match value {
        Value::String(text)
            if text.starts_with("<uid:") || text == "123e4567-e89b-12d3-a456-426614174000" =>
        {
            json!("<uid>")
        }
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), normalized(value))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn the_engine_answers_as_kube_apiserver_does() {
    let mut replayed = 0;
    for folder in ["validation", "defaulting-pruning", "field-validation"] {
        let folder = cases().join("scenarios").join(folder);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if !path.to_string_lossy().ends_with(".golden.json") {
                replayed += replay(&path);
            }
        }
    }
    assert!(replayed > 150, "only {replayed} requests were replayed");
}

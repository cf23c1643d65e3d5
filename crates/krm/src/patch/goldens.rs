//! Recorded answers of a Kubernetes API server, as far as patches alone decide them.

use serde_json::{Map, Value, json};

use super::{PatchError, json as json_patch, merge, strategic};
use crate::body::FieldValidation;
use crate::field::quote;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/scenarios");

/// A step of a recording: what was asked, and what the answer was.
struct Step {
    kind: String,
    text: Vec<u8>,
    strict: bool,
    status: u64,
    answer: Value,
    name: String,
}

fn steps(scenario: &str) -> Vec<Step> {
    let read = |ending: &str| -> Value {
        let text = std::fs::read_to_string(format!("{CASES}/{scenario}{ending}")).unwrap();
        serde_json::from_str(&text.replace("<time>", "2026-01-02T03:04:05Z")).unwrap()
    };
    let (asked, answered) = (read(".json"), read(".golden.json"));
    let asked = asked["steps"].as_array().unwrap().iter();
    let answered = answered["steps"].as_array().unwrap().iter();
    let step = |(at, (asked, answered)): (usize, (&Value, &Value))| Step {
        kind: asked["headers"]["Content-Type"].as_str().unwrap_or_default().to_owned(),
        text: named(asked["raw"].as_str().map_or_else(|| asked["body"].to_string(), str::to_owned))
            .into_bytes(),
        strict: asked["query"]["fieldValidation"] == "Strict",
        status: answered["response"]["status"].as_u64().unwrap(),
        answer: answered["response"]["body"].clone(),
        name: format!("{scenario} {}", at + 1),
    };
    asked.zip(answered).enumerate().map(step).collect()
}

/// A request with the names that the recording has for identities.
fn named(text: String) -> String {
    let name = |text: String, uid: u8, name: u8| {
        text.replace(&format!("00000000-0000-0000-0000-{uid:012}"), &format!("<uid:{name}>"))
    };
    name(name(text, 1, 1), 2, 3)
}

impl Step {
    fn patches(&self) -> bool {
        self.kind.contains("patch+json")
    }

    /// What becomes of an object, or why nothing does.
    fn result(&self, object: &Value) -> Result<Value, PatchError> {
        let validation = if self.strict { FieldValidation::Strict } else { FieldValidation::Warn };
        let mut changed = object.clone();
        match self.kind.split('/').nth(1).unwrap() {
            "json-patch+json" => json_patch::Patch::read(&self.text, validation)?.apply(&mut changed)?,
            "merge-patch+json" => merge::Patch::read(&self.text, validation)?.apply(&mut changed),
            _ => {
                let patch = strategic::Patch::read(&self.text)?;
                (changed, _) = patch.apply(object, &layout(object), validation)?;
            }
        }
        Ok(changed)
    }
}

fn layout(object: &Value) -> strategic::Layout {
    let reference = json!({"type": "object", "properties": {"name": {"type": "string"}, "namespace": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
        "secrets": {
            "type": "array", "items": reference,
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge",
        },
        "imagePullSecrets": {"type": "array", "items": reference},
    }});
    strategic::Layout::new(object["kind"].as_str().unwrap(), &schema, &Map::new())
}

/// What is left of an object when the server has its way with it: defaults, unknown fields, what it keeps itself.
fn settled(mut object: Value) -> Value {
    let own = ["managedFields", "resourceVersion", "generation"];
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|key, value| !own.contains(&key.as_str()) && *value != json!([]));
    let top = object.as_object_mut().unwrap();
    top.retain(|key, _| key != "nope" && key != "bogus");
    if let Some(spec) = top.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|key, value| !value.is_null() && key != "zip" && key != "bogus");
        spec.entry("color").or_insert(json!("red"));
        spec.entry("size").or_insert(json!(1));
    }
    for secret in top.get_mut("secrets").and_then(Value::as_array_mut).into_iter().flatten() {
        secret.as_object_mut().unwrap().retain(|key, _| key == "name");
    }
    object
}

/// Failures that come after a patch was applied: the server looks at the object.
const LATER: [&str; 8] = [
    "does not match the n",
    "undeterminable",
    "Operation cannot be fulfilled",
    "must be specified for an update",
    "Widget.golden.example.com \"a\" is invalid",
    "Gadget.golden.example.com \"a\" is invalid",
    "ConfigMap \"c\" is invalid",
    " \"\" is invalid: patch: Invalid value: \"{",
];

#[test]
fn patches_are_answered_as_recorded() {
    let mut compared = 0;
    for scenario in [
        "json-ops",
        "json-failures",
        "merge",
        "merge-failures",
        "core-json-merge",
        "strategic-core",
        "strategic-owners",
    ] {
        let mut object = Value::Null;
        for step in steps(&format!("patch/{scenario}")) {
            if step.patches() {
                match (step.result(&object), step.status) {
                    (Ok(changed), 200) => {
                        assert_eq!(settled(changed), settled(step.answer.clone()), "{}", step.name)
                    }
                    (Ok(_), _) => {
                        let message = step.answer["message"].as_str().unwrap();
                        assert!(
                            LATER.iter().any(|later| message.contains(later)),
                            "{}: {message}",
                            step.name
                        );
                    }
                    (Err(error), _) => {
                        let status: Value = serde_json::from_slice(&error.status().to_json()).unwrap();
                        assert_eq!(status, step.answer, "{}", step.name);
                    }
                }
                compared += 1;
            }
            if step.status < 300 {
                object = step.answer;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn results_that_cannot_be_read_are_shown_as_recorded() {
    let numbers = regex::Regex::new("<rv:[0-9]+>").unwrap();
    let mut compared = 0;
    for scenario in [
        "patch/core-json-merge",
        "patch/json-failures",
        "patch/merge-failures",
        "field-validation/update-patch-strict",
    ] {
        let mut objects: Map<String, Value> = Map::new();
        for step in steps(scenario) {
            let message = step.answer["message"].as_str().unwrap_or_default().to_owned();
            if step.status < 300 {
                objects.insert(step.answer["kind"].as_str().unwrap().to_owned(), step.answer);
            } else if step.patches() && message.starts_with(" \"\" is invalid: patch: Invalid value: \"{") {
                let kind = ["ConfigMap", "Widget"].into_iter().find(|kind| {
                    objects.contains_key(*kind)
                        && (objects.len() == 1 || message.contains(&format!("\\\"{kind}\\\"")))
                });
                let object = &objects[kind.unwrap()];
                let (api_version, kind) =
                    (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
                let changed = step.result(object).unwrap();
                let shown = match step.kind.contains("json-patch") {
                    true => json_patch::Patch::read(&step.text, FieldValidation::Warn).unwrap().shown(
                        &changed,
                        api_version,
                        kind,
                    ),
                    false => merge::Patch::read(&step.text, FieldValidation::Warn).unwrap().shown(
                        &changed,
                        api_version,
                        kind,
                    ),
                };
                let shown = shown.replace("\\u003c", "<").replace("\\u003e", ">");
                let shown = numbers.replace_all(&shown, "<rv>");
                let wanted = format!(" \"\" is invalid: patch: Invalid value: {}: ", quote(&shown));
                assert!(message.starts_with(&wanted), "{}: {message}\nis not\n{wanted}", step.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 8, "{compared}");
}

//! PolicyPreview: evaluates a policy on samples.

use krm::field::{FieldError, Path};
use krm::status::Status;
use serde_json::{Value, json};

use super::compose;
use super::policy::{Origin, Policy};
use super::query::Posted;

/// How many samples can be tried at once.
const MOST_INPUTS: usize = 1000;

/// Answers a PolicyPreview.
pub fn answer(posted: &Posted<'_>) -> Result<Value, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    let inputs = spec["inputs"].as_array().cloned().unwrap_or_default();
    let list = at.field("inputs");
    if inputs.is_empty() {
        return Err(posted.invalid(&[FieldError::required(&list, "at least one sample must be given")]));
    }
    if inputs.len() > MOST_INPUTS {
        return Err(posted.invalid(&[FieldError::too_many(&list, inputs.len(), MOST_INPUTS)]));
    }
    for (index, input) in inputs.iter().enumerate() {
        let place = list.index(index);
        let kind = input["type"].as_str().unwrap_or_default();
        if !matches!(kind, "audit" | "event") {
            let wrong = FieldError::not_supported(&place.field("type"), &input["type"], &["audit", "event"]);
            return Err(posted.invalid(&[wrong]));
        }
        if !input[kind].is_object() {
            return Err(posted.invalid(&[FieldError::required(
                &place.field(kind),
                "must be set for a sample of this type",
            )]));
        }
    }
    let policy = match Policy::read(&spec["policy"], &at.field("policy")) {
        Ok(policy) => policy,
        Err(errors) => {
            let told: Vec<String> =
                errors.iter().map(|error| format!("{}: {}", error.field, error.message())).collect();
            return Ok(json!({ "error": told.join("; ") }));
        }
    };
    let kind = spec["policy"]["resource"]["kind"].as_str().unwrap_or_default();
    let mut activities = Vec::new();
    let mut results = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let (origin, composed) = match input["type"].as_str() {
            Some("event") => (Origin::Event, compose::of_event(&input["event"], "")),
            _ => (Origin::Audit, compose::of_audit(&input["audit"], kind)),
        };
        results.push(match policy.tell(origin, &composed.values) {
            Ok(Some((rule, said))) => {
                activities.push(composed.told.activity(&said));
                json!({ "inputIndex": index, "matched": true, "matchedRuleIndex": rule, "matchedRuleType": origin.as_str() })
            }
            Ok(None) => json!({ "inputIndex": index, "matched": false, "matchedRuleIndex": -1 }),
            Err(why) => json!({ "inputIndex": index, "matched": false, "matchedRuleIndex": -1, "error": why }),
        });
    }
    Ok(json!({ "activities": activities, "results": results }))
}

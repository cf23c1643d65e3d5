//! `featuregates.groundplane.dev`: which features this server has behind gates, and which are open.

use krm::status::Status;
use serde_json::{Value, json};

use crate::answer::{self, Answer};
use crate::call::Call;
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::transaction::API_VERSION;

/// Answers a list of them.
pub fn answer(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let gates = call.api.feature_gates();
    let items: Vec<Value> = gates
        .all()
        .map(|(gate, is_open)| {
            json!({
                "apiVersion": API_VERSION,
                "kind": "FeatureGate",
                // Names of objects are in small letters, those of gates are not.
                "metadata": { "name": gate.name.to_lowercase() },
                "status": {
                    "gate": gate.name,
                    "stage": gate.stage.to_string(),
                    "default": gate.default,
                    "enabled": is_open,
                    "description": gate.description,
                },
            })
        })
        .collect();
    let list =
        json!({ "apiVersion": API_VERSION, "kind": "FeatureGateList", "metadata": {}, "items": items });
    Ok(answer::object::value(&accept, 200, &list))
}

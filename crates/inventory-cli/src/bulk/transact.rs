//! Sends many objects as one transaction, and reports errors per object.

use cli::{Ask, Client, Failure};
use http::Method;
use serde_json::{Value, json};

const PATH: &str = "/apis/groundplane.dev/v1alpha1/transactions";

/// A transaction request.
pub struct Transaction<'a> {
    pub items: &'a [Value],
    pub field_manager: &'a str,
    pub force: bool,
    pub message: Option<&'a str>,
}

impl Transaction<'_> {
    /// Sends it, as a dry run or for real. Errors of objects are in the answer.
    pub async fn send(&self, client: &Client, is_real: bool) -> Result<Value, Failure> {
        let mut spec = json!({"fieldManager": self.field_manager, "force": self.force, "items": self.items});
        if let Some(message) = self.message {
            spec["message"] = message.into();
        }
        let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": spec});
        let ask = Ask::new(Method::POST, PATH)
            .query("fieldValidation", "Strict")
            .query_if("dryRun", (!is_real).then_some("All"))
            .json(&body);
        match client.value(&ask).await {
            Ok(answer) => Ok(answer["status"].clone()),
            // Reported per item, as a dry run does.
            Err(failure) => match failure.refusal().map(|refusal| by_item(refusal.causes())) {
                Some(items) if !items.is_empty() => Ok(json!({"items": items})),
                _ => Err(failure.without("transactions")),
            },
        }
    }
}

fn by_item<'a>(causes: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let item = |cause: &Value| {
        let path = cause["field"].as_str()?.strip_prefix("spec.items[")?;
        let (index, rest) = path.split_once(']')?;
        let mut cause = cause.clone();
        cause["field"] = rest.trim_start_matches(".object").trim_start_matches('.').into();
        let message = cause["message"].clone();
        let index = index.parse::<u64>().ok()?;
        Some(
            json!({"index": index, "result": "failed", "error": {"message": message, "details": {"causes": [cause]}}}),
        )
    };
    causes.filter_map(item).collect()
}

/// The errors of all items; `told` formats one from the item's index, the field and the message.
pub fn failures(status: &Value, told: impl Fn(usize, &str, &str) -> Failure) -> Vec<Failure> {
    let mut failures = Vec::new();
    for item in status["items"].as_array().into_iter().flatten().filter(|item| item["result"] == "failed") {
        let index = item["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
        let error = &item["error"];
        let causes = error["details"]["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        match causes {
            [] => failures.push(told(index, "", &text(&error["message"]))),
            causes => failures.extend(
                causes.iter().map(|cause| told(index, &text(&cause["field"]), &text(&cause["message"]))),
            ),
        }
    }
    failures
}

/// Fails if there are errors.
pub fn refused(mut failures: Vec<Failure>, done: &str) -> Result<(), Failure> {
    if failures.is_empty() {
        return Ok(());
    }
    failures
        .push(Failure::Bare(format!("nothing was {done}; fix the errors above and run the command again")));
    Err(Failure::Several(failures))
}

//! The result of a transaction: what each item does, or all errors.

use krm::diff::{self, Difference};
use krm::status::{Cause, Details, Status};
use serde_json::{Value, json};

use super::decide::{Done, Tried};
use super::undo_many::Skipped;
use super::{API_VERSION, Ended, GROUP};
use crate::call::Call;

/// How many failing items the message of a refusal names.
const NAMED: usize = 5;
/// How many causes it lists.
const MOST_CAUSES: usize = 1000;

/// How much is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Detail {
    /// What differs.
    pub diff: bool,
    /// The whole objects.
    pub object: bool,
    /// It was a rehearsal.
    pub dry_run: bool,
}

/// The status of a transaction.
pub fn status(call: &Call, ended: &Ended, detail: Detail) -> Value {
    let count = |result: &str| {
        ended
            .tried
            .iter()
            .filter(|tried| tried.outcome.as_ref().is_ok_and(|done| done.result == result))
            .count()
    };
    json!({
        "revision": ended.revision.end().to_string(),
        "time": call.api.now().to_micros(),
        "dryRun": detail.dry_run,
        "refused": ended.is_refused(),
        "summary": {
            "created": count("created"),
            "configured": count("configured"),
            "unchanged": count("unchanged"),
            "deleted": count("deleted") + count("deleting"),
            "failed": ended.tried.iter().filter(|tried| tried.outcome.is_err()).count(),
        },
        "items": ended.tried.iter().map(|tried| item(tried, detail)).collect::<Vec<_>>(),
    })
}

/// The same with what an undo has left out.
pub fn leaving_out(mut status: Value, skipped: &[Skipped]) -> Value {
    if !skipped.is_empty() {
        status["skipped"] = skipped.iter().map(Skipped::to_json).collect();
    }
    status
}

/// A transaction as it is answered.
pub fn transaction(status: Value, message: Option<&str>) -> Value {
    let mut answer = json!({
        "apiVersion": API_VERSION, "kind": "Transaction", "metadata": {}, "spec": {}, "status": status,
    });
    if let Some(message) = message {
        answer["spec"]["message"] = message.into();
    }
    answer
}

fn item(tried: &Tried, detail: Detail) -> Value {
    let mut told = tried.named.to_json();
    told["index"] = tried.index.into();
    told["operation"] = tried.operation.as_str().into();
    match &tried.outcome {
        Err(status) => {
            told["result"] = "failed".into();
            told["error"] = serde_json::to_value(status).unwrap_or_default();
        }
        Ok(done) => {
            told["result"] = done.result.into();
            let shown = done.after.as_ref().or(done.before.as_ref());
            if let Some(object) = shown {
                told["uid"] = object.uid().into();
                if !object.resource_version().is_empty() && !detail.dry_run {
                    told["resourceVersion"] = object.resource_version().into();
                }
            }
            if detail.diff {
                told["diff"] = differences(done).into_iter().map(Difference::into_json).collect();
            }
            if detail.object
                && let Some(object) = done.object()
            {
                let mut value = Value::Object(object.0.clone());
                if done.secret {
                    diff::redact(&mut value);
                }
                told["object"] = value;
            }
            if !done.warnings.is_empty() {
                told["warnings"] = done.warnings.clone().into();
            }
        }
    }
    told
}

fn differences(done: &Done) -> Vec<Difference> {
    let mut found = match done.result {
        "unchanged" | "deleted" => Vec::new(),
        _ => diff::between_objects(done.before.as_ref(), done.after.as_ref()),
    };
    if done.before.is_none() {
        // What the server says of every new object is no news.
        let is_news = |difference: &Difference| {
            !matches!(
                difference.shown_path().as_str(),
                "metadata.uid"
                    | "metadata.creationTimestamp"
                    | "apiVersion"
                    | "kind"
                    | "metadata.name"
                    | "metadata.namespace"
            )
        };
        found.retain(is_news);
    }
    match done.secret {
        true => diff::redacted(found),
        false => found,
    }
}

/// Why a transaction can't be, all of it.
pub fn failure(tried: &[Tried]) -> Status {
    let failed: Vec<(&Tried, &Status)> =
        tried.iter().filter_map(|tried| Some((tried, tried.outcome.as_ref().err()?))).collect();
    let mut agreed = failed.first().map(|(_, status)| (status.code, status.reason));
    if failed.iter().any(|(_, status)| Some((status.code, status.reason)) != agreed) {
        agreed = None;
    }
    let (code, reason) = agreed.unwrap_or((422, "Invalid"));
    let say = |(tried, status): &(&Tried, &Status)| {
        format!("items[{}] ({}): {}", tried.index, tried.named.shown(), status.message)
    };
    let mut said: Vec<String> = failed.iter().take(NAMED).map(say).collect();
    if failed.len() > NAMED {
        said.push(format!("and {} more", failed.len() - NAMED));
    }
    let of = if tried.len() == 1 { "item" } else { "items" };
    let message =
        format!("{} of {} {of} failed: {}; nothing was changed", failed.len(), tried.len(), said.join("; "));
    let causes = failed.iter().flat_map(|(tried, status)| causes(tried, status)).take(MOST_CAUSES);
    Status::failure(code, reason, message).about(Details {
        group: GROUP.to_owned(),
        kind: "transactions".to_owned(),
        causes: causes.collect(),
        ..Details::default()
    })
}

fn causes(tried: &Tried, status: &Status) -> Vec<Cause> {
    let at = format!("spec.items[{}]", tried.index);
    let own = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    let shown = tried.named.shown();
    if own.is_empty() {
        return vec![Cause {
            reason: status.reason.to_owned(),
            message: format!("{shown}: {}", status.message),
            field: at,
        }];
    }
    let cause = |cause: &Cause| Cause {
        reason: cause.reason.clone(),
        message: format!("{shown}: {}", cause.message),
        field: match cause.field.is_empty() {
            true => at.clone(),
            false => format!("{at}.object.{}", cause.field),
        },
    };
    own.iter().map(cause).collect()
}

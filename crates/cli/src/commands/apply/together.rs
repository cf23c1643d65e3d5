//! All objects in one transaction.

use std::io::Write;
use std::time::{Duration, Instant};

use client::Transaction;
use serde_json::{Value, json};

use super::{How, Outcome, Prepared, broken_off, conflict};
use crate::client::Client;
use crate::failure::{Failure, Refusal};
use crate::session::Session;

/// How long a transaction may take before progress is shown.
const LONG: Duration = Duration::from_millis(800);

/// Applies all objects in one transaction.
pub async fn apply(
    how: &How<'_>,
    prepared: &[Prepared],
    with_objects: bool,
    session: &mut Session,
) -> Result<(Vec<Outcome>, String), Failure> {
    let client = session.client().await?;
    let ask = transaction(how, prepared)
        .request()
        .query_if("dryRun", how.dry_run.parameter())
        .query_if("object", with_objects.then_some("true"));
    let asked = client.value(&ask);
    let answer = match waited_for(asked, prepared.len(), session).await {
        Err(failure) if failure.is_unanswered() => {
            return broken_off::find_out(failure, ask, how, prepared.len(), session).await;
        }
        Err(failure) => return Err(located(failure, prepared, &client).await),
        Ok(answer) => answer,
    };
    let status = &answer["status"];
    if status["refused"] == true {
        let failures = failed_applies(status, prepared, &client).await;
        return Err(Failure::all(failures).err().unwrap_or(Failure::Exit(1)));
    }
    Ok((outcomes(status), summary(status, prepared.len(), how)))
}

/// The result of each item.
pub fn outcomes(status: &Value) -> Vec<Outcome> {
    let items = status["items"].as_array().into_iter().flatten();
    let outcome = |item: &Value| Outcome {
        result: item["result"].as_str().unwrap_or("").to_owned(),
        object: match &item["object"] {
            Value::Null => json!({"apiVersion": item["apiVersion"], "kind": item["kind"],
                "metadata": {"name": item["name"], "namespace": item["namespace"]}}),
            object => object.clone(),
        },
    };
    items.map(outcome).collect()
}

/// The body of a transaction, or of a plan.
pub fn transaction(how: &How<'_>, prepared: &[Prepared]) -> Transaction {
    let transaction = Transaction::new()
        .managed_by(how.field_manager)
        .force(how.force)
        .query("fieldValidation", how.validation);
    let transaction = match how.message {
        Some(message) => transaction.because(message),
        None => transaction,
    };
    prepared.iter().fold(transaction, |transaction, one| {
        transaction.item(json!({"operation": "apply", "object": one.manifest.object}))
    })
}

fn summary(status: &Value, count: usize, how: &How<'_>) -> String {
    let number = |what: &str| status["summary"][what].as_u64().unwrap_or(0);
    let parts: Vec<String> = ["created", "configured", "unchanged", "deleted"]
        .into_iter()
        .filter(|what| number(what) > 0)
        .map(|what| format!("{} {what}", number(what)))
        .collect();
    let revision = status["revision"].as_str().unwrap_or("");
    if parts.len() <= 1 && number("unchanged") > 0 {
        return format!("{count} objects unchanged");
    }
    match how.dry_run.is_real() {
        true => format!("{count} objects in one commit (revision {revision}): {}", parts.join(", ")),
        false => format!("{count} objects would be one commit: {}", parts.join(", ")),
    }
}

/// Waits for an answer, and shows progress on a terminal.
pub async fn waited_for<T>(
    asked: impl Future<Output = Result<T, Failure>>,
    count: usize,
    session: &mut Session,
) -> Result<T, Failure> {
    if !session.console.err_is_terminal {
        return asked.await;
    }
    let begun = Instant::now();
    let mut asked = std::pin::pin!(asked);
    let mut has_told = false;
    loop {
        match tokio::time::timeout(LONG, &mut asked).await {
            Ok(answer) => {
                if has_told {
                    let _ = write!(session.console.err, "\r\u{1b}[K");
                }
                return answer;
            }
            Err(_) => {
                has_told = true;
                let seconds = begun.elapsed().as_secs();
                let _ = write!(session.console.err, "\rapplying {count} objects, {seconds} s");
                let _ = session.console.err.flush();
            }
        }
    }
}

/// A rejected transaction, object by object, each with the line of the fault.
async fn located(failure: Failure, prepared: &[Prepared], client: &Client) -> Failure {
    let Some(refusal) = failure.refusal() else { return failure };
    let mut failures: Vec<(usize, Vec<Value>)> = Vec::new();
    for cause in refusal.causes() {
        let Some((index, field)) = cause["field"].as_str().and_then(item_and_field) else { continue };
        let mut cause = cause.clone();
        cause["field"] = field.into();
        match failures.iter_mut().find(|(known, _)| *known == index) {
            Some((_, causes)) => causes.push(cause),
            None => failures.push((index, vec![cause])),
        }
    }
    if failures.is_empty() {
        return failure;
    }
    let count = failures.len();
    let mut told: Vec<Failure> = Vec::new();
    for (index, causes) in failures {
        let Some(one) = prepared.get(index) else { continue };
        let named = [&one.name, &format!("{}/{}", one.namespace.as_deref().unwrap_or(""), one.name)]
            .map(|name| format!("{} {name}: ", one.resource.kind));
        let lines = causes.iter().map(|cause| {
            let message = cause["message"].as_str().unwrap_or("");
            // The object is named by the line already.
            let message = named.iter().find_map(|name| message.strip_prefix(name)).unwrap_or(message);
            match cause["field"].as_str() {
                None | Some("") => message.to_owned(),
                Some(field) => format!("{field}: {message}"),
            }
        });
        let line = format!("{}: {}", one.manifest.name(), lines.collect::<Vec<_>>().join("; "));
        let refusal =
            Refusal { status: json!({"details": {"causes": causes}, "message": line}), during: None };
        let failure = one.manifest.located(Failure::other(line), &refusal);
        told.push(conflict::explain(failure, &causes, one, client).await);
    }
    told.push(Failure::Bare(format!(
        "{count} of {} objects can't be applied; nothing was changed",
        prepared.len()
    )));
    Failure::Several(told)
}

/// The failing items of a dry run.
pub fn failed_items(status: &Value) -> Vec<Failure> {
    failed(status).map(refused).collect()
}

/// The same for items that apply objects: each with its lines, and with the owners of fields in conflict.
pub async fn failed_applies(status: &Value, prepared: &[Prepared], client: &Client) -> Vec<Failure> {
    let mut failures = Vec::new();
    for item in failed(status) {
        let index = item["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let Some(one) = index.and_then(|index| prepared.get(index)) else {
            failures.push(refused(item));
            continue;
        };
        let failure = one.manifest.shown(refused(item).during(&names(item)));
        let causes = item["error"]["details"]["causes"].as_array().map_or(&[][..], Vec::as_slice);
        failures.push(conflict::explain(failure, causes, one, client).await);
    }
    failures
}

fn failed(status: &Value) -> impl Iterator<Item = &Value> {
    let items = status["items"].as_array().into_iter().flatten();
    items.filter(|item| item["result"] == "failed")
}

fn refused(item: &Value) -> Failure {
    Failure::Server(Box::new(Refusal { status: item["error"].clone(), during: None }))
}

fn names(item: &Value) -> String {
    crate::names::of_object(
        &json!({"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": {"name": item["name"]}}),
    )
}

/// The item and the field that `spec.items[3].object.spec.width` names.
fn item_and_field(path: &str) -> Option<(usize, &str)> {
    let rest = path.strip_prefix("spec.items[")?;
    let (index, rest) = rest.split_once(']')?;
    let field = rest.strip_prefix(".object").unwrap_or(rest);
    Some((index.parse().ok()?, field.strip_prefix('.').unwrap_or(field)))
}

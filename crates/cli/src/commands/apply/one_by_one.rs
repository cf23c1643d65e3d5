//! One object after the other: a single one, and servers that know no transactions.

use std::io::Write;

use http::Method;
use serde_json::Value;

use super::{How, Outcome, Prepared, conflict, tell};
use crate::client::{Ask, Client};
use crate::failure::Failure;
use crate::session::Session;

/// Applies each object; one that fails does not keep the others from going on.
pub async fn apply(
    how: &How<'_>,
    prepared: &[Prepared],
    is_silent: bool,
    session: &mut Session,
) -> Result<Vec<Outcome>, Failure> {
    let client = session.client().await?;
    let shows_progress =
        session.console.err_is_terminal && !session.console.out_is_terminal && prepared.len() > 20;
    let mut outcomes = Vec::new();
    let mut failures = Vec::new();
    for (at, one) in prepared.iter().enumerate() {
        match apply_one(how, one, &client).await {
            Ok(outcome) => {
                if !is_silent {
                    tell(&one.manifest, &outcome, how, session)?;
                }
                outcomes.push(outcome);
            }
            Err(failure) => failures.push(failure),
        }
        if shows_progress {
            let _ = write!(session.console.err, "\r{} of {} applied", at + 1, prepared.len());
        }
    }
    if shows_progress {
        let _ = writeln!(session.console.err);
    }
    session.console.flush()?;
    Failure::all(failures).map(|()| outcomes)
}

async fn apply_one(how: &How<'_>, one: &Prepared, client: &Client) -> Result<Outcome, Failure> {
    let source = &one.manifest.source.name;
    if one.name.is_empty() {
        return Err(Failure::other(format!(
            "error when applying \"{source}\": from {}: cannot use generate name with apply",
            one.manifest.object["metadata"]["generateName"].as_str().unwrap_or("")
        )));
    }
    let before = match client.value(&Ask::get(one.path())).await {
        Ok(before) => Some(before),
        Err(failure) if failure.is_not_found() => None,
        Err(failure) => {
            return Err(
                failure.during(&format!("error when retrieving current configuration of \"{source}\""))
            );
        }
    };
    if how.dry_run.is_client() {
        let result = if before.is_some() { "configured" } else { "created" };
        return Ok(Outcome { result: result.to_owned(), object: one.manifest.object.clone() });
    }
    let ask = Ask::new(Method::PATCH, one.path())
        .query("fieldManager", how.field_manager)
        .query("fieldValidation", how.validation)
        .query_if("force", how.force.then_some("true"))
        .query_if("dryRun", how.dry_run.parameter())
        .message(how.message)
        .body("application/apply-patch+yaml", krm::encode::to_json(&one.manifest.object));
    let object = match client.value(&ask).await {
        Ok(object) => object,
        Err(failure) => return Err(explained(failure, one, client).await),
    };
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let result = match &before {
        None => "created",
        Some(before) if is_same(before, &object) || version(before) == version(&object) => "unchanged",
        Some(_) => "configured",
    };
    Ok(Outcome { result: result.to_owned(), object })
}

/// Whether nothing but the books changed.
fn is_same(before: &Value, after: &Value) -> bool {
    let plain = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.retain(|field, _| !matches!(field.as_str(), "managedFields" | "resourceVersion"));
        }
        object
    };
    plain(before) == plain(after)
}

/// A conflict with who owns the fields; anything else with the file it was read from.
async fn explained(failure: Failure, one: &Prepared, client: &Client) -> Failure {
    let refusal =
        failure.refusal().filter(|refusal| refusal.reason() == "Conflict" && refusal.causes().count() > 0);
    match refusal.cloned() {
        Some(refusal) => {
            let causes: Vec<Value> = refusal.causes().cloned().collect();
            let failure = one.manifest.located(Failure::other(refusal.message()), &refusal);
            conflict::explain(failure, &causes, one, client).await
        }
        None => one
            .manifest
            .shown(failure.during(&format!("error when applying \"{}\"", one.manifest.source.name))),
    }
}

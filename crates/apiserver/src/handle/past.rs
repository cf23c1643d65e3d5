//! Handlers of history, undo and restore of one object.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use krm::decode;
use krm::status::Status;
use serde_json::Value;

use super::resource::{Asked, respond};
use crate::answer::Answer;
use crate::call::Call;
use crate::past::undo::{self, Back, OVERTAKEN, Target};
use crate::past::{history, restore, rollout};
use crate::request::body::Format;
use crate::request::query::WriteOptions;
use crate::write::{self, Written};

/// How long a reason for a change may be.
const LONGEST_MESSAGE: usize = 1024;
/// How often an undo is counted back again because somebody else was faster.
const TRIES: usize = 8;

/// `GET …/history`.
pub async fn tell_history(call: &Call, asked: &Asked) -> Result<Answer, Status> {
    call.may("get", &call.name)?;
    let accept = asked.accept(call)?;
    history::answer(call, &accept, &asked.query).await
}

/// `GET …/rollout-history`.
pub async fn tell_rollouts(call: &Call, asked: &Asked) -> Result<Answer, Status> {
    call.may("get", &call.name)?;
    let accept = asked.accept(call)?;
    rollout::answer(call, &accept, &asked.query).await
}

/// `POST …/undo`.
pub async fn undo(mut call: Call, asked: &Asked) -> Result<Answer, Status> {
    call.may("update", &call.name)?;
    call.subresource.clear();
    let accept = asked.accept(&call)?;
    let options = WriteOptions::read(&asked.query, "UpdateOptions", false)?;
    let body = options_body(&asked.headers, &asked.body, "UndoOptions")?;
    let target = target(&body)?;
    explain(&mut call, &body)?;
    let expected = text(&body, "resourceVersion")?;
    let call = Arc::new(call);
    for _ in 0..TRIES {
        let back = Back::find(&call, &target).await?;
        match write_back(&call, &options, back, expected.clone()).await {
            Err(status) if status.reason == OVERTAKEN => {}
            written => return respond(&call, &accept, written?),
        }
    }
    Err(Status::too_many_requests("the object is changed too frequently; please try again", 1))
}

async fn write_back(
    call: &Arc<Call>,
    options: &WriteOptions,
    back: Back,
    expected: Option<String>,
) -> Result<Written, Status> {
    let decided = options.clone();
    let written = write::run(call, options, move |call, view| {
        let proposal = undo::propose(call, view, &decided, &back)?;
        let found = proposal.old.as_ref().map_or("", |old| old.resource_version());
        match &expected {
            Some(expected) if expected != found => {
                let why = "the object has been modified; check its history and try again";
                Err(Status::conflict(&call.kind.resource(), &call.name, why))
            }
            _ => proposal.settle(call, view),
        }
    });
    written.await
}

/// `POST …/restore`.
pub async fn bring_back(mut call: Call, asked: &Asked) -> Result<Answer, Status> {
    call.may("create", "")?;
    call.subresource.clear();
    let accept = asked.accept(&call)?;
    let options = WriteOptions::read(&asked.query, "CreateOptions", false)?;
    let body = options_body(&asked.headers, &asked.body, "RestoreOptions")?;
    explain(&mut call, &body)?;
    let state = restore::find(&call, text(&body, "revision")?.as_deref()).await?;
    let call = Arc::new(call);
    let decided = options.clone();
    let written = write::run(&call, &options, move |call, view| {
        restore::propose(call, view, &decided, &state)?.settle(call, view)
    });
    respond(&call, &accept, written.await?)
}

/// How far back an undo goes, as a body or an item of a transaction says.
pub fn target(body: &Value) -> Result<Target, Status> {
    let steps = match body.get("steps") {
        None | Some(Value::Null) => None,
        Some(value) => match value.as_u64().and_then(|steps| u32::try_from(steps).ok()) {
            Some(steps) if steps > 0 => Some(steps),
            _ => return Err(Status::bad_request(format!("steps: {value} must be a positive integer"))),
        },
    };
    let generation = match body.get("toGeneration") {
        None | Some(Value::Null) => None,
        Some(value) => match value.as_i64() {
            Some(number) if number > 0 => Some(number),
            _ => {
                return Err(Status::bad_request(format!("toGeneration: {value} must be a positive integer")));
            }
        },
    };
    match (text(body, "toRevision")?, steps, generation) {
        (Some(revision), None, None) => Ok(Target::Revision(revision)),
        (None, None, Some(generation)) => Ok(Target::Generation(generation)),
        (None, steps, None) => Ok(Target::Steps(steps.unwrap_or(1))),
        _ => Err(Status::bad_request("toRevision, toGeneration and steps are mutually exclusive")),
    }
}

/// Takes the reason for a change from the body, if it gives one.
fn explain(call: &mut Call, body: &Value) -> Result<(), Status> {
    if let Some(message) = text(body, "message")? {
        call.message = Some(message_of(&message)?);
    }
    Ok(())
}

/// A reason for a change, unless it is too long.
pub fn message_of(text: &str) -> Result<String, Status> {
    match text.len() > LONGEST_MESSAGE {
        true => Err(Status::bad_request(format!(
            "the change message has {} bytes; at most {LONGEST_MESSAGE} are allowed",
            text.len()
        ))),
        false => Ok(text.to_owned()),
    }
}

/// The reason for a change that the header gives: UTF-8, or that percent-encoded.
pub fn message_in(headers: &HeaderMap) -> Result<Option<String>, Status> {
    let Some(value) = headers.get("groundplane-change-message") else { return Ok(None) };
    let Ok(raw) = std::str::from_utf8(value.as_bytes()) else {
        return Err(Status::bad_request("the header Groundplane-Change-Message is not UTF-8"));
    };
    let text = crate::request::path::decode(raw).unwrap_or_else(|| raw.to_owned());
    if text.is_empty() {
        return Ok(None);
    }
    message_of(&text).map(Some)
}

/// A text of a body; an empty one says nothing.
pub fn text(body: &Value, field: &str) -> Result<Option<String>, Status> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(other) => Err(Status::bad_request(format!("{field}: {other} must be a string"))),
    }
}

/// The body of a request that may do without one.
fn options_body(headers: &HeaderMap, body: &Bytes, kind: &str) -> Result<Value, Status> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    let format = match Format::of(headers)? {
        Format::Json => decode::Format::Json,
        Format::Yaml => decode::Format::Yaml,
        Format::Protobuf => return Err(Status::unsupported_media_type("application/json, application/yaml")),
    };
    let decoded = decode::read(body, format).map_err(|refusal| Status::bad_request(refusal.why()))?;
    if !matches!(decoded.kind.as_str(), "") && decoded.kind != kind {
        return Err(Status::bad_request(format!(
            "the request body has kind {}; expected {kind}",
            decoded.kind
        )));
    }
    Ok(Value::Object(decoded.object))
}

//! Hosts/Sync: gathers observations into batches.

use std::time::Duration;

use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, MethodDescriptor, Value};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::Streaming;

use super::{Messages, unary};
use crate::caller::Caller;
use crate::collection::{Collection, Face};
use crate::failure::Failure;
use crate::objects::{Objects, Observation, Outcome, Synced};

/// Observations of one batch, at most. One commit takes far more; this bounds how long others wait for it.
const MOST: usize = 200;
/// How long a batch waits for more observations.
const WAITS: Duration = Duration::from_millis(20);

/// Takes observations until the client has sent all of them.
pub fn answer(
    caller: Caller,
    face: Face,
    collection: &'static Collection,
    method: &MethodDescriptor,
    mut requests: Streaming<DynamicMessage>,
) -> Result<Messages, tonic::Status> {
    let objects = Objects::of(caller, face, collection)?;
    let output = method.output();
    let (sender, messages) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            let (batch, end) = gather(&mut requests).await;
            if !batch.is_empty() {
                let synced = objects.sync(batch).await;
                if sender.send(Ok(response(&output, &synced))).await.is_err() {
                    return;
                }
            }
            match end {
                End::More => {}
                End::Complete => return,
                End::Failed(status) => {
                    let _ = sender.send(Err(status)).await;
                    return;
                }
            }
        }
    });
    Ok(Box::pin(ReceiverStream::new(messages)))
}

enum End {
    More,
    Complete,
    Failed(tonic::Status),
}

/// Waits for an observation, and takes those that follow closely.
async fn gather(requests: &mut Streaming<DynamicMessage>) -> (Vec<Observation>, End) {
    let mut batch = Vec::new();
    while batch.len() < MOST {
        let next = match batch.is_empty() {
            true => requests.message().await,
            false => match tokio::time::timeout(WAITS, requests.message()).await {
                Ok(next) => next,
                Err(_) => return (batch, End::More),
            },
        };
        match next {
            Ok(Some(request)) => match observation(&request) {
                Ok(observation) => batch.push(observation),
                Err(failure) => return (batch, End::Failed(failure.into())),
            },
            Ok(None) => return (batch, End::Complete),
            Err(status) => return (batch, End::Failed(status)),
        }
    }
    (batch, End::More)
}

fn observation(request: &DynamicMessage) -> Result<Observation, Failure> {
    let object = request.get_field_by_name("object").map(|object| object.into_owned());
    match object {
        Some(Value::Message(object)) if request.has_field_by_name("object") => {
            Ok(Observation { object, mask: unary::mask(request) })
        }
        _ => Err(Failure::invalid("field 'object': an object is required")),
    }
}

fn response(output: &MessageDescriptor, synced: &[Synced]) -> DynamicMessage {
    let mut response = DynamicMessage::new(output.clone());
    let of = output.get_field_by_name("results").map(|field| field.kind());
    let Some(Kind::Message(of)) = of else { return response };
    let results = synced.iter().map(|synced| {
        let mut result = DynamicMessage::new(of.clone());
        let mut set = |field: &str, value: Value| {
            let _ = result.try_set_field_by_name(field, value);
        };
        set("id", Value::String(synced.id.clone()));
        let outcome = match &synced.outcome {
            Ok(Outcome::Created) => 1,
            Ok(Outcome::Updated) => 2,
            Ok(Outcome::Unchanged) => 3,
            Err(failure) => {
                set("code", Value::I32(failure.code as i32));
                set("message", Value::String(failure.message.clone()));
                4
            }
        };
        set("outcome", Value::EnumNumber(outcome));
        Value::Message(result)
    });
    let _ = response.try_set_field_by_name("results", Value::List(results.collect()));
    response
}

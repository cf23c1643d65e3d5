//! Health of the server, as gRPC asks for it.

use std::time::Duration;

use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, Value};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use super::{Messages, Service};
use crate::caller::Caller;
use crate::failure::Failure;

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;
/// How often a watch looks.
const EVERY: Duration = Duration::from_secs(2);

/// Answers a check.
pub async fn check(
    caller: &Caller,
    request: &DynamicMessage,
    output: MessageDescriptor,
) -> Result<DynamicMessage, Failure> {
    let service = request.get_field_by_name("service");
    let service = service.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    if !service.is_empty() && Service::of(&service).is_none() {
        return Err(Failure::new(Code::NotFound, format!("unknown service {service}")));
    }
    Ok(message(output, state(caller).await))
}

/// Tells the health whenever it changes.
pub fn watch(caller: Caller, method: &MethodDescriptor) -> Messages {
    let (sender, messages) = mpsc::channel(1);
    let output = method.output();
    tokio::spawn(async move {
        let mut told = None;
        loop {
            let now = state(&caller).await;
            if told != Some(now) {
                if sender.send(Ok(message(output.clone(), now))).await.is_err() {
                    return;
                }
                told = Some(now);
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = sender.closed() => return,
            }
        }
    });
    Box::pin(ReceiverStream::new(messages))
}

async fn state(caller: &Caller) -> i32 {
    let is_healthy = caller.api.is_following() && caller.api.store().healthy().await.is_ok();
    if is_healthy { SERVING } else { NOT_SERVING }
}

fn message(output: MessageDescriptor, state: i32) -> DynamicMessage {
    let mut message = DynamicMessage::new(output);
    let _ = message.try_set_field_by_name("status", Value::EnumNumber(state));
    message
}

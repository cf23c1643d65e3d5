//! A gRPC call whose requests are sent at once and whose responses are read as they come.

use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use client::{Client, Error, Request};
use http::Method;
use http_body_util::BodyExt;
use prost::Message;

/// How long a call may take before the next response.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The server could not be asked, or refused the request.
    #[error(transparent)]
    Client(#[from] Error),
    /// The call ended with a status.
    #[error("{message} (gRPC status {code})")]
    Status {
        /// The code.
        code: i32,
        /// The message.
        message: String,
    },
    /// The answer is not what gRPC says.
    #[error("the answer of {0} is not gRPC")]
    Shape(String),
}

/// Calls a method with messages, and hands out the responses.
pub async fn call<Q: Message, A: Message + Default>(
    client: &Client,
    path: &str,
    requests: &[Q],
    headers: &[(&'static str, &str)],
) -> Result<Vec<A>, CallError> {
    let mut body = BytesMut::new();
    for request in requests {
        body.put_u8(0);
        body.put_u32(u32::try_from(request.encoded_len()).unwrap_or(u32::MAX));
        // A BytesMut grows, so that encoding can't fail.
        let _ = request.encode(&mut body);
    }
    let mut request =
        Request::new(Method::POST, path).body("application/grpc", body.freeze()).header("te", "trailers");
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let mut answer = client.open(&request).await?;
    let shape = || CallError::Shape(path.to_owned());
    let (mut buffer, mut responses, mut status) = (BytesMut::new(), Vec::new(), None);
    loop {
        let frame = tokio::time::timeout(PATIENCE, answer.frame()).await;
        let Ok(frame) = frame else {
            return Err(CallError::Status { code: 4, message: "no answer in time".to_owned() });
        };
        let Some(frame) = frame else { break };
        match frame.map_err(|_| shape())?.into_data() {
            Ok(data) => buffer.extend_from_slice(&data),
            Err(frame) => status = frame.into_trailers().ok(),
        }
        while let Some(message) = take(&mut buffer) {
            responses.push(A::decode(message).map_err(|_| shape())?);
        }
    }
    let text = |name: &str| Some(status.as_ref()?.get(name)?.to_str().ok()?.to_owned());
    match text("grpc-status").and_then(|code| code.parse().ok()) {
        Some(0) => Ok(responses),
        Some(code) => Err(CallError::Status { code, message: text("grpc-message").unwrap_or_default() }),
        None => Err(shape()),
    }
}

/// Takes a whole message out of what has come.
fn take(buffer: &mut BytesMut) -> Option<Bytes> {
    let length = buffer.get(1..5)?;
    let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
    if buffer.len() < 5 + length {
        return None;
    }
    buffer.advance(5);
    Some(buffer.split_to(length).freeze())
}

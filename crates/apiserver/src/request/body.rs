//! Reads a request body, within a time and size limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body::Body;
use http_body_util::BodyExt;
use krm::status::Status;

/// How long a body may be, of all but transactions and plans.
pub const LIMIT: usize = 3 << 20;
/// How long its bytes may stay away.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the whole body, of at most `limit` bytes.
pub async fn read<B>(headers: &HeaderMap, body: B, limit: usize) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = body;
    if declared.is_some_and(|length: usize| length > limit) {
        throw_away(&mut body).await;
        return Err(too_large(limit));
    }
    let mut whole = BytesMut::with_capacity(declared.unwrap_or(0).min(LIMIT));
    loop {
        let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
        let frame = frame.map_err(|_| Status::timeout("timed out while reading the request body", 1))?;
        let Some(frame) = frame else { return Ok(whole.freeze()) };
        let frame = frame
            .map_err(|error| Status::bad_request(format!("failed to read the request body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            throw_away(&mut body).await;
            return Err(too_large(limit));
        }
        whole.extend_from_slice(&data);
    }
}

/// Reads some more of a body that is too large, so that a client that sends before it listens gets to hear why.
async fn throw_away<B>(body: &mut B)
where
    B: Body<Data = Bytes> + Unpin,
{
    let reading = async {
        let mut thrown = 0;
        while let Some(Ok(frame)) = body.frame().await {
            thrown += frame.data_ref().map_or(0, Bytes::len);
            if thrown > 4 * LIMIT {
                return;
            }
        }
    };
    // Whoever takes longer has had enough attention.
    let _ = tokio::time::timeout(Duration::from_secs(5), reading).await;
}

fn too_large(limit: usize) -> Status {
    Status::too_large(format!("Request entity too large: limit is {limit}"))
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Kubernetes' protobuf.
    Protobuf,
}

impl Format {
    /// What the request says; JSON when it says nothing.
    pub fn of(headers: &HeaderMap) -> Result<Format, Status> {
        match media_type(headers) {
            None | Some("application/json") => Ok(Format::Json),
            Some("application/yaml") => Ok(Format::Yaml),
            Some("application/vnd.kubernetes.protobuf") => Ok(Format::Protobuf),
            Some(_) => Err(Status::unsupported_media_type(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        }
    }
}

/// The media type of the body, without its parameters.
pub fn media_type(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or_default().trim()).filter(|media| !media.is_empty())
}

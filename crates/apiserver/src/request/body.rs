//! Reads a request body, within a time and size limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body::Body;
use http_body_util::BodyExt;
use krm::status::Status;
use tokio::time::Instant;

use crate::limits::HeldBytes;

/// How long a body may be, of all but transactions and plans.
pub const LIMIT: usize = 3 << 20;
/// How long a body may be of those who may write nothing: enough to ask what would be allowed.
pub const LIMIT_WITHOUT_RIGHTS: usize = 64 << 10;
/// How long a body may take in any case.
const GRACE: Duration = Duration::from_secs(20);
/// Bytes in a second that it must be sent with on average, beyond that.
const SLOWEST: u64 = 16 << 10;
/// Memory that a value of a parsed body takes, about.
const VALUE_BYTES: usize = 64;
/// Values that a body may have, of all but transactions and plans.
const MOST_VALUES: usize = 600_000;
/// Values that a transaction or a plan may have.
const MOST_VALUES_OF_MANY: usize = 3_000_000;

/// Reads the whole body, of at most `limit` bytes, as long as there is room for it in memory.
///
/// Whoever sends it slower than [`SLOWEST`] is cut off: the time that a body may take grows with what was sent of it.
pub async fn read<B>(
    headers: &HeaderMap,
    body: B,
    limit: usize,
    held: &mut HeldBytes,
) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = body;
    if declared.is_some_and(|length: usize| length > limit) {
        return Err(too_large(limit));
    }
    let begun = Instant::now();
    // What is only announced takes no memory.
    let mut whole = BytesMut::with_capacity(declared.unwrap_or(0).min(LIMIT_WITHOUT_RIGHTS));
    loop {
        let deadline = begun + most_time(whole.len() as u64);
        let frame = tokio::time::timeout_at(deadline, body.frame()).await;
        let frame = frame.map_err(|_| Status::timeout("timed out while reading the request body", 1))?;
        let Some(frame) = frame else { break };
        let frame = frame
            .map_err(|error| Status::bad_request(format!("failed to read the request body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        held.grow_to(whole.len() + data.len())?;
        whole.extend_from_slice(&data);
    }
    held.is_complete();
    let whole = whole.freeze();
    weigh(headers, &whole, limit, held)?;
    Ok(whole)
}

/// How long a body may have taken of which so many bytes were sent.
pub fn most_time(sent: u64) -> Duration {
    GRACE + Duration::from_secs(sent / SLOWEST)
}

/// Counts what a body is parsed into, before it is.
fn weigh(headers: &HeaderMap, whole: &Bytes, limit: usize, held: &mut HeldBytes) -> Result<(), Status> {
    // The fewest bytes that a value takes are two.
    let most = if limit > LIMIT { MOST_VALUES_OF_MANY } else { MOST_VALUES };
    if whole.len() < LIMIT_WITHOUT_RIGHTS {
        return Ok(());
    }
    let values = match media_type(headers) {
        Some("application/vnd.kubernetes.protobuf") => whole.len() / 4,
        _ => krm::body::count_values(whole),
    };
    if values > most {
        return Err(Status::too_large(format!(
            "the request body has about {values} values; at most {most} are allowed: send several smaller requests"
        )));
    }
    held.grow_to(whole.len().saturating_add(values.saturating_mul(VALUE_BYTES)))
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

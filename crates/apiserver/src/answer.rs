//! HTTP responses: bodies, headers and streams.

pub mod gzip;
pub mod list;
pub mod object;
pub mod table;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use krm::status::Status;

use crate::call::Call;
use crate::request::accept::{Accept, Media};

/// The body of an answer.
pub type Body = UnsyncBoxBody<Bytes, Aborted>;
/// An answer.
pub type Answer = Response<Body>;

/// Why an answer ends before it is complete. The client sees that it was cut off: over HTTP/2 the stream is reset, over
/// HTTP/1.1 the connection is closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the response was aborted: {0}")]
pub struct Aborted(pub String);

/// A body of these bytes.
pub fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A body without bytes.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// An answer of these bytes.
pub fn bytes(code: u16, content_type: &'static str, bytes: impl Into<Bytes>) -> Answer {
    stream(code, content_type, whole(bytes))
}

/// An answer whose bytes come as they are made.
pub fn stream(code: u16, content_type: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    // Answers change from one moment to the next, and some are secret.
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    answer
}

/// How many bytes of text are gathered before they are sent.
const PIECE: usize = 64 << 10;

/// Text that is made while it is sent: the next part is made when the one before was taken.
pub fn pieces(mut parts: impl Iterator<Item = String> + Send + 'static) -> Body {
    let chunks = std::iter::from_fn(move || {
        let mut chunk = parts.next()?;
        while chunk.len() < PIECE {
            match parts.next() {
                Some(part) => chunk.push_str(&part),
                None => break,
            }
        }
        Some(Ok::<_, Aborted>(http_body::Frame::data(Bytes::from(chunk))))
    });
    http_body_util::StreamBody::new(futures_util::stream::iter(chunks)).boxed_unsync()
}

/// JSON.
pub fn json(code: u16, body: impl Into<Bytes>) -> Answer {
    bytes(code, "application/json", body)
}

/// Text.
pub fn text(code: u16, body: impl Into<Bytes>) -> Answer {
    bytes(code, "text/plain; charset=utf-8", body)
}

/// There is nothing at this path at all.
pub fn page_not_found() -> Answer {
    text(404, "404 page not found\n")
}

/// Why a request failed.
pub fn failure(status: &Status) -> Answer {
    failure_as(&Accept::default(), status)
}

/// Why a request failed, in the form that its answer was to have.
pub fn failure_as(accept: &Accept, status: &Status) -> Answer {
    let code = if status.code == 0 { 200 } else { status.code };
    let mut answer = match (accept.media, accept.pretty) {
        (Media::Json, false) => json(code, status.to_json()),
        _ => object::value(accept, code, &serde_json::to_value(status).unwrap_or_default()),
    };
    let seconds = status.details.as_ref().and_then(|details| details.retry_after_seconds);
    if let Some(seconds) = seconds {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

/// The same answer, of whose bytes somebody takes note.
pub async fn kept(answer: Answer, note: impl FnOnce(&Bytes)) -> Answer {
    let (head, body) = answer.into_parts();
    let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    note(&bytes);
    Response::from_parts(head, whole(bytes))
}

/// The Go type that holds a kind, as messages name it; `open` is the one for kinds that are no Go types.
pub fn go_type(call: &Call, kind: &str, open: &str) -> String {
    match call.kind.strategic {
        true => format!("*{}.{kind}", crate::write::admit::go_package(&call.kind.group)),
        false => format!("*unstructured.{open}"),
    }
}

/// Adds warnings, each once, as people see them.
pub fn warn(answer: &mut Answer, warnings: &[String]) {
    let mut said = std::collections::BTreeSet::new();
    for warning in warnings.iter().filter(|warning| said.insert(warning.as_str())) {
        let quoted = krm::field::quote(&warning.replace(['\n', '\r'], " "));
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - {quoted}").as_bytes()) {
            answer.headers_mut().append(WARNING, value);
        }
    }
}

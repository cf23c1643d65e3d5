//! Compression of large responses, if the client accepts gzip.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;

use super::{Aborted, Answer, Body};

/// Answers that are smaller are sent as they are.
const WORTH_IT: u64 = 128 << 10;

/// The answer, compressed if the request asks for it and it is worth it.
pub fn compress(answer: Answer, request: &HeaderMap) -> Answer {
    let asked = request.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let asked = asked.flat_map(|value| value.split(',')).any(accepts_gzip);
    if !asked
        || answer.body().size_hint().lower() < WORTH_IT
        || answer.headers().contains_key(CONTENT_ENCODING)
    {
        return answer;
    }
    let (mut head, body) = answer.into_parts();
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    head.headers.remove(CONTENT_LENGTH);
    let encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
    Answer::from_parts(head, Zipped { body, encoder }.boxed_unsync())
}

fn accepts_gzip(coding: &str) -> bool {
    let mut parts = coding.split(';').map(str::trim);
    let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
    is_gzip && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0"))
}

/// A body that is compressed as it is sent.
struct Zipped {
    body: Body,
    /// Gone once everything was sent.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl HttpBody for Zipped {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        let this = self.get_mut();
        loop {
            let Some(encoder) = &mut this.encoder else { return Poll::Ready(None) };
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            let data = match frame {
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                None => {
                    // Writing into memory does not fail.
                    let rest = this.encoder.take().and_then(|encoder| encoder.finish().ok());
                    return Poll::Ready(rest.map(|rest| Ok(Frame::data(rest.into()))));
                }
                Some(Err(aborted)) => return Poll::Ready(Some(Err(aborted))),
            };
            let _ = encoder.write_all(&data);
            let made = std::mem::take(encoder.get_mut());
            if !made.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(made.into()))));
            }
        }
    }
}

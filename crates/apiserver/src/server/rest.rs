//! What is left of a request body when its request is answered.
//!
//! On HTTP/1.1 the next request comes after the body, so that it can't be read before all of the body is. A short rest is
//! read and thrown away; otherwise the answer says that the connection is closed, so that a client makes its next request on
//! another one instead of losing it.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT, HeaderValue};
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::answer::Answer;

/// Bytes of a rest that are worth reading, so that a client that sends before it listens gets to hear the answer.
const WORTH_READING: usize = 12 << 20;
/// How long that may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request body that leaves its rest behind when it is dropped.
pub(super) struct Tracked {
    body: Option<Incoming>,
    left: Option<Arc<Left>>,
    has_ended: bool,
}

/// Where the rest of a body is left.
#[derive(Default)]
struct Left {
    rest: Mutex<Option<Incoming>>,
    was_read: AtomicBool,
}

/// The rest of a body.
pub(super) struct Rest {
    left: Option<Arc<Left>>,
    waits_for_continue: bool,
}

impl Rest {
    /// The same request, and what will be left of its body.
    pub(super) fn of(request: Request<Incoming>) -> (Request<Tracked>, Rest) {
        let is_http1 = matches!(request.version(), Version::HTTP_10 | Version::HTTP_11);
        let left = (is_http1 && !request.body().is_end_stream()).then(Arc::<Left>::default);
        let waits_for_continue = request.headers().contains_key(EXPECT);
        let rest = Rest { left: left.clone(), waits_for_continue };
        (request.map(|body| Tracked { body: Some(body), left, has_ended: false }), rest)
    }

    /// Reads the rest if it is short; otherwise the answer says that the connection is closed.
    pub(super) async fn settle(self, mut answer: Answer) -> Answer {
        let Some(left) = self.left else { return answer };
        let rest = left.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(rest) = rest else { return answer };
        // A client that waits for "100 Continue" has sent nothing yet, and is not to be asked for it now.
        let is_unasked = self.waits_for_continue && !left.was_read.load(Ordering::Relaxed);
        // An answer that goes on does not wait for what its route did not care to read.
        let is_refused = answer.status().is_client_error() || answer.status().is_server_error();
        if !is_refused || is_unasked || !is_read_to_its_end(rest).await {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

async fn is_read_to_its_end(mut rest: Incoming) -> bool {
    let reading = async {
        let mut thrown = 0;
        while let Some(frame) = rest.frame().await {
            let Ok(frame) = frame else { return false };
            thrown += frame.data_ref().map_or(0, Bytes::len);
            if thrown > WORTH_READING {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap_or(false)
}

impl Body for Tracked {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(left) = &self.left {
            left.was_read.store(true, Ordering::Relaxed);
        }
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.has_ended = true;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended || self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if self.is_end_stream() {
            return;
        }
        if let Some(left) = &self.left {
            *left.rest.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
        }
    }
}

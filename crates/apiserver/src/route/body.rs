//! A request body that is read while it comes: bounded in size, and in how long its bytes may stay away.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use krm::status::Status;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};

use super::Rules;
use crate::request::body::most_time;

/// The body of a request to a route.
pub struct RequestBody {
    inner: UnsyncBoxBody<Bytes, BodyError>,
    left: u64,
    limit: u64,
    patience: Option<Duration>,
    /// When it began, where it has to be sent at some speed: not if its request goes on until it is ended.
    begun: Option<Instant>,
    /// Runs while the route waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
    faults: Faults,
    over: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// Why a body could not be read to its end. The request is over then, whatever the route does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It has more bytes than the route takes.
    #[error("Request entity too large: limit is {0}")]
    TooLarge(u64),
    /// Nothing came for too long.
    #[error("timed out while reading the request body: nothing was received for {0:?}")]
    Stalled(Duration),
    /// It comes too slowly.
    #[error("timed out while reading the request body: it is sent too slowly")]
    TooSlow,
    /// The connection failed.
    #[error("failed to read the request body: {0}")]
    Failed(String),
    /// The request has ended: it was answered, or its caller lost the right to it.
    #[error("the request is over")]
    Over,
}

impl From<BodyError> for Status {
    fn from(error: BodyError) -> Status {
        let why = error.to_string();
        match error {
            BodyError::TooLarge(_) => Status::too_large(why),
            BodyError::Stalled(_) | BodyError::TooSlow => Status::failure(408, "Timeout", why),
            BodyError::Failed(_) | BodyError::Over => Status::bad_request(why),
        }
    }
}

/// What a body and whoever answers for its request know of each other.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<State>);

#[derive(Default)]
struct State {
    fault: OnceLock<BodyError>,
    is_faulty: CancellationToken,
    is_over: CancellationToken,
}

impl Faults {
    /// Waits until the body fails.
    pub(crate) async fn happen(&self) -> Status {
        self.0.is_faulty.cancelled().await;
        self.0.fault.get().cloned().unwrap_or(BodyError::Over).into()
    }

    /// Ends the body when this is dropped.
    pub(crate) fn end_on_drop(&self) -> DropGuard {
        self.0.is_over.clone().drop_guard()
    }

    fn tell(&self, error: BodyError) -> BodyError {
        let first = self.0.fault.get_or_init(|| error).clone();
        self.0.is_faulty.cancel();
        first
    }
}

impl RequestBody {
    /// A body under these rules. One that says that it is too large is refused at once.
    pub(crate) fn new<B>(headers: &HeaderMap, body: B, rules: &Rules) -> Result<(RequestBody, Faults), Status>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let limit = rules.max_body_bytes;
        let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if declared.is_some_and(|length: u64| length > limit) {
            return Err(BodyError::TooLarge(limit).into());
        }
        let faults = Faults::default();
        let over = Box::pin(faults.0.is_over.clone().cancelled_owned());
        let body = RequestBody {
            inner: body.map_err(|error| BodyError::Failed(error.to_string())).boxed_unsync(),
            left: limit,
            limit,
            patience: rules.read_patience,
            begun: (!rules.is_long_running).then(Instant::now),
            waiting: None,
            faults: faults.clone(),
            over,
        };
        Ok((body, faults))
    }

    /// Reads all of it.
    pub async fn read(self) -> Result<Bytes, BodyError> {
        Ok(self.collect().await?.to_bytes())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        if let Some(fault) = this.faults.0.fault.get() {
            return Poll::Ready(Some(Err(fault.clone())));
        }
        // Whoever keeps a body beyond its request reads nothing more.
        if this.over.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(BodyError::Over)));
        }
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) else {
            let Some(patience) = this.patience else { return Poll::Pending };
            let waiting = this.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
            return match waiting.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Some(Err(this.faults.tell(BodyError::Stalled(patience))))),
                Poll::Pending => Poll::Pending,
            };
        };
        this.waiting = None;
        Poll::Ready(match frame {
            None => None,
            Some(Err(error)) => Some(Err(this.faults.tell(error))),
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                let sent = this.limit - this.left;
                if this.begun.is_some_and(|begun| begun.elapsed() > most_time(sent)) {
                    return Poll::Ready(Some(Err(this.faults.tell(BodyError::TooSlow))));
                }
                match this.left.checked_sub(bytes) {
                    Some(left) => {
                        this.left = left;
                        Some(Ok(frame))
                    }
                    None => Some(Err(this.faults.tell(BodyError::TooLarge(this.limit)))),
                }
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

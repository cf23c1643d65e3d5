//! What lasts as long as an answer is being sent: its place among the limits, its audit record and its metrics.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use krm::status::Status;

use super::revocation;
use crate::answer::{Aborted, Answer, Body};
use crate::audit::{AuditLog, Record, Stage};
use crate::limits::Ticket;
use crate::metrics::{Labels, Metrics};
use crate::route::grpc;

/// The annotation of an audit event with the code that a gRPC call ended with.
const CALL_CODE: &str = "groundplane.dev/grpc-status";
/// The code of a request whose client went away before it was answered.
const CLIENT_GONE: u16 = 499;

/// A request until the last byte of its answer. When this is dropped, it no longer counts, and its end is written down.
pub(crate) struct Lasting {
    _ticket: Ticket,
    audit: Option<(Arc<AuditLog>, Record)>,
    metrics: Arc<Metrics>,
    labels: Labels,
    dry_run: bool,
    is_long_running: bool,
    begun: Instant,
    /// The code in the head of the answer, once that is sent.
    head: Option<u16>,
    /// How it ended, where the head does not say it.
    outcome: Option<(u16, Option<Status>)>,
}

impl Lasting {
    pub(crate) fn new(
        ticket: Ticket,
        audit: Option<(Arc<AuditLog>, Record)>,
        (metrics, labels): (Arc<Metrics>, Labels),
        is_long_running: bool,
    ) -> Lasting {
        Lasting {
            _ticket: ticket,
            audit,
            metrics,
            labels,
            dry_run: false,
            is_long_running,
            begun: Instant::now(),
            head: None,
            outcome: None,
        }
    }

    /// The same for a request that changes nothing, though it asks for a change.
    pub(super) fn with_dry_run(mut self, dry_run: bool) -> Lasting {
        self.dry_run = dry_run;
        self
    }

    /// The head of the answer is sent.
    pub(crate) async fn started(&mut self, code: u16) {
        self.head = Some(code);
        if !self.is_long_running {
            return;
        }
        self.metrics.answered(self.labels.clone(), self.dry_run, code, None);
        self.metrics.watching(&self.labels, true);
        if let Some((log, record)) = &mut self.audit {
            record.answered(code, None);
            if let Some(event) = record.event(Stage::ResponseStarted, SystemTime::now()) {
                log.write(event).await;
            }
        }
    }

    /// It failed, or was ended for this reason.
    pub(crate) fn failed(&mut self, status: &Status) {
        if let Some((_, record)) = &mut self.audit {
            record.responded(&status.to_json().into());
        }
        self.outcome = Some((status.code, Some(status.clone())));
    }

    /// It is a gRPC call that ends with this code.
    pub(crate) fn called(&mut self, code: u16) {
        if let Some((_, record)) = &mut self.audit {
            record.annotate(CALL_CODE, &code.to_string());
        }
        self.outcome = Some((grpc::http_code(code), None));
    }

    /// The client went away, or takes nothing any more.
    pub(crate) fn abandoned(&mut self) {
        if !self.is_long_running {
            self.outcome = Some((CLIENT_GONE, None));
        }
    }

    /// The answer, with which this goes. A watch ends when the credentials of its request expire: its client goes on with new
    /// ones, if it has them.
    pub(crate) fn held_by(self, answer: Answer, expires: Option<SystemTime>) -> Answer {
        let expires = expires.filter(|_| self.is_long_running);
        let expiry = expires.map(|_| -> BoxFuture<'static, ()> { Box::pin(revocation::expiry(expires)) });
        answer.map(|body| Held { body, expiry, _lasting: self }.boxed_unsync())
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        let is_panic = std::thread::panicking();
        let gone = (if is_panic { 500 } else { CLIENT_GONE }, None);
        let ended = self.outcome.take().or(self.head.map(|code| (code, None))).unwrap_or(gone);
        match (self.is_long_running, self.head) {
            (true, Some(_)) => self.metrics.watching(&self.labels, false),
            (true, None) => self.metrics.answered(self.labels.clone(), self.dry_run, ended.0, None),
            (false, _) => {
                let took = self.begun.elapsed();
                self.metrics.answered(self.labels.clone(), self.dry_run, ended.0, Some(took));
            }
        }
        let Some((log, mut record)) = self.audit.take() else { return };
        record.answered(ended.0, ended.1.as_ref());
        let stage = if is_panic { Stage::Panic } else { Stage::ResponseComplete };
        if let Some(event) = record.event(stage, SystemTime::now()) {
            log.write_now(event);
        }
    }
}

/// A body with what lasts as long as it.
struct Held {
    body: Body,
    expiry: Option<BoxFuture<'static, ()>>,
    _lasting: Lasting,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        if self.expiry.as_mut().is_some_and(|expiry| expiry.poll_unpin(cx).is_ready()) {
            // Lines are sent whole, so that this is between two of them.
            self.expiry = None;
            self.body = crate::answer::empty();
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! A large answer counts among the limits until its last byte was taken, unless its client takes nothing for too long.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::{Aborted, Answer, Body};
use crate::limits::Ticket;
use crate::route::Rules;

/// An answer of no more bytes is with its connection at once.
const SMALL: u64 = 64 << 10;

/// The answer, which counts for as long as it is being sent.
pub(super) fn until_sent(answer: Answer, ticket: Ticket) -> Answer {
    let size = answer.body().size_hint();
    if size.exact().is_some_and(|bytes| bytes <= SMALL) {
        return answer;
    }
    answer.map(|body| Counted::new(body, ticket, Rules::default().write_patience).boxed_unsync())
}

struct Counted {
    body: Body,
    taken: Arc<Notify>,
    stalled: CancellationToken,
    _ended: DropGuard,
}

impl Counted {
    fn new(body: Body, ticket: Ticket, patience: Duration) -> Counted {
        let (taken, stalled, ended) =
            (Arc::new(Notify::new()), CancellationToken::new(), CancellationToken::new());
        let (takes, stalls, is_over) = (taken.clone(), stalled.clone(), ended.clone());
        // While a client takes nothing, nobody asks the body for more: only a task of its own notices.
        tokio::spawn(async move {
            let _ticket = ticket;
            loop {
                tokio::select! {
                    biased;
                    () = is_over.cancelled() => return,
                    () = takes.notified() => {}
                    () = tokio::time::sleep(patience) => return stalls.cancel(),
                }
            }
        });
        Counted { body, taken, stalled, _ended: ended.drop_guard() }
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        if self.stalled.is_cancelled() {
            let why = "the client took nothing of the response for too long".to_owned();
            return Poll::Ready(Some(Err(Aborted(why))));
        }
        self.taken.notify_one();
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

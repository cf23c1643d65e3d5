//! A request to a route and its answer, from the first byte to the last.
//!
//! A task takes the answer from the route and hands it to the connection. It ends both when the caller loses the right to it,
//! when the time is over, and when the client neither sends nor takes anything, even while nobody polls the answer.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Method;
use http::request::Parts;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use krm::status::Status;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::body::Faults;
use super::{Rules, Upgrade, grpc};
use crate::answer::{self, Aborted, Answer, Body};
use crate::pipeline::lasting::Lasting;

/// A request that is being answered.
pub(crate) struct Exchange {
    lasting: Lasting,
    /// Why it ends early.
    ends: BoxFuture<'static, Status>,
    faults: Faults,
    write_patience: Duration,
    is_grpc: bool,
    is_head: bool,
}

/// What may end an exchange early.
pub(crate) struct Bounds {
    /// Tells once the caller has lost the right to it.
    pub(crate) revoked: BoxFuture<'static, Status>,
    /// The state of the request body.
    pub(crate) faults: Faults,
    /// When the server stops.
    pub(crate) stopping: CancellationToken,
}

impl Exchange {
    pub(crate) fn new(lasting: Lasting, bounds: Bounds, rules: &Rules, head: &Parts) -> Exchange {
        let Bounds { revoked, faults, stopping } = bounds;
        let is_grpc = grpc::is_call(&head.headers);
        let given = is_grpc.then(|| grpc::timeout(&head.headers)).flatten();
        let longest = rules.deadline.into_iter().chain(given).min();
        let deadline = longest.map(|longest| Instant::now() + longest);
        let body = faults.clone();
        let is_long_running = rules.is_long_running;
        let ends = async move {
            let over = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                status = revoked => status,
                status = body.happen() => status,
                () = over => Status::failure(504, "Timeout", "the request took too long"),
                () = stopping.cancelled(), if is_long_running => {
                    Status::unavailable("the server is shutting down")
                }
            }
        };
        Exchange {
            lasting,
            ends: Box::pin(ends),
            faults,
            write_patience: rules.write_patience,
            is_grpc,
            is_head: head.method == Method::HEAD,
        }
    }

    /// Has the request answered. What is returned lasts as long as the stream in it.
    pub(crate) async fn answer(
        mut self,
        answering: impl Future<Output = Result<Answer, Status>>,
        connection: Option<OnUpgrade>,
    ) -> Result<Answer, Status> {
        let body_ends = self.faults.end_on_drop();
        let is_head = self.is_head;
        let answered = tokio::select! {
            biased;
            answered = answering => answered,
            refused = &mut self.ends => Err(refused),
        };
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(status) => {
                self.lasting.failed(&status);
                return Err(status);
            }
        };
        self.lasting.started(answer.status().as_u16()).await;
        if let Some(upgrade) = answer.extensions_mut().remove::<Upgrade>() {
            let Some(connection) = connection else {
                let refused = Status::bad_request("the connection can't change its protocol");
                self.lasting.failed(&refused);
                return Err(refused);
            };
            tokio::spawn(async move {
                let _body_ends = body_ends;
                tokio::select! {
                    biased;
                    refused = &mut self.ends => self.lasting.failed(&refused),
                    () = upgrade.serve(connection) => {}
                }
            });
            return Ok(answer);
        }
        if let Some(code) = grpc::code_in(answer.headers()) {
            self.lasting.called(code);
        }
        let size = answer.body().size_hint().exact();
        // One part is on its way to the connection while the route makes the next.
        let (sender, parts) = mpsc::channel(1);
        Ok(answer.map(|body| {
            let body = if is_head { answer::empty() } else { body };
            tokio::spawn(async move {
                let _body_ends = body_ends;
                self.forward(body, sender).await;
            });
            Forwarded { parts, left: size }.boxed_unsync()
        }))
    }

    async fn forward(mut self, body: Body, parts: mpsc::Sender<Part>) {
        let end = self.forward_all(body, &parts).await;
        let last = match &end {
            End::Complete => Part::End,
            End::Refused(status) => {
                tracing::debug!(reason = status.message, "ended a request before its answer was complete");
                self.lasting.failed(status);
                match self.is_grpc {
                    true => Part::Frame(Frame::trailers(grpc::trailers(status))),
                    false => Part::Abort(Aborted(status.message.clone())),
                }
            }
            End::ClientGone => return self.lasting.abandoned(),
        };
        let sending = async {
            if parts.send(last).await.is_ok() {
                parts.closed().await;
            }
        };
        // It counts until the connection has taken the last of it.
        if tokio::time::timeout(self.write_patience, sending).await.is_err() {
            self.lasting.abandoned();
        }
    }

    async fn forward_all(&mut self, mut body: Body, parts: &mpsc::Sender<Part>) -> End {
        // The connection asks for no more once it has all the bytes that were announced.
        let mut left = body.size_hint().exact();
        loop {
            let frame = tokio::select! {
                biased;
                refused = &mut self.ends => return End::Refused(refused),
                () = parts.closed() => match left {
                    Some(0) => return End::Complete,
                    _ => return End::ClientGone,
                },
                frame = AssertUnwindSafe(body.frame()).catch_unwind() => frame,
            };
            let frame = match frame {
                Ok(None) => return End::Complete,
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(Aborted(why)))) => return End::Refused(Status::internal(why)),
                Err(_) => {
                    tracing::error!("panic in the stream of a route");
                    return End::Refused(Status::internal("internal error"));
                }
            };
            if let Some(code) = frame.trailers_ref().and_then(grpc::code_in) {
                self.lasting.called(code);
            }
            let is_last = frame.is_trailers();
            left = left.map(|left| left.saturating_sub(frame.data_ref().map_or(0, |data| data.len() as u64)));
            let sending = tokio::time::timeout(self.write_patience, parts.send(Part::Frame(frame)));
            tokio::select! {
                biased;
                sent = sending => match sent {
                    Ok(Ok(())) if is_last => return End::Complete,
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return End::ClientGone,
                    Err(_) => {
                        let why = "the client takes nothing of the answer";
                        return End::Refused(Status::failure(408, "Timeout", why));
                    }
                },
                refused = &mut self.ends => return End::Refused(refused),
            }
        }
    }
}

enum End {
    Complete,
    Refused(Status),
    ClientGone,
}

enum Part {
    Frame(Frame<Bytes>),
    End,
    Abort(Aborted),
}

/// The answer as the connection takes it.
struct Forwarded {
    parts: mpsc::Receiver<Part>,
    /// The bytes that are still to come, if that is known.
    left: Option<u64>,
}

impl HttpBody for Forwarded {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        let this = self.get_mut();
        let frame = match ready!(this.parts.poll_recv(cx)) {
            Some(Part::Frame(frame)) => {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                this.left = this.left.map(|left| left.saturating_sub(bytes));
                return Poll::Ready(Some(Ok(frame)));
            }
            Some(Part::End) => None,
            Some(Part::Abort(aborted)) => Some(Err(aborted)),
            None => Some(Err(Aborted("the request has ended".to_owned()))),
        };
        this.parts.close();
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

//! Bodies of requests: bytes that are there, or that come.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Frame;
use tokio::sync::mpsc;

/// The body of a request.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A body that is there.
pub fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}

/// A body that is sent as it comes. It ends with its sender.
pub fn streamed(pieces: mpsc::Receiver<Bytes>) -> Body {
    Streamed(pieces).boxed_unsync()
}

struct Streamed(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Streamed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

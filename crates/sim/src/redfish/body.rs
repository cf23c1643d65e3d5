//! Bodies, whole or in pieces.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc;

/// A body that comes in pieces.
pub struct Pieces(mpsc::Receiver<Bytes>);

impl Pieces {
    /// All at once.
    pub fn whole(bytes: Bytes) -> Pieces {
        let (sender, receiver) = mpsc::channel(1);
        if !bytes.is_empty() {
            // There is room for one.
            let _ = sender.try_send(bytes);
        }
        Pieces(receiver)
    }

    /// A byte at a time.
    pub fn slow(bytes: Bytes) -> Pieces {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for at in 0..bytes.len() {
                tokio::time::sleep(Duration::from_millis(100)).await;
                if sender.send(bytes.slice(at..=at)).await.is_err() {
                    return;
                }
            }
        });
        Pieces(receiver)
    }

    /// Without end.
    pub fn endless() -> Pieces {
        let (sender, receiver) = mpsc::channel(1);
        let piece = Bytes::from(vec![b' '; 64 << 10]);
        tokio::spawn(async move { while sender.send(piece.clone()).await.is_ok() {} });
        Pieces(receiver)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

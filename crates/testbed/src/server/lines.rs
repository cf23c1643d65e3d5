//! A stream of JSON lines: a watch.

use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

/// A watch that was opened.
pub struct Lines {
    /// The status.
    pub code: u16,
    body: Incoming,
    rest: BytesMut,
    // The connection ends when its sender goes.
    _sender: Box<dyn Send + Sync>,
}

impl Lines {
    pub(super) fn new(code: u16, body: Incoming, sender: impl Send + Sync + 'static) -> Lines {
        Lines { code, body, rest: BytesMut::new(), _sender: Box::new(sender) }
    }

    /// The next line as it came; `None` when the stream has ended.
    pub async fn next_bytes(&mut self) -> Option<BytesMut> {
        let mut looked = 0;
        loop {
            if let Some(end) = self.rest[looked..].iter().position(|byte| *byte == b'\n') {
                return Some(self.rest.split_to(looked + end + 1));
            }
            looked = self.rest.len();
            let frame = self.body.frame().await?.ok()?;
            if let Some(data) = frame.data_ref() {
                self.rest.extend_from_slice(data);
            }
        }
    }

    /// The next line; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        serde_json::from_slice(&self.next_bytes().await?).ok()
    }

    /// Whether the stream was ended as streams should be, or broke off; reads what is left of it.
    pub async fn ends_well(mut self) -> bool {
        loop {
            match self.body.frame().await {
                None => return true,
                Some(Err(_)) => return false,
                Some(Ok(_)) => {}
            }
        }
    }
}

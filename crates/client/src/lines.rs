//! A response that comes line by line, each a JSON document: a watch.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use crate::error::{Error, Result};

/// The lines of a response that is still coming. Dropping it ends the request.
pub struct Lines {
    body: Incoming,
    held: Vec<u8>,
    /// How much of what is held was looked through for a line break.
    searched: usize,
}

impl Lines {
    pub(crate) fn new(body: Incoming) -> Lines {
        Lines { body, held: Vec::new(), searched: 0 }
    }

    /// The next line; `None` when the server has ended the response or the connection is lost.
    ///
    /// Cancel safe: no line is lost when the future is dropped.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(at) = self.held[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=self.searched + at).collect();
                self.searched = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| Error::Unreadable(format!("the watch response is not JSON: {error}")));
            }
            self.searched = self.held.len();
            match self.body.frame().await {
                None => return Ok(None),
                // A connection that breaks ends a watch as well as any other end.
                Some(Err(_)) => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.held.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

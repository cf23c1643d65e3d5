//! An answer that comes line by line, each a JSON document: a watch.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use crate::failure::Failure;

/// Lines of an answer that is still coming.
pub struct Lines {
    body: Incoming,
    held: Vec<u8>,
    /// How much of what is held was looked through for a line break.
    searched: usize,
}

impl Lines {
    pub(super) fn new(body: Incoming) -> Lines {
        Lines { body, held: Vec::new(), searched: 0 }
    }

    /// The next line; `None` when the server has ended it.
    pub async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(at) = self.held[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=self.searched + at).collect();
                self.searched = 0;
                if line.trim_ascii().is_empty() {
                    continue;
                }
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| Failure::other(format!("the watch response is not JSON: {error}")));
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

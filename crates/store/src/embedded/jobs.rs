//! How the committer is asked, and what is told when it gives no answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::committer::{Job, Reply};
use crate::error::{Error, Result};

/// Why nothing is written after a bug in the committer.
pub(crate) const PANICKED: &str = "the store's committer failed, and the log says where; restart the server";

/// The queue of the committer.
#[derive(Clone)]
pub(crate) struct Jobs {
    pub queue: mpsc::UnboundedSender<Job>,
    pub shared: Arc<Shared>,
}

impl Jobs {
    pub async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T> {
        self.shared.disk.check()?;
        let (reply, answer) = oneshot::channel();
        // Nobody takes it: it was not done.
        let gone = |_| self.shared.disk.check().err().unwrap_or(Error::Closed);
        self.queue.send(job(reply)).map_err(gone)?;
        answer.await.map_err(|_| self.unanswered())?
    }

    /// The committer finishes what it has, and ends.
    pub fn stop(&self) {
        let _ = self.queue.send(Job::Stop);
    }

    /// A committer that ended as it should has answered all that it did. One that panicked may have written it.
    fn unanswered(&self) -> Error {
        if self.shared.stopped.load(Ordering::Acquire) {
            return Error::Closed;
        }
        // Its thread may still be on the way to saying so.
        self.shared.disk.halt(PANICKED.to_owned());
        Error::Unknown(format!("{PANICKED}, and read the object to see whether it was written"))
    }
}

//! How the committer is asked, and what is told when it gives no answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::committer::{Job, Reply};
use crate::error::{Error, Result};

/// Why nothing is written after a bug in the committer.
pub(crate) const PANICKED: &str = "the store's committer failed, and the log says where; restart the server";

/// How a job gets to the committer, which answers by the job's reply.
pub(crate) trait Route: Send + Sync {
    /// Takes a job on its way; `false` when there is nobody to do it.
    fn send(&self, job: Job) -> bool;
}

/// The queue of a committer on a thread of its own.
impl Route for mpsc::UnboundedSender<Job> {
    fn send(&self, job: Job) -> bool {
        mpsc::UnboundedSender::send(self, job).is_ok()
    }
}

/// How the committer is reached.
#[derive(Clone)]
pub(crate) struct Jobs {
    pub route: Arc<dyn Route>,
    pub shared: Arc<Shared>,
}

impl Jobs {
    pub async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T> {
        self.shared.disk.check()?;
        let (reply, answer) = oneshot::channel();
        if !self.route.send(job(reply)) {
            // Nobody takes it: it was not done.
            return Err(self.shared.disk.check().err().unwrap_or(Error::Closed));
        }
        answer.await.map_err(|_| self.unanswered())?
    }

    /// The committer finishes what it has, and ends.
    pub fn stop(&self) {
        self.route.send(Job::Stop);
    }

    /// A committer that ended as it should has answered all that it did. One that panicked may have written it.
    fn unanswered(&self) -> Error {
        if self.shared.stopped.load(Ordering::Acquire) {
            return Error::Closed;
        }
        // Its thread may still be on the way to saying so.
        self.shared.panicked();
        Error::Unknown(format!("{PANICKED}, and read the object to see whether it was written"))
    }
}

//! Resources that are worked out when somebody asks, and never stored: who answers requests about them.

use std::pin::Pin;

use bytes::Bytes;
use krm::status::Status;

use super::resource::Watching;
use crate::answer::Answer;
use crate::call::Call;
use crate::pipeline::Known;

/// An answer that is there later.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Status>> + Send + 'a>>;

/// Answers requests about resources of its own. Whether the request may be made was found out before; what of the answer
/// the asker may see is its own affair.
pub trait WorkedOut: Send + Sync {
    /// Whether it answers for this resource.
    fn is_about(&self, group: &str, plural: &str) -> bool;

    /// Answers a request.
    fn answer<'a>(&'a self, known: &'a Known, call: Call, body: Bytes, watching: Watching) -> Answering<'a>;
}

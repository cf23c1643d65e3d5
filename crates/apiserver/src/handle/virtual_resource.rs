//! Virtual resources: computed on request and never stored.

use std::pin::Pin;

use bytes::Bytes;
use krm::status::Status;

use crate::answer::Answer;
use crate::call::Call;
use crate::pipeline::RequestContext;

/// An answer that is there later.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Status>> + Send + 'a>>;

/// Serves requests for resources that are not stored. The request is authorized before; what of the answer the caller
/// may see is decided here.
pub trait VirtualResource: Send + Sync {
    /// Whether it answers for this resource.
    fn is_about(&self, group: &str, plural: &str) -> bool;

    /// Answers a request.
    fn answer<'a>(&'a self, known: &'a RequestContext, call: Call, body: Bytes) -> Answering<'a>;
}

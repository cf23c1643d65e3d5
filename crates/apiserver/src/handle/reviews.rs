//! Reviews: questions about who somebody is and what they may do. They are asked, not stored.

use bytes::Bytes;
use krm::status::Status;

use crate::answer::Answer;
use crate::call::Call;
use crate::pipeline::{Known, Pipeline};
use crate::request::path::Target;

/// A question that is answered at once.
pub struct Review {}

/// The question that a call asks, if it asks one.
pub fn of(_: &Call, _: &Target) -> Option<Review> {
    None
}

impl Review {
    /// Answers it.
    pub async fn answer(&self, _: &Pipeline, _: &Known, _: &Call, _: &Bytes) -> Result<Answer, Status> {
        Err(Status::no_such_resource())
    }
}

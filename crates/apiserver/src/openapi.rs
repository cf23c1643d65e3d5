//! OpenAPI: what the kinds of a plane look like, for explain, validation and generators.

use http::HeaderMap;
use krm::status::Status;

use crate::answer::{self, Answer};
use crate::api::Api;
use crate::plane::Plane;
use crate::request::query::Query;

/// The documents, made when they are asked for.
#[derive(Default)]
pub struct Documents {}

impl Documents {
    /// `/openapi/v2`.
    pub fn v2(&self, _: &Api, _: &Plane, _: &HeaderMap) -> Result<Answer, Status> {
        Ok(answer::page_not_found())
    }

    /// `/openapi/v3`: which documents there are.
    pub fn v3_index(&self, _: &Api, _: &Plane, _: &HeaderMap) -> Result<Answer, Status> {
        Ok(answer::page_not_found())
    }

    /// `/openapi/v3/<document>`.
    pub fn v3(&self, _: &Api, _: &Plane, _: &str, _: &Query, _: &HeaderMap) -> Result<Answer, Status> {
        Ok(answer::page_not_found())
    }
}

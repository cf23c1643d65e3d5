//! Reads and writes of actions, in the name of their controller.
//!
//! A plan reads through its context and writes in its commit. An action that talks to something outside may need an object
//! as it is now, or has to keep something before it goes on: a password that is about to be set, a login that is about to be
//! tried.

use std::sync::Arc;

use krm::Object;
use krm::status::Status;

use crate::lease::Later;
use crate::plan::Write;
use crate::target::Target;

/// The objects of all planes, as an action sees and changes them. Its host implements it, with the role of the controller and
/// only while its lease is held.
pub trait Objects: Send + Sync {
    /// An object as it is now on all servers.
    fn get<'a>(&'a self, target: &'a Target) -> Later<'a, Result<Option<Arc<Object>>, Status>>;

    /// Lands all writes in one commit, or none of them. Objects carry the resource version that they were read at: if that
    /// has changed, the answer is a conflict, and nothing is written.
    fn commit(&self, writes: Vec<Write>) -> Later<'_, Result<(), Status>>;
}

/// No objects: for tests of actions that use none.
#[derive(Debug, Clone, Copy)]
pub struct NoObjects;

impl Objects for NoObjects {
    fn get<'a>(&'a self, _: &'a Target) -> Later<'a, Result<Option<Arc<Object>>, Status>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn commit(&self, _: Vec<Write>) -> Later<'_, Result<(), Status>> {
        Box::pin(std::future::ready(Err(Status::unavailable("there are no objects here"))))
    }
}

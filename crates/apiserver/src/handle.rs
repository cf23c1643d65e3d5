//! From a request to its answer.

pub mod body;
pub mod other;
pub mod resource;
pub mod reviews;
pub mod subresource;
pub mod verb;
pub mod websocket;

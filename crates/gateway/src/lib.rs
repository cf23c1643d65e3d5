//! gRPC and REST of the fulfillment API: views of the resources of `fulfillment.groundplane.dev`.
//!
//! Nothing is kept here: a call reads and writes resources in its caller's name, and messages are made of them by their
//! descriptors.

pub mod filter;
pub mod mask;
pub mod schema;

//! gRPC and REST of the fulfillment API: views of the resources of `fulfillment.groundplane.dev`.
//!
//! Nothing is kept here: a call reads and writes resources in its caller's name, and messages are made of them by their
//! descriptors.

pub mod caller;
pub mod collection;
pub mod events;
pub mod failure;
pub mod filter;
pub mod grpc;
pub mod mask;
mod module;
pub mod objects;
pub mod openapi;
pub mod rest;
pub mod schema;
mod view;

pub use module::Module;

/// Version of the interface. Clients of another major version are told so by Capabilities.
pub const VERSION: &str = "1.0";

//! The commands `groundplane host` and `groundplane hub`, as clients of the public API.

mod edit;
mod find;
mod host;
mod hub;
mod input;
mod module;
mod output;
mod table;

pub use module::{Hosts, Hubs};

/// API path of fulfillment.
const API: &str = "/apis/fulfillment.groundplane.dev/v1alpha1";

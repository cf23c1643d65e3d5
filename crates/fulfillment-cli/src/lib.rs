//! The commands `groundplane cluster`, `host`, `hub` and `dns`, as clients of the public API.

mod cluster;
mod dns;
mod edit;
mod find;
mod host;
mod hub;
mod input;
mod module;
mod output;
mod table;

pub use module::{Clusters, Hosts, Hubs, Zones};

/// API path of fulfillment.
const API: &str = "/apis/fulfillment.groundplane.dev/v1alpha1";

//! The commands `groundplane task`, `groundplane node` and `groundplane why`, as clients of the public API.

mod arguments;
mod module;
mod node;
mod output;
mod task;
mod why;

pub use module::{Nodes, Tasks, Why};

/// API path of orchestration.
const API: &str = "/apis/orchestration.groundplane.dev/v1alpha1";
/// API path of designs.
const DESIGNS: &str = "/apis/design.groundplane.dev/v1alpha1";
/// API path of hosts.
const HOSTS: &str = "/apis/fulfillment.groundplane.dev/v1alpha1";
/// API path of the inventory.
const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";

/// Path of the tasks of a namespace.
fn task_path(namespace: &str) -> String {
    format!("{API}/namespaces/{}/tasks", cli::path_segment(namespace))
}

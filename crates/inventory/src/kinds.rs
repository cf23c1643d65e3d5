//! The kinds of `inventory.miloapis.com/v1alpha1`, one per file.

pub mod cable;
pub mod circuit;
pub mod cluster;
pub mod device;
pub mod link;
pub mod network_device;
pub mod node;
pub mod placement;
pub mod port;
pub mod provider;
pub mod rack;
pub mod region;
pub mod site;
pub mod virtual_machine;

use krm::kind::{Declaration, Kind, Planes, Resource};

pub use cable::Cable;
pub use circuit::Circuit;
pub use cluster::Cluster;
pub use link::Link;
pub use network_device::NetworkDevice;
pub use node::Node;
pub use port::Port;
pub use provider::Provider;
pub use rack::Rack;
pub use region::Region;
pub use site::Site;
pub use virtual_machine::VirtualMachine;

/// API group of the inventory kinds.
pub const GROUP: &str = "inventory.miloapis.com";
/// API version of the inventory kinds.
pub const VERSION: &str = "v1alpha1";

/// All kinds of the group.
pub fn all() -> Vec<Kind> {
    vec![
        Region::kind(),
        Provider::kind(),
        Site::kind(),
        Rack::kind(),
        Cluster::kind(),
        Node::kind(),
        NetworkDevice::kind(),
        Link::kind(),
        Port::kind(),
        Cable::kind(),
        Circuit::kind(),
        VirtualMachine::kind(),
    ]
}

/// The declaration that all inventory kinds share: cluster-scoped in the root plane, a `status` subresource, denials in
/// the name of `webhook`, and `Ready=False` with reason `Pending` on creation.
fn declare_inventory<T: Resource>(
    webhook: &'static str,
    referrers: &'static [&'static str],
) -> Declaration<T> {
    Declaration::cluster()
        .planes(Planes::Root)
        .categories(&["inventory"])
        .status()
        .refuses_as(webhook, referrers)
        .prepare(crate::pending)
}

/// Adds the printer columns Ready and Reason, which come last.
pub(crate) fn prints_ready<T: Resource>(declaration: Declaration<T>) -> Declaration<T> {
    declaration.prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#).prints(
        "Reason",
        "string",
        r#".status.conditions[?(@.type=="Ready")].reason"#,
    )
}

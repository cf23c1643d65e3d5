//! The kinds of `inventory.miloapis.com/v1alpha1`, one per file.

mod activity;
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

use krm::kind::{Declaration, Kind, Planes, Reference, Resource};

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

/// The kinds of the group by name and plural, each after those that it refers to: the order of an import, of an export and
/// of counts.
pub const ORDER: [(&str, &str); 12] = [
    (Provider::KIND, Provider::PLURAL),
    (Region::KIND, Region::PLURAL),
    (Site::KIND, Site::PLURAL),
    (Rack::KIND, Rack::PLURAL),
    (Cluster::KIND, Cluster::PLURAL),
    (Node::KIND, Node::PLURAL),
    (NetworkDevice::KIND, NetworkDevice::PLURAL),
    (VirtualMachine::KIND, VirtualMachine::PLURAL),
    (Port::KIND, Port::PLURAL),
    (Cable::KIND, Cable::PLURAL),
    (Link::KIND, Link::PLURAL),
    (Circuit::KIND, Circuit::PLURAL),
];

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
        .tells_events(activity::event_rules)
        .prepare(crate::pending)
}

/// A reference of a connection to one of its ends, with the condition `EndpointsResolved`.
fn resolves_endpoints(end: Reference) -> Reference {
    end.reason("EndpointNotFound").condition("EndpointsResolved", "All endpoints resolved")
}

/// Adds the printer columns Ready and Reason, which come last.
pub(crate) fn prints_ready<T: Resource>(declaration: Declaration<T>) -> Declaration<T> {
    declaration.prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#).prints(
        "Reason",
        "string",
        r#".status.conditions[?(@.type=="Ready")].reason"#,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_has_every_kind_after_those_that_it_refers_to() {
        let rank = |plural: &str| ORDER.iter().position(|(_, known)| *known == plural);
        let kinds = all();
        assert_eq!(kinds.len(), ORDER.len());
        for kind in kinds {
            let own = rank(&kind.names.plural);
            assert_eq!(own.map(|at| ORDER[at].0), Some(kind.names.kind.as_str()));
            // A blade and its chassis may be a node and a network device, or the other way round.
            let others = kind.references.iter().filter(|it| !it.path.starts_with("spec.inSlot."));
            for reference in others {
                assert!(rank(&reference.plural) <= own, "{} refers to {}", kind.names.kind, reference.plural);
            }
        }
    }
}

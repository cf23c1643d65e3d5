//! The kinds of `design.groundplane.dev/v1alpha1`, one per file.
//!
//! Fields have the same names (snake case) as in Airship documents.

pub mod baremetal_node;
pub mod boot_action;
pub mod composition;
pub mod configuration_item;
pub mod design;
pub mod design_revision;
pub mod driver_package;
pub mod hardware_profile;
pub mod host;
pub mod host_profile;
pub mod network;
pub mod network_link;
pub mod rack;
mod readable;
pub mod region;
pub mod substitution;

use krm::kind::{Declaration, Kind, Planes, Resource};

pub use baremetal_node::BaremetalNode;
pub use boot_action::BootAction;
pub use configuration_item::ConfigurationItem;
pub use design::Design;
pub use design_revision::DesignRevision;
pub use driver_package::DriverPackage;
pub use hardware_profile::HardwareProfile;
pub use host_profile::HostProfile;
pub use network::Network;
pub use network_link::NetworkLink;
pub use rack::Rack;
pub use region::Region;

/// API group of the design kinds.
pub const GROUP: &str = ::design::object::GROUP;
/// API version of the design kinds.
pub const VERSION: &str = ::design::object::VERSION;

/// All kinds of the group.
pub fn all() -> Vec<Kind> {
    vec![
        Design::kind(),
        DesignRevision::kind(),
        Region::kind(),
        Rack::kind(),
        Network::kind(),
        NetworkLink::kind(),
        HardwareProfile::kind(),
        DriverPackage::kind(),
        HostProfile::kind(),
        BaremetalNode::kind(),
        BootAction::kind(),
        ConfigurationItem::kind(),
    ]
}

/// The declaration that all documents share: namespaced, one namespace per site, names as documents use them.
fn document<T: Resource>() -> Declaration<T> {
    Declaration::namespaced()
        .planes(Planes::Root)
        .categories(&["design"])
        .names(krm::names::name_is_path_segment)
        .validate_raw(readable::validate_document)
}

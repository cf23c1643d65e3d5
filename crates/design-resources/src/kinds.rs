//! The kinds of `design.groundplane.dev/v1alpha1`. Each is one file.
//!
//! Fields of documents are spelled as documents spell them, so that what one knows of the one holds for the other.

pub mod baremetal_node;
pub mod boot_action;
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

/// The group they are in.
pub const GROUP: &str = ::design::object::GROUP;
/// The version they are at.
pub const VERSION: &str = ::design::object::VERSION;

/// All of them.
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

/// What all documents declare: one namespace holds those of a site, and a name may be what documents are called.
fn document<T: Resource>() -> Declaration<T> {
    Declaration::namespaced()
        .planes(Planes::Root)
        .categories(&["design"])
        .names(krm::names::name_is_path_segment)
        .validate_raw(readable::as_a_document)
}

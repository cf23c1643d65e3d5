//! The kinds of `networking.datumapis.com/v1alpha`, one per file.

pub mod address_block;
pub mod location;
pub mod location_binding;
pub mod network;
pub mod network_binding;
pub mod network_context;
pub mod subnet;
pub mod subnet_claim;

use krm::kind::{Kind, Resource};

pub use address_block::AddressBlock;
pub use location::Location;
pub use location_binding::LocationBinding;
pub use network::Network;
pub use network_binding::NetworkBinding;
pub use network_context::NetworkContext;
pub use subnet::Subnet;
pub use subnet_claim::SubnetClaim;

/// All of them, and the locations as their newer group has them.
pub fn all() -> Vec<Kind> {
    vec![
        Location::kind(),
        LocationBinding::kind(),
        Network::kind(),
        NetworkBinding::kind(),
        NetworkContext::kind(),
        SubnetClaim::kind(),
        Subnet::kind(),
        AddressBlock::kind(),
        location::newer(),
    ]
}

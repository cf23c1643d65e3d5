//! The kinds of `fulfillment.groundplane.dev/v1alpha1`, one per file.

pub mod bmc_login;
pub mod cluster;
pub mod cluster_placement;
pub mod cluster_template;
pub mod dns_zone;
pub mod hardware;
pub mod host;
pub mod host_claim;
pub mod host_class;
pub mod host_operation;
pub mod hub;

use krm::kind::{Kind, Resource};

pub use bmc_login::BmcLogin;
pub use cluster::Cluster;
pub use cluster_placement::ClusterPlacement;
pub use cluster_template::ClusterTemplate;
pub use dns_zone::DnsZone;
pub use host::Host;
pub use host_claim::HostClaim;
pub use host_class::HostClass;
pub use host_operation::HostOperation;
pub use hub::Hub;

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        HostClass::kind(),
        DnsZone::kind(),
        Hub::kind(),
        Host::kind(),
        HostClaim::kind(),
        HostOperation::kind(),
        BmcLogin::kind(),
        ClusterTemplate::kind(),
        Cluster::kind(),
        ClusterPlacement::kind(),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn declarations_name_what_exists() {
        let mut kinds = super::all();
        kinds.extend(inventory::all());
        krm::kind::check(&kinds).map_err(|mistakes| mistakes.to_string()).unwrap();
    }
}

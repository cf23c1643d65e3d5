//! The controllers of fulfillment.

pub mod claiming;
pub mod claims;
pub mod cluster;
mod hosts;
mod hub;
pub mod matching;
mod naming;
pub mod operations;
mod placement;
mod placements;
pub mod power;
mod provisioning;
mod reach;
mod zones;

use krm::kind::QueryContext;

pub use claims::ClaimController;
pub use cluster::ClusterController;
pub use hosts::HostController;
pub use hub::HubController;
pub use operations::OperationController;
pub use placements::PlacementController;
pub use power::PowerController;
pub use provisioning::ProvisioningController;
pub use zones::{CHECK, ZoneController};

use crate::kinds::{Cluster, ClusterTemplate};

/// The image that a cluster is to run: that of its release, or of the parameter `release_image` if its template has no releases.
fn image_of(cluster: &Cluster, root: &dyn QueryContext) -> Option<String> {
    let template = root.find::<ClusterTemplate>(&cluster.spec.template)?;
    let parameter = || {
        let given = cluster.spec.template_parameters.get("release_image")?;
        given.fields.get("value")?.as_str().map(str::to_owned)
    };
    let release = template.release(cluster.spec.release.as_deref());
    release.map(|release| release.image.clone()).or_else(parameter)
}

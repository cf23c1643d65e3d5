//! NetworkDevice: a router, switch or firewall; also a patch panel or a power distribution unit (PDU).

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{Asset, Mounting, declare_device};
use super::{Cluster, activity, declare_inventory, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{LocalObjectReference, Status};

/// A router, switch, firewall, patch panel or power distribution unit (PDU). It cannot be deleted while a Port belongs to
/// it or another device occupies one of its slots.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkDevice {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the network device. Set by users.
    pub spec: NetworkDeviceSpec,
    /// Observation state of the network device. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The role of a network device.
    DeviceRole: BorderRouter, Spine, Leaf, Firewall, PatchPanel, PDU
}

/// Specification of a network device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.clusterRef) == has(oldSelf.clusterRef) && (!has(self.clusterRef) || self.clusterRef == oldSelf.clusterRef)", "message": "clusterRef is immutable"},
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
    {"rule": "!(has(self.placement) && has(self.inSlot))", "message": "placement and inSlot are mutually exclusive"},
]))]
pub struct NetworkDeviceSpec {
    /// What it has in common with other assets.
    #[serde(flatten)]
    pub asset: Asset,
    /// What it has in common with other devices.
    #[serde(flatten)]
    pub mounting: Mounting,
    /// Cluster that the device serves. Immutable. Must exist. Required unless `role` is `PatchPanel` or `PDU`. It may be at
    /// another site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ref: Option<LocalObjectReference>,
    /// Function of the device in the network. Patch panels and PDUs carry cables and power and need no cluster.
    pub role: DeviceRole,
    /// Address of the management interface, such as an IP address or host name. Not validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management_address: Option<String>,
}

impl Resource for NetworkDevice {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "NetworkDevice";
    const PLURAL: &'static str = "networkdevices";

    fn declare() -> Declaration<NetworkDevice> {
        let cluster = Reference::to::<Cluster>("spec.clusterRef.name");
        let device =
            declare_inventory("vnetworkdevice.inventory.miloapis.com", &["Port", "Node", "NetworkDevice"])
                .tells_created(&[activity::PLACED, activity::AT_SITE])
                .tells_updated(&[activity::MOVED, activity::TAKEN_OUT])
                .refers(cluster.absent("referenced Cluster {} not found").reason("ClusterNotFound"))
                .selects(&[
                    "spec.clusterRef.name",
                    "spec.siteRef.name",
                    "spec.role",
                    "spec.placement.rackRef.name",
                    "spec.placement.face",
                    "spec.inSlot.deviceRef.name",
                    "spec.lifecycle",
                    "spec.serial",
                    "spec.assetTag",
                ])
                .searches(&["spec.managementAddress", "spec.serial", "spec.assetTag"])
                .prints("Site", "string", ".spec.siteRef.name")
                .prints("Cluster", "string", ".spec.clusterRef.name")
                .prints("Role", "string", ".spec.role")
                .prints_age()
                .answers("impact", "Impact", questions::impact::answer("NetworkDevice"));
        declare_device(prints_ready(device)).validate(require_cluster)
    }
}

/// `clusterRef` is required for every role but patch panels and PDUs.
fn require_cluster(change: &Change<NetworkDevice>) -> Vec<FieldError> {
    let Some(device) = change.after() else { return Vec::new() };
    let is_exempt = matches!(device.spec.role, DeviceRole::PatchPanel | DeviceRole::PDU);
    match device.spec.cluster_ref.is_some() || is_exempt {
        true => Vec::new(),
        false => vec![FieldError::required(&Path::of("spec").field("clusterRef"), "")],
    }
}

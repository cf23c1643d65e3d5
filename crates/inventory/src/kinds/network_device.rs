//! NetworkDevice: a router, switch or firewall; also a patch panel or a power distribution unit (PDU).

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{self, InSlot, Lifecycle, Slot};
use super::node::in_device;
use super::placement::Placement;
use super::{declare_inventory, prints_ready};
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
    /// Cluster that the device serves. Immutable. Must exist. Required unless `role` is `PatchPanel` or `PDU`. It may be at
    /// another site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ref: Option<LocalObjectReference>,
    /// Site of the device. Immutable. While the Site does not exist, the device is not Ready (`SiteNotFound`).
    pub site_ref: LocalObjectReference,
    /// Function of the device in the network. Patch panels and PDUs carry cables and power and need no cluster.
    pub role: DeviceRole,
    /// Address of the management interface, such as an IP address or host name. Not validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management_address: Option<String>,
    /// Rack units that the device occupies. Mutually exclusive with `inSlot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Slot of another device that this device occupies, such as a line card in a chassis. Mutually exclusive with
    /// `placement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_slot: Option<InSlot>,
    /// Slots for other devices. A slot that is occupied cannot be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub slots: Vec<Slot>,
    /// Manufacturer's serial number. Unique among all racks, nodes and network devices that set it, ignoring case. 1 to 253
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub serial: Option<String>,
    /// Asset tag assigned by you. Unique among all racks, nodes and network devices that set it, ignoring case. 1 to 253
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub asset_tag: Option<String>,
    /// Lifecycle stage. Informational for network devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// Maximum power draw of the device itself, in watts. Counted against the power feeds of its rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub drawn_watts: Option<i64>,
}

impl Resource for NetworkDevice {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "NetworkDevice";
    const PLURAL: &'static str = "networkdevices";

    fn declare() -> Declaration<NetworkDevice> {
        let refer = |path, plural| Reference::at(path, super::GROUP, plural);
        let cluster = refer("spec.clusterRef.name", "clusters");
        let site = refer("spec.siteRef.name", "sites");
        let rack = refer("spec.placement.rackRef.name", "racks");
        let device =
            declare_inventory("vnetworkdevice.inventory.miloapis.com", &["Port", "Node", "NetworkDevice"])
                .refers(cluster.absent("referenced Cluster {} not found"))
                .refers(site.missing(Missing::NotReady("SiteNotFound")))
                .refers(rack.absent("referenced Rack {} not found").tie("placed in it"))
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
        device::index_by_position(prints_ready(in_device(device)))
            .validate(require_cluster)
            .rule(device::check_device)
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

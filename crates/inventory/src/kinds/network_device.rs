//! NetworkDevice: a router, switch or firewall; also what carries cables and power: patch panels and PDUs.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{self, InSlot, Lifecycle, Slot};
use super::node::in_device;
use super::placement::Placement;
use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{LocalObjectReference, Status};

/// A router, switch or firewall; a patch panel or a PDU.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkDevice {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: NetworkDeviceSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a network device does.
    DeviceRole: BorderRouter, Spine, Leaf, Firewall, PatchPanel, PDU
}

/// What a network device is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.clusterRef) == has(oldSelf.clusterRef) && (!has(self.clusterRef) || self.clusterRef == oldSelf.clusterRef)", "message": "clusterRef is immutable"},
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
    {"rule": "!(has(self.placement) && has(self.inSlot))", "message": "a device is in a rack or in a slot of another device, not in both"},
]))]
pub struct NetworkDeviceSpec {
    /// The cluster it serves; patch panels and PDUs may serve none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ref: Option<LocalObjectReference>,
    /// The site it is at.
    pub site_ref: LocalObjectReference,
    /// What it does.
    pub role: DeviceRole,
    /// How it is managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management_address: Option<String>,
    /// Where in a rack it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// In which slot of another device it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_slot: Option<InSlot>,
    /// The slots it has for other devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub slots: Vec<Slot>,
    /// Its serial number, like that of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub serial: Option<String>,
    /// Our own number on it, like that of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub asset_tag: Option<String>,
    /// How far it is in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// What it draws itself at most, in watts.
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
        let device = inventoried("vnetworkdevice.inventory.miloapis.com", &["Port", "Node", "NetworkDevice"])
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
        device::found_by_place(prints_ready(in_device(device)))
            .validate(serves_a_cluster)
            .rule(device::is_well_kept)
    }
}

/// Everything but panels and PDUs serves a cluster.
fn serves_a_cluster(change: &Change<NetworkDevice>) -> Vec<FieldError> {
    let Some(device) = change.after() else { return Vec::new() };
    let may_serve_none = matches!(device.spec.role, DeviceRole::PatchPanel | DeviceRole::PDU);
    match device.spec.cluster_ref.is_some() || may_serve_none {
        true => Vec::new(),
        false => vec![FieldError::required(&Path::of("spec").field("clusterRef"), "")],
    }
}

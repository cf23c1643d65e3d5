//! Port: where a cable or circuit meets a device; for data, for power, or through a patch panel.

use krm::kind::{Change, Declaration, Metadata, Missing, Reference, Resource, Verdict, View, allow, deny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{joined, texts};
use super::{Rack, inventoried, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::references::DeviceKind;
use crate::{LocalObjectReference, PortDeviceReference, Quantity, Status};

/// The bucket of the ports that lead through a patch panel to another one, by that one's name.
pub const THROUGH: &str = "inventory-through";
/// The bucket of the outlets that get their power from an inlet, by the inlet's name.
pub const FROM_INLET: &str = "inventory-from-inlet";
/// The bucket of the ports at which a rack's power feed comes in.
pub const ON_FEED: &str = "inventory-on-feed";
/// The bucket of a device's ports, by its kind and name.
pub const ON_DEVICE: &str = "inventory-on-device";

/// Where a cable or circuit meets a device.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: PortSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a port carries.
    PortType: Power, Serial, Ethernet, Optical, PatchPanel
}

/// What a port is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.deviceRef == oldSelf.deviceRef", "message": "deviceRef is immutable"},
    {"rule": "!has(self.power) || self.type == 'Power'", "message": "only a port of type Power has power"},
    {"rule": "!(has(self.power) && has(self.power.feed)) || self.deviceRef.kind == 'Rack'", "message": "only a port of a Rack is on one of its power feeds"},
]))]
pub struct PortSpec {
    /// The device it is on.
    pub device_ref: PortDeviceReference,
    /// What it carries.
    #[serde(rename = "type")]
    pub kind: PortType,
    /// What is written beside it: `eth0`, `PSU1`, `pp-A-24`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How fast it is, in bits per second: `100G`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Quantity>,
    /// The port on the other side of the panel that this one leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_through: Option<PassThrough>,
    /// How many ports of the other side of the panel may lead to this one: the fibres of an MPO. One unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub positions: Option<i32>,
    /// Where its power comes from, and how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// The hardware address of the interface behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"))]
    pub mac_address: Option<String>,
}

/// The way through a patch panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PassThrough {
    /// The port on the other side.
    pub port_ref: LocalObjectReference,
    /// Which of its positions; 1 unless said.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub position: i32,
}

fn one() -> i32 {
    1
}

/// The power of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// Of a rack's port: the power feed that comes in there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub feed: Option<String>,
    /// Of an outlet: the port of the same device that its power comes in at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlet_ref: Option<LocalObjectReference>,
    /// What it may carry, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rated_watts: Option<i64>,
    /// What it draws, in watts; else its share of what its device draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub drawn_watts: Option<i64>,
}

/// The value under which the ports of a rack's feed are found.
pub fn feed_of(rack: &str, feed: &str) -> String {
    format!("{rack}/{feed}")
}

impl PortSpec {
    /// The port through the panel, if there is one.
    pub fn through(&self) -> Option<&PassThrough> {
        self.pass_through.as_ref()
    }

    /// The port its power comes in at, if it is an outlet.
    pub fn inlet(&self) -> Option<&str> {
        self.power.as_ref()?.inlet_ref.as_ref().map(|inlet| inlet.name.as_str())
    }

    /// The feed of the rack that comes in here.
    pub fn feed(&self) -> Option<&str> {
        self.power.as_ref()?.feed.as_deref()
    }

    /// The value under which the ports of its device are found.
    pub fn device_key(&self) -> String {
        format!("{}/{}", self.device_ref.kind, self.device_ref.name)
    }
}

impl Resource for Port {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Port";
    const PLURAL: &'static str = "ports";

    fn declare() -> Declaration<Port> {
        let device = |plural, kind| {
            let device = Reference::at("spec.deviceRef.name", super::GROUP, plural).when_kind(kind);
            device.missing(Missing::NotReady("DeviceNotFound"))
        };
        let port = |path| Reference::at(path, super::GROUP, "ports").absent("referenced Port {} not found");
        let declaration = inventoried("vport.inventory.miloapis.com", &["Cable", "Circuit", "Port"])
            .refers(device("nodes", "Node"))
            .refers(device("networkdevices", "NetworkDevice"))
            .refers(device("racks", "Rack"))
            .refers(port("spec.passThrough.portRef.name").tie("lead through it"))
            .refers(port("spec.power.inletRef.name").tie("fed by it"))
            .selects(&[
                "spec.deviceRef.kind",
                "spec.deviceRef.name",
                "spec.type",
                "spec.name",
                "spec.passThrough.portRef.name",
                "spec.power.feed",
                "spec.macAddress",
            ])
            .searches(&["spec.name", "spec.macAddress"])
            .prints("Device-Kind", "string", ".spec.deviceRef.kind")
            .prints("Device", "string", ".spec.deviceRef.name")
            .prints("Type", "string", ".spec.type")
            .prints("Name", "string", ".spec.name")
            .prints("Speed", "string", ".spec.speed")
            .prints_age()
            .answers("trace", "PortTrace", questions::trace::answer)
            .answers("impact", "Impact", questions::impact::answer("Port"))
            .bucket_raw(ON_DEVICE, |port| joined(port, "spec.deviceRef.kind", "spec.deviceRef.name"))
            .bucket_raw(THROUGH, |port| texts(port, "spec.passThrough.portRef.name").collect())
            .bucket_raw(FROM_INLET, |port| texts(port, "spec.power.inletRef.name").collect())
            .bucket_raw(ON_FEED, |port| joined(port, "spec.deviceRef.name", "spec.power.feed"))
            .rule(leads_through_its_own_panel)
            .rule(keeps_the_positions_in_use)
            .rule(is_fed_by_its_own_device)
            .rule(is_on_a_feed_of_its_rack);
        prints_ready(declaration)
    }
}

/// A port leads to another one of the same panel, which leads nowhere itself, at a position that is free.
fn leads_through_its_own_panel(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let Some(port) = change.after() else { return allow() };
    let Some(through) = port.spec.through() else { return allow() };
    if change.before().is_some_and(|old| old.spec.through() == Some(through)) {
        return allow();
    }
    let far_name = &through.port_ref.name;
    let Some(far) = view.get::<Port>(far_name) else {
        return deny(format!("referenced Port {far_name} not found"));
    };
    if *far_name == port.metadata.name || far.spec.device_ref != port.spec.device_ref {
        return deny(format!(
            "Port {far_name} is not another port of {} {}",
            port.spec.device_ref.kind, port.spec.device_ref.name
        ));
    }
    if far.spec.through().is_some() {
        return deny(format!("Port {far_name} leads through the panel itself; name the one it leads to"));
    }
    if through.position > far.spec.positions.unwrap_or(1) {
        let most = far.spec.positions.unwrap_or(1);
        return deny(format!("Port {far_name} has no position {}; it has {most}", through.position));
    }
    if !view.bucket_of::<Port>(THROUGH, &port.metadata.name).is_empty() {
        return deny(format!("other ports lead to Port {}, so it can't lead on", port.metadata.name));
    }
    let others = view.bucket_of::<Port>(THROUGH, far_name);
    let taken = others.iter().find(|other| {
        other.metadata.name != port.metadata.name
            && other.spec.through().is_some_and(|theirs| theirs.position == through.position)
    });
    match taken {
        Some(other) => deny(format!(
            "position {} of Port {far_name} is already that of Port {}",
            through.position, other.metadata.name
        )),
        None => allow(),
    }
}

/// A port keeps the positions at which others lead to it.
fn keeps_the_positions_in_use(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let (Some(old), Some(port)) = (change.before(), change.after()) else { return allow() };
    let now = port.spec.positions.unwrap_or(1);
    if old.spec.positions.unwrap_or(1) <= now {
        return allow();
    }
    let leading = view.bucket_of::<Port>(THROUGH, &port.metadata.name);
    let beyond =
        leading.iter().find(|other| other.spec.through().is_some_and(|through| through.position > now));
    match beyond {
        Some(other) => deny(format!("Port {} still leads to a position above {now}", other.metadata.name)),
        None => allow(),
    }
}

/// An outlet is fed by an inlet of the same device, which is no outlet itself.
fn is_fed_by_its_own_device(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let Some(port) = change.after() else { return allow() };
    let Some(inlet_name) = port.spec.inlet() else { return allow() };
    if change.before().is_some_and(|old| old.spec.inlet() == Some(inlet_name)) {
        return allow();
    }
    let Some(inlet) = view.get::<Port>(inlet_name) else {
        return deny(format!("referenced Port {inlet_name} not found"));
    };
    if inlet_name == port.metadata.name || inlet.spec.device_ref != port.spec.device_ref {
        return deny(format!(
            "Port {inlet_name} is not another port of {} {}",
            port.spec.device_ref.kind, port.spec.device_ref.name
        ));
    }
    if inlet.spec.kind != PortType::Power || inlet.spec.inlet().is_some() {
        return deny(format!("Port {inlet_name} is no inlet for power"));
    }
    match view.bucket_of::<Port>(FROM_INLET, &port.metadata.name).is_empty() {
        true => allow(),
        false => deny(format!("Port {} feeds others, so it is no outlet", port.metadata.name)),
    }
}

/// A rack's port is on a power feed that the rack has.
fn is_on_a_feed_of_its_rack(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let Some(port) = change.after() else { return allow() };
    let Some(feed) = port.spec.feed().filter(|_| port.spec.device_ref.kind == DeviceKind::Rack) else {
        return allow();
    };
    if change.before().is_some_and(|old| old.spec.feed() == Some(feed)) {
        return allow();
    }
    let rack_name = &port.spec.device_ref.name;
    let Some(rack) = view.get::<Rack>(rack_name) else {
        return deny(format!("referenced Rack {rack_name} not found"));
    };
    match rack.spec.power_feeds.iter().any(|found| found.name == feed) {
        true => allow(),
        false => deny(format!("Rack {rack_name} has no power feed {feed}")),
    }
}

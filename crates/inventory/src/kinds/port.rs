//! Port: a connector of a device for data, power or serial, or a port of a patch panel.

use krm::kind::{
    Bucket, Change, Declaration, Metadata, Missing, Reference, Resource, Sentence, Verdict, View, allow, deny,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{joined, texts};
use super::{Cable, NetworkDevice, Node, Rack, declare_inventory, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::references::DeviceKind;
use crate::{LocalObjectReference, PortDeviceReference, Quantity, Status};

/// Bucket of the ports that pass through a patch panel to another port, keyed by that port's name.
pub const THROUGH: Bucket = Bucket::new("inventory.miloapis.com/through").stored_as("inventory-through");
/// Bucket of the outlets that an inlet feeds, keyed by the inlet's name.
pub const FROM_INLET: Bucket =
    Bucket::new("inventory.miloapis.com/from-inlet").stored_as("inventory-from-inlet");
/// Bucket of the ports that a rack's power feed supplies, keyed by rack and feed.
pub const ON_FEED: Bucket = Bucket::new("inventory.miloapis.com/on-feed").stored_as("inventory-on-feed");
/// Bucket of the ports with a MAC address, in lower case.
pub const MAC: Bucket = Bucket::new("inventory.miloapis.com/mac");
/// Bucket of the ports with a name on their device, keyed by `Kind/name/port`.
pub const LABEL: Bucket = Bucket::new("inventory.miloapis.com/port-label");
/// Bucket of the ports of a device, keyed by `Kind/name`.
pub const ON_DEVICE: Bucket =
    Bucket::new("inventory.miloapis.com/on-device").stored_as("inventory-on-device");

/// A connector of a node, network device or rack: for data, power or serial, or a port of a patch panel. Cables and
/// circuits connect ports. A port cannot be deleted while a Cable, Circuit or another Port refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the port. Set by users.
    pub spec: PortSpec,
    /// Observation state of the port. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The type of a port.
    PortType: Power, Serial, Ethernet, Optical, PatchPanel
}

/// Specification of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.deviceRef == oldSelf.deviceRef", "message": "deviceRef is immutable"},
    {"rule": "!has(self.power) || self.type == 'Power'", "message": "power may only be set on a port of type Power"},
    {"rule": "!(has(self.power) && has(self.power.feed)) || self.deviceRef.kind == 'Rack'", "message": "power.feed may only be set on a port of a Rack"},
]))]
pub struct PortSpec {
    /// Device that the port belongs to. Immutable. While it does not exist, the port is not Ready (`DeviceNotFound`).
    pub device_ref: PortDeviceReference,
    /// Type of port. Only `Power` ports may set `power`.
    #[serde(rename = "type")]
    pub kind: PortType,
    /// Name of the port on the device, such as `eth0`, `PSU1` or `pp-A-24`. Must not be empty. If another port of the
    /// device has the same, the condition `NameUnique` is False.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Speed in bits per second, as a Kubernetes quantity: `100G`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Quantity>,
    /// For a port of a patch panel: the port on the other side of the panel that this one connects to. Like the front port
    /// and rear port of NetBox: set it on the front port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_through: Option<PassThrough>,
    /// For a rear port of a patch panel: the number of front ports that may connect to it, such as the fibers of an MPO
    /// connector. Defaults to 1. Cannot be reduced below a position in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub positions: Option<i32>,
    /// Power source and rating. Only for ports of type `Power`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// MAC address of the interface, as six hexadecimal octets separated by colons. If another port has the same, the
    /// condition `MACAddressUnique` is False.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"))]
    pub mac_address: Option<String>,
}

/// The connection from a port through its patch panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PassThrough {
    /// Port on the other side. Must be another port of the same device that has no `passThrough` itself.
    pub port_ref: LocalObjectReference,
    /// Position at that port, from 1 to its `positions`. At most one port may use each position. Defaults to 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub position: i32,
}

fn one() -> i32 {
    1
}

/// Power source and rating of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// For a port of a Rack: name of the rack's power feed that supplies the port. Must be one of the rack's `powerFeeds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub feed: Option<String>,
    /// For an outlet, such as that of a PDU: the power inlet of the same device that feeds it. Must be a `Power` port without
    /// an `inletRef` of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlet_ref: Option<LocalObjectReference>,
    /// Rated power in watts. The condition `PowerWithinRating` of the rack and impact analysis compare loads with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rated_watts: Option<i64>,
    /// Power drawn at this port while all power supplies of the device are live, in watts. Defaults to an equal share of what
    /// the device's `drawnWatts` leaves. If a supply is not live, the others carry its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub drawn_watts: Option<i64>,
}

/// The key of a rack's feed in the bucket [`ON_FEED`].
pub fn feed_of(rack: &str, feed: &str) -> String {
    format!("{rack}/{feed}")
}

impl PortSpec {
    /// The connection through the panel, if any.
    pub fn through(&self) -> Option<&PassThrough> {
        self.pass_through.as_ref()
    }

    /// The inlet that feeds it, if it is an outlet.
    pub fn inlet(&self) -> Option<&str> {
        self.power.as_ref()?.inlet_ref.as_ref().map(|inlet| inlet.name.as_str())
    }

    /// The rack's power feed that supplies it.
    pub fn feed(&self) -> Option<&str> {
        self.power.as_ref()?.feed.as_deref()
    }

    /// The key of its device in the bucket [`ON_DEVICE`].
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
        fn device<D: Resource>() -> Reference {
            let device = Reference::to::<D>("spec.deviceRef.name").when_kind(D::KIND);
            device.missing(Missing::NotReady("DeviceNotFound"))
        }
        let port = |path| Reference::to::<Port>(path).absent("referenced Port {} not found");
        let declaration = declare_inventory("vport.inventory.miloapis.com", &["Cable", "Circuit", "Port"])
            .tells_created(&[Sentence {
                when: "has($.deviceRef)",
                says: "created @ on {{ $.deviceRef.kind }} {{ $.deviceRef.name }}",
            }])
            .refers(device::<Node>())
            .refers(device::<NetworkDevice>())
            .refers(device::<Rack>())
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
            .bucket_raw(MAC, |port| texts(port, "spec.macAddress").map(|mac| mac.to_lowercase()).collect())
            .bucket_raw(LABEL, |port| {
                let device = joined(port, "spec.deviceRef.kind", "spec.deviceRef.name");
                device.iter().zip(texts(port, "spec.name")).map(|(on, name)| format!("{on}/{name}")).collect()
            })
            .rule(check_type_fits_use)
            .rule(check_pass_through)
            .rule(check_positions_in_use_remain)
            .rule(check_inlet)
            .rule(check_feed);
        prints_ready(declaration)
    }
}

/// A port keeps a type that fits its cable, its circuits and the outlets that it feeds.
fn check_type_fits_use(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let (Some(old), Some(port)) = (change.before(), change.after()) else { return allow() };
    if old.spec.kind == port.spec.kind {
        return allow();
    }
    for cable in view.bucket_of::<Cable>(super::cable::IN_PORT, &port.metadata.name) {
        if !cable.spec.media.fits(port.spec.kind) {
            return deny(format!(
                "Port {} carries {} Cable {}, which does not fit type {}",
                port.metadata.name, cable.spec.media, cable.metadata.name, port.spec.kind
            ));
        }
    }
    let (name, kind) = (&port.metadata.name, port.spec.kind);
    if kind == PortType::Power
        && let Some(circuit) = view.bucket(super::circuit::AT_PORT, name).first()
    {
        return deny(format!(
            "Port {name} carries Circuit {}, which does not fit type {kind}",
            circuit.name()
        ));
    }
    match view.bucket_of::<Port>(FROM_INLET, name).first() {
        Some(outlet) => deny(format!(
            "Port {name} feeds Port {}, so its type must remain {}",
            outlet.metadata.name,
            PortType::Power
        )),
        None => allow(),
    }
}

/// `passThrough` refers to another port of the same device without one, at a free position.
fn check_pass_through(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
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
        return deny(format!("Port {far_name} has a passThrough itself; refer to the port it leads to"));
    }
    if through.position > far.spec.positions.unwrap_or(1) {
        let most = far.spec.positions.unwrap_or(1);
        return deny(format!(
            "Port {far_name} has no position {}; its highest position is {most}",
            through.position
        ));
    }
    if !view.bucket_of::<Port>(THROUGH, &port.metadata.name).is_empty() {
        return deny(format!(
            "other ports pass through to Port {}, so it cannot set passThrough",
            port.metadata.name
        ));
    }
    let others = view.bucket_of::<Port>(THROUGH, far_name);
    let taken = others.iter().find(|other| {
        other.metadata.name != port.metadata.name
            && other.spec.through().is_some_and(|theirs| theirs.position == through.position)
    });
    match taken {
        Some(other) => deny(format!(
            "position {} of Port {far_name} is already used by Port {}",
            through.position, other.metadata.name
        )),
        None => allow(),
    }
}

/// `positions` is not reduced below one that another port uses.
fn check_positions_in_use_remain(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
    let (Some(old), Some(port)) = (change.before(), change.after()) else { return allow() };
    let now = port.spec.positions.unwrap_or(1);
    if old.spec.positions.unwrap_or(1) <= now {
        return allow();
    }
    let leading = view.bucket_of::<Port>(THROUGH, &port.metadata.name);
    let beyond =
        leading.iter().find(|other| other.spec.through().is_some_and(|through| through.position > now));
    match beyond {
        Some(other) => deny(format!("Port {} still uses a position above {now}", other.metadata.name)),
        None => allow(),
    }
}

/// An outlet is fed by an inlet of the same device, which is not an outlet itself.
fn check_inlet(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
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
        return deny(format!("Port {inlet_name} is not a power inlet"));
    }
    match view.bucket_of::<Port>(FROM_INLET, &port.metadata.name).is_empty() {
        true => allow(),
        false => {
            deny(format!("Port {} feeds other ports, so it cannot set power.inletRef", port.metadata.name))
        }
    }
}

/// `power.feed` names a power feed of the port's rack.
fn check_feed(change: &Change<Port>, view: &mut View<'_>) -> Verdict {
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

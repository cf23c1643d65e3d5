//! What racks, nodes and network devices have in common: a site, a unique serial number and asset tag, and for devices a
//! position in a rack or in a slot of another device.

use krm::Object;
use krm::kind::{Bucket, Change, Declaration, Missing, Reference, Resource, Verdict, View, allow, deny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::placement::{Footprint, Placement};
use super::{NetworkDevice, Node, Rack, Site};
use crate::LocalObjectReference;
use crate::choice::choice;

/// Bucket of the devices in a rack, keyed by the rack's name.
pub const IN_RACK: Bucket = Bucket::new("inventory.miloapis.com/in-rack").stored_as("inventory-in-rack");
/// Bucket of the devices in the slots of a device, keyed by `Kind/name`.
pub const IN_DEVICE: Bucket =
    Bucket::new("inventory.miloapis.com/in-device").stored_as("inventory-in-device");
/// Bucket of objects by serial number, in lower case.
pub const SERIAL: Bucket = Bucket::new("inventory.miloapis.com/serial").stored_as("inventory-serial");
/// Bucket of objects by asset tag, in lower case.
pub const ASSET_TAG: Bucket =
    Bucket::new("inventory.miloapis.com/asset-tag").stored_as("inventory-asset-tag");

/// Maximum nesting of devices in slots.
const MAX_NESTING: usize = 8;

choice! {
    /// The lifecycle stage of a rack or device.
    Lifecycle: Planned, Ordered, Staged, Active, Offline, Failed, Decommissioning, Retired
}

choice! {
    /// The kinds that can have slots.
    HolderKind: Node, NetworkDevice
}

/// A slot of a device that another device can occupy, such as a blade slot or a PCIe slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// Name of the slot, such as `blade-3` or `pcie-1`. Unique within the device. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Type of device that the slot takes, such as `Blade`, `LineCard` or `DPU`. Informational; 1 to 253 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub accepts: Option<String>,
}

/// The slot that a device occupies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InSlot {
    /// Device that has the slot. Must exist and be at the same site. Devices nest at most 8 deep.
    pub device_ref: HolderReference,
    /// Name of a slot of that device. Each slot holds at most one device.
    #[schemars(length(min = 1, max = 253))]
    pub slot: String,
}

/// Reference to a device with slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HolderReference {
    /// Kind of the device: `Node` or `NetworkDevice`.
    pub kind: HolderKind,
    /// Name of the device. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
}

impl HolderReference {
    /// The key of the device in the bucket [`IN_DEVICE`].
    pub fn key(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

/// What racks, nodes and network devices have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    /// Site of the object. Immutable. While the Site does not exist, the object is not Ready (`SiteNotFound`).
    pub site_ref: LocalObjectReference,
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
    /// Lifecycle stage. A `Retired` node must not be assigned to a cluster. Questions count only what is in service: `Active`,
    /// `Decommissioning` or unset. What is in a rack that is `Failed` or `Offline` is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
}

/// What nodes and network devices have in common: where they are mounted, what they hold and what they draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mounting {
    /// Rack units that the device occupies. Mutually exclusive with `inSlot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Slot of another device that this device occupies, such as a blade or a line card in a chassis. Mutually exclusive
    /// with `placement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_slot: Option<InSlot>,
    /// Slots for other devices, such as PCIe slots. A slot that is occupied cannot be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub slots: Vec<Slot>,
    /// Maximum power draw of the device itself, in watts. Counted against the power feeds of its rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub drawn_watts: Option<i64>,
}

/// A kind with what racks, nodes and network devices have in common.
pub trait HasAsset: Resource {
    /// Its name.
    fn name(&self) -> &str;
    /// What it has in common with the others.
    fn asset(&self) -> &Asset;
}

/// A node or a network device.
pub trait Device: HasAsset {
    /// What it has in common with the other.
    fn mounting(&self) -> &Mounting;
}

macro_rules! has_asset {
    ($($kind:ty),+) => { $(impl HasAsset for $kind {
        fn name(&self) -> &str {
            &self.metadata.name
        }

        fn asset(&self) -> &Asset {
            &self.spec.asset
        }
    })+ };
}

has_asset!(Node, NetworkDevice, Rack);

impl Device for Node {
    fn mounting(&self) -> &Mounting {
        &self.spec.mounting
    }
}

impl Device for NetworkDevice {
    fn mounting(&self) -> &Mounting {
        &self.spec.mounting
    }
}

/// Declares what racks, nodes and network devices share: the reference to their site, and the buckets by serial number and
/// asset tag, ignoring case.
pub fn declare_asset<T: HasAsset>(declaration: Declaration<T>) -> Declaration<T> {
    let lower = |path: &'static str| {
        move |object: &Object| texts(object, path).map(|text| text.to_lowercase()).collect()
    };
    let site = Reference::to::<Site>("spec.siteRef.name").missing(Missing::NotReady("SiteNotFound"));
    declaration
        .refers(site)
        .bucket_raw(SERIAL, lower("spec.serial"))
        .bucket_raw(ASSET_TAG, lower("spec.assetTag"))
}

/// Declares what devices share besides: where they are mounted, and the rules about it.
pub fn declare_device<D: Device>(declaration: Declaration<D>) -> Declaration<D> {
    fn holder<H: Resource>(says: &'static str) -> Reference {
        let holder = Reference::to::<H>("spec.inSlot.deviceRef.name");
        holder.when_kind(H::KIND).tie("slotted in it").absent(says)
    }
    let rack = Reference::to::<Rack>("spec.placement.rackRef.name");
    declare_asset(declaration)
        .refers(rack.absent("referenced Rack {} not found").tie("placed in it"))
        .refers(holder::<Node>("referenced Node {} not found"))
        .refers(holder::<NetworkDevice>("referenced NetworkDevice {} not found"))
        .bucket_raw(IN_RACK, |object| texts(object, "spec.placement.rackRef.name").collect())
        .bucket_raw(IN_DEVICE, |object| {
            joined(object, "spec.inSlot.deviceRef.kind", "spec.inSlot.deviceRef.name")
        })
        .rule(check_device)
}

/// The non-empty strings at a path.
pub(super) fn texts<'a>(object: &'a Object, path: &str) -> impl Iterator<Item = String> + use<'a> {
    krm::selector::field_texts(object, path).into_iter().filter(|text| !text.is_empty()).map(Into::into)
}

/// The strings at two paths, joined as `first/second`.
pub(super) fn joined(object: &Object, first: &str, second: &str) -> Vec<String> {
    texts(object, first)
        .zip(texts(object, second))
        .map(|(first, second)| format!("{first}/{second}"))
        .collect()
}

/// All rules for devices: rack position, slot, slots in use, unique tags.
pub fn check_device<D: Device>(change: &Change<D>, view: &mut View<'_>) -> Verdict {
    let (before, after) = (change.before(), change.after());
    check_placement(before, after, view)?;
    check_slot(before, after, view)?;
    check_slots_in_use_remain(before, after, view)?;
    check_tags_are_unique(before, after, view)
}

/// Serial numbers and asset tags are unique.
pub fn check_tags_are_unique<T: HasAsset>(
    before: Option<&T>,
    after: Option<&T>,
    view: &mut View<'_>,
) -> Verdict {
    let Some(after) = after else { return allow() };
    let tags = |object: &T| {
        let asset = object.asset();
        [(SERIAL, "serial", asset.serial.clone()), (ASSET_TAG, "assetTag", asset.asset_tag.clone())]
    };
    let old = before.map(tags);
    for (at, (bucket, what, number)) in tags(after).into_iter().enumerate() {
        let is_new = |number: &String| old.as_ref().is_none_or(|old| old[at].2.as_ref() != Some(number));
        let Some(number) = number.filter(is_new) else { continue };
        let holders = view.bucket(bucket, &number.to_lowercase());
        let other = holders.iter().find(|other| other.kind() != T::KIND || other.name() != after.name());
        if let Some(other) = other {
            return deny(format!("{what} {number} is already used by {} {}", other.kind(), other.name()));
        }
    }
    allow()
}

/// A device mounted in a rack.
#[derive(Debug, Clone)]
pub struct Occupant {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The units it occupies.
    pub footprint: Footprint,
    /// The reservation it uses.
    pub reservation: Option<String>,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} at {}", self.kind, self.name, self.footprint)
    }
}

impl Occupant {
    /// All devices mounted in a rack.
    pub fn all_in(view: &mut View<'_>, rack: &str) -> Vec<Occupant> {
        view.bucket(IN_RACK, rack).iter().filter_map(|object| Occupant::of(object)).collect()
    }

    /// The rack position of an object; `None` without a placement, and for a 0U device.
    pub fn of(object: &Object) -> Option<Occupant> {
        let placement = Placement::deserialize(object.at("spec.placement")?).ok()?;
        Some(Occupant {
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            footprint: placement.footprint()?,
            reservation: placement.reservation,
        })
    }

    /// Denied if it overlaps a reservation that it does not use, or exceeds the one that it does.
    pub fn check_reservations(&self, rack: &Rack) -> Verdict {
        let name = &rack.metadata.name;
        let own = self.reservation.as_deref();
        if let Some(own) = own {
            let Some(reserved) = rack.spec.reservations.iter().find(|reserved| reserved.name == own) else {
                return deny(format!(
                    "Rack {name} has no reservation {own}, which {} {} uses",
                    self.kind, self.name
                ));
            };
            if !self.footprint.is_within(&reserved.footprint()) {
                return deny(format!(
                    "placement {} ({}) of {} {} is not within reservation {own} at {} in Rack {name}",
                    self.footprint,
                    self.footprint.face_name(),
                    self.kind,
                    self.name,
                    reserved.footprint()
                ));
            }
        }
        let others = rack.spec.reservations.iter().filter(|reserved| Some(reserved.name.as_str()) != own);
        let mut in_the_way = others.filter(|reserved| reserved.footprint().overlaps(&self.footprint));
        match in_the_way.next() {
            Some(reserved) => deny(format!(
                "placement {} ({}) of {} {} overlaps reservation {} at {} in Rack {name}",
                self.footprint,
                self.footprint.face_name(),
                self.kind,
                self.name,
                reserved.name,
                reserved.footprint()
            )),
            None => allow(),
        }
    }
}

/// A device fits within its rack, is at the rack's site and overlaps no other device.
pub fn check_placement<D: Device>(before: Option<&D>, after: Option<&D>, view: &mut View<'_>) -> Verdict {
    let Some(device) = after else { return allow() };
    let Some(placement) = &device.mounting().placement else { return allow() };
    if before.is_some_and(|old| old.mounting().placement.as_ref() == Some(placement)) {
        return allow();
    }
    let rack_name = &placement.rack_ref.name;
    let Some(rack) = view.get::<Rack>(rack_name) else {
        return deny(format!("referenced Rack {rack_name} not found"));
    };
    if rack.spec.asset.site_ref != device.asset().site_ref {
        return deny(format!(
            "Rack {rack_name} is at Site {}, not at Site {} of {} {}",
            rack.spec.asset.site_ref.name,
            device.asset().site_ref.name,
            D::KIND,
            device.name()
        ));
    }
    let Some(footprint) = placement.footprint() else { return allow() };
    if footprint.end > rack.spec.height_u {
        return deny(format!(
            "placement {footprint} does not fit within Rack {rack_name} (height {}U)",
            rack.spec.height_u
        ));
    }
    let mut others = Occupant::all_in(view, rack_name);
    others.retain(|other| (other.kind.as_str(), other.name.as_str()) != (D::KIND, device.name()));
    if let Some(other) = others.iter().find(|other| other.footprint.overlaps(&footprint)) {
        return deny(format!(
            "placement {footprint} ({}) overlaps {other} in Rack {rack_name}",
            footprint.face_name()
        ));
    }
    let (kind, name) = (D::KIND.to_owned(), device.name().to_owned());
    Occupant { kind, name, footprint, reservation: placement.reservation.clone() }.check_reservations(&rack)
}

/// A device occupies an existing free slot of a device at the same site, and not one within itself.
pub fn check_slot<D: Device>(before: Option<&D>, after: Option<&D>, view: &mut View<'_>) -> Verdict {
    let Some(device) = after else { return allow() };
    let Some(within) = &device.mounting().in_slot else { return allow() };
    if before.is_some_and(|old| old.mounting().in_slot.as_ref() == Some(within)) {
        return allow();
    }
    let holder_name = format!("{} {}", within.device_ref.kind, within.device_ref.name);
    let Some(holder) = Holder::find(view, &within.device_ref) else {
        return deny(format!("referenced {holder_name} not found"));
    };
    let site = &device.asset().site_ref.name;
    if holder.asset.site_ref.name != *site {
        return deny(format!("{holder_name} is at Site {}, not at Site {site}", holder.asset.site_ref.name));
    }
    if !holder.mounting.slots.iter().any(|slot| slot.name == within.slot) {
        let slots: Vec<&str> = holder.mounting.slots.iter().map(|slot| slot.name.as_str()).collect();
        return deny(format!("{holder_name} has no slot {}; it has [{}]", within.slot, slots.join(" ")));
    }
    let inside = view.bucket(IN_DEVICE, &within.device_ref.key());
    let in_same = |other: &&std::sync::Arc<Object>| {
        other.at("spec.inSlot.slot").and_then(serde_json::Value::as_str) == Some(&within.slot)
            && (other.kind(), other.name()) != (D::KIND, device.name())
    };
    if let Some(other) = inside.iter().find(in_same) {
        return deny(format!(
            "slot {} of {holder_name} already holds {} {}",
            within.slot,
            other.kind(),
            other.name()
        ));
    }
    let mut around = Some((within.device_ref.clone(), holder));
    for _ in 0..MAX_NESTING {
        let Some((at, holder)) = around else { return allow() };
        if at.kind.to_string() == D::KIND && at.name == device.name() {
            return deny(format!("{} {} cannot be in a slot of itself", D::KIND, device.name()));
        }
        around = holder.mounting.in_slot.and_then(|outer| {
            let next = Holder::find(view, &outer.device_ref)?;
            Some((outer.device_ref, next))
        });
    }
    deny(format!("{} {} would be nested more than {MAX_NESTING} devices deep", D::KIND, device.name()))
}

/// A device keeps its occupied slots.
pub fn check_slots_in_use_remain<D: Device>(
    before: Option<&D>,
    after: Option<&D>,
    view: &mut View<'_>,
) -> Verdict {
    let (Some(old), Some(new)) = (before, after) else { return allow() };
    let is_kept = |name: &str| new.mounting().slots.iter().any(|kept| kept.name == name);
    if old.mounting().slots.iter().all(|slot| is_kept(&slot.name)) {
        return allow();
    }
    for inside in view.bucket(IN_DEVICE, &format!("{}/{}", D::KIND, new.name())) {
        let slot = inside.at("spec.inSlot.slot").and_then(serde_json::Value::as_str).unwrap_or_default();
        if !is_kept(slot) {
            return deny(format!("slot {slot} still holds {} {}", inside.kind(), inside.name()));
        }
    }
    allow()
}

/// A device with slots, of either kind.
struct Holder {
    asset: Asset,
    mounting: Mounting,
}

impl Holder {
    fn find(view: &mut View<'_>, at: &HolderReference) -> Option<Holder> {
        match at.kind {
            HolderKind::Node => view.get::<Node>(&at.name).map(|node| Holder::of(&node)),
            HolderKind::NetworkDevice => {
                view.get::<NetworkDevice>(&at.name).map(|device| Holder::of(&device))
            }
        }
    }

    fn of<D: Device>(device: &D) -> Holder {
        Holder { asset: device.asset().clone(), mounting: device.mounting().clone() }
    }
}

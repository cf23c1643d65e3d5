//! Rack: an equipment rack at a site, with its power feeds and reserved units.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource, Verdict, View, allow, deny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{self, Asset, Occupant, declare_asset};
use super::placement::{Face, Footprint, highest_unit};
use super::{activity, declare_inventory, prints_ready};
use crate::Status;
use crate::choice::choice;
use crate::questions;

/// An equipment rack at a site, with its power feeds and reserved units. It cannot be deleted while a Node or
/// NetworkDevice is placed in it or a Port belongs to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Rack {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the rack. Set by users.
    pub spec: RackSpec,
    /// Observation state of the rack. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Specification of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
]))]
pub struct RackSpec {
    /// What it has in common with other assets.
    #[serde(flatten)]
    pub asset: Asset,
    /// Cage of the rack. Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cage: Option<String>,
    /// Row of the rack. Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// Name on the rack's label, if it differs from the object's name. Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Height of the rack in rack units (U). Cannot be reduced below the highest unit that a device occupies.
    #[serde(rename = "heightU")]
    #[schemars(range(min = 1))]
    pub height_u: i32,
    /// Power feeds of the rack. A feed that a Port uses cannot be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub power_feeds: Vec<PowerFeed>,
    /// Reserved units. Names must be unique within the rack, and reservations must not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub reservations: Vec<Reservation>,
}

choice! {
    /// The number of phases of a power feed.
    Phase: SinglePhase, ThreePhase
}

/// A power feed of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerFeed {
    /// Name of the feed, such as `A`. Ports refer to it in `spec.power.feed`. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Number of phases. Unset is treated as `SinglePhase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Voltage in volts; line-to-line for a three-phase feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub voltage: Option<i32>,
    /// Rated current per phase, in amperes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub amps_rated: Option<i32>,
    /// Share of the rating that may be used, in percent (1 to 100). Defaults to 80.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub max_utilization_percent: Option<i32>,
}

impl PowerFeed {
    /// Usable power in watts, if voltage and rated current are set.
    pub fn usable_watts(&self) -> Option<i64> {
        self.share(f64::from(self.max_utilization_percent.unwrap_or(80)) / 100.0)
    }

    /// Full rating in watts, above which the breaker trips, if voltage and rated current are set.
    pub fn rated_watts(&self) -> Option<i64> {
        self.share(1.0)
    }

    fn share(&self, share: f64) -> Option<i64> {
        let (volts, amperes) = (f64::from(self.voltage?), f64::from(self.amps_rated?));
        let phases = if self.phase == Some(Phase::ThreePhase) { 3.0_f64.sqrt() } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, reason = "float-to-int casts saturate")]
        Some((volts * amperes * phases * share).round() as i64)
    }
}

/// Reserved units of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reservation {
    /// Name of the reservation. A device uses its units by naming it in `spec.placement.reservation`. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Lowest reserved rack unit. U1 is the bottom of the rack.
    #[schemars(range(min = 1))]
    pub start_unit: i32,
    /// Number of reserved rack units. The highest one must be within the rack's `heightU`.
    #[schemars(range(min = 1))]
    pub unit_height: i32,
    /// Face that is reserved. Unset means front and rear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// Purpose of the reservation. Free text, at most 1024 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

impl Reservation {
    /// The units that it reserves, on one face or both.
    pub fn footprint(&self) -> Footprint {
        Footprint {
            start: self.start_unit,
            end: highest_unit(self.start_unit, self.unit_height),
            face: self.face,
        }
    }
}

impl Resource for Rack {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Rack";
    const PLURAL: &'static str = "racks";

    fn declare() -> Declaration<Rack> {
        let rack = declare_inventory("vrack.inventory.miloapis.com", &["Node", "NetworkDevice", "Port"])
            .tells_created(&[activity::AT_SITE])
            .selects(&["spec.siteRef.name", "spec.cage", "spec.row", "spec.lifecycle"])
            .searches(&["spec.name", "spec.cage", "spec.row", "spec.serial", "spec.assetTag"])
            .prints("Site", "string", ".spec.siteRef.name")
            .prints("Cage", "string", ".spec.cage")
            .prints("Row", "string", ".spec.row")
            .prints("HeightU", "integer", ".spec.heightU")
            .prints_age()
            .answers("elevation", "RackElevation", questions::elevation::answer)
            .answers("find-space", "RackSpace", questions::space::answer())
            .answers("impact", "Impact", questions::impact::answer("Rack"))
            .validate(validate_reservations)
            .rule(check_occupants_still_fit)
            .rule(check_feeds_in_use_remain)
            .rule(|change, view| device::check_tags_are_unique(change.before(), change.after(), view));
        declare_asset(prints_ready(rack))
    }
}

/// Reservations have unique names, fit within the rack and do not overlap.
fn validate_reservations(change: &Change<Rack>) -> Vec<FieldError> {
    let Some(rack) = change.after() else { return Vec::new() };
    let (spec, mut errors) = (Path::of("spec"), Vec::new());
    let list = spec.field("reservations");
    for (index, one) in rack.spec.reservations.iter().enumerate() {
        let (path, place) = (list.index(index), one.footprint());
        if place.end > rack.spec.height_u {
            let why = format!("{place} does not fit within the rack (height {}U)", rack.spec.height_u);
            errors.push(FieldError::invalid(&path.field("startUnit"), &one.start_unit.into(), why));
        }
        for other in &rack.spec.reservations[..index] {
            if other.name == one.name {
                errors.push(FieldError::duplicate(&path.field("name"), &one.name.as_str().into()));
            } else if other.footprint().overlaps(&place) {
                let why = format!("{place} overlaps reservation {} at {}", other.name, other.footprint());
                errors.push(FieldError::invalid(&path.field("startUnit"), &one.start_unit.into(), why));
            }
        }
    }
    errors
}

/// A rack keeps every occupied unit, and reserves none of them for another device.
fn check_occupants_still_fit(change: &Change<Rack>, view: &mut View<'_>) -> Verdict {
    let Some(rack) = change.after() else { return allow() };
    let same = |old: &Rack| {
        old.spec.height_u == rack.spec.height_u && old.spec.reservations == rack.spec.reservations
    };
    if change.before().is_some_and(same) {
        return allow();
    }
    let occupants = Occupant::all_in(view, &rack.metadata.name);
    let highest = occupants.iter().max_by_key(|occupant| occupant.footprint.end);
    if let Some(highest) = highest.filter(|highest| highest.footprint.end > rack.spec.height_u) {
        return deny(format!(
            "{highest} does not fit within Rack {} (height {}U)",
            rack.metadata.name, rack.spec.height_u
        ));
    }
    for occupant in &occupants {
        occupant.check_reservations(rack)?;
    }
    allow()
}

/// A rack keeps the power feeds that ports use.
fn check_feeds_in_use_remain(change: &Change<Rack>, view: &mut View<'_>) -> Verdict {
    let (Some(old), Some(rack)) = (change.before(), change.after()) else { return allow() };
    let is_kept = |name: &str| rack.spec.power_feeds.iter().any(|feed| feed.name == name);
    for lost in old.spec.power_feeds.iter().filter(|feed| !is_kept(&feed.name)) {
        let feed = super::port::feed_of(&rack.metadata.name, &lost.name);
        if let Some(port) = view.bucket_of::<super::Port>(super::port::ON_FEED, &feed).first() {
            return deny(format!("power feed {} is still used by Port {}", lost.name, port.metadata.name));
        }
    }
    allow()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(phase: Option<Phase>, percent: Option<i32>) -> PowerFeed {
        let (voltage, amps_rated) = (Some(415), Some(32));
        PowerFeed { name: "A".into(), phase, voltage, amps_rated, max_utilization_percent: percent }
    }

    #[test]
    fn usable_watts_follow_voltage_current_phases_and_utilization() {
        assert_eq!(feed(Some(Phase::SinglePhase), Some(100)).usable_watts(), Some(13_280));
        assert_eq!(feed(Some(Phase::ThreePhase), Some(100)).usable_watts(), Some(23_002));
        assert_eq!(feed(None, None).usable_watts(), Some(10_624), "utilization defaults to 80 percent");
        assert_eq!(PowerFeed { voltage: None, ..feed(None, None) }.usable_watts(), None);
    }
}

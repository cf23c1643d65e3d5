//! Rack: a cabinet at a site, whose units devices occupy.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Missing, Reference, Resource, Verdict, View, allow, deny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::{self, Lifecycle, Occupant};
use super::placement::{Face, Footprint, last};
use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{LocalObjectReference, Status};

/// A cabinet at a site, whose units devices occupy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Rack {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: RackSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What a rack is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.siteRef == oldSelf.siteRef", "message": "siteRef is immutable"},
]))]
pub struct RackSpec {
    /// The site it stands at.
    pub site_ref: LocalObjectReference,
    /// The cage it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cage: Option<String>,
    /// The row it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// What is written on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many units it has.
    #[serde(rename = "heightU")]
    #[schemars(range(min = 1))]
    pub height_u: i32,
    /// The power that comes to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub power_feeds: Vec<PowerFeed>,
    /// Units that are kept for something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub reservations: Vec<Reservation>,
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
}

choice! {
    /// How many wires carry the power.
    Phase: SinglePhase, ThreePhase
}

/// Power that comes to a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerFeed {
    /// What it is called, such as `A`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How many wires carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Volts; of three phases, between two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub voltage: Option<i32>,
    /// Amperes, of each phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub amps_rated: Option<i32>,
    /// How much of its rating may be used, in percent; 80 unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub max_utilization_percent: Option<i32>,
}

impl PowerFeed {
    /// How many watts it may give, when its voltage and amperes are known.
    pub fn usable_watts(&self) -> Option<i64> {
        let (volts, amperes) = (f64::from(self.voltage?), f64::from(self.amps_rated?));
        let phases = if self.phase == Some(Phase::ThreePhase) { 3.0_f64.sqrt() } else { 1.0 };
        let share = f64::from(self.max_utilization_percent.unwrap_or(80)) / 100.0;
        #[expect(clippy::cast_possible_truncation, reason = "a float is cut to the nearest number there is")]
        Some((volts * amperes * phases * share).round() as i64)
    }
}

/// Units of a rack that are kept for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reservation {
    /// What it is called; a device that names it may take its units.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The lowest unit.
    #[schemars(range(min = 1))]
    pub start_unit: i32,
    /// How many units.
    #[schemars(range(min = 1))]
    pub unit_height: i32,
    /// The side; both unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// What they are kept for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

impl Reservation {
    /// The units and sides that it keeps.
    pub fn footprint(&self) -> Footprint {
        Footprint { start: self.start_unit, end: last(self.start_unit, self.unit_height), face: self.face }
    }
}

impl Resource for Rack {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Rack";
    const PLURAL: &'static str = "racks";

    fn declare() -> Declaration<Rack> {
        let site = Reference::at("spec.siteRef.name", super::GROUP, "sites");
        let rack = inventoried("vrack.inventory.miloapis.com", &["Node", "NetworkDevice", "Port"])
            .refers(site.missing(Missing::NotReady("SiteNotFound")))
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
            .validate(reservations_lie_apart)
            .rule(holds_all_that_is_in_it)
            .rule(keeps_the_feeds_in_use)
            .rule(|change, view| {
                device::is_the_only_one_with_its_tags(change.before(), change.after(), view)
            });
        device::found_by_tags(prints_ready(rack))
    }
}

/// Reservations have names of their own, fit the rack and don't overlap.
fn reservations_lie_apart(change: &Change<Rack>) -> Vec<FieldError> {
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

/// A rack keeps every unit that something occupies, and reserves none of them for something else.
fn holds_all_that_is_in_it(change: &Change<Rack>, view: &mut View<'_>) -> Verdict {
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
        occupant.respects(rack)?;
    }
    allow()
}

/// A rack keeps the power feeds that ports are fed by.
fn keeps_the_feeds_in_use(change: &Change<Rack>, view: &mut View<'_>) -> Verdict {
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
    fn a_feed_gives_what_its_wires_carry() {
        assert_eq!(feed(Some(Phase::SinglePhase), Some(100)).usable_watts(), Some(13_280));
        assert_eq!(feed(Some(Phase::ThreePhase), Some(100)).usable_watts(), Some(23_002));
        assert_eq!(feed(None, None).usable_watts(), Some(10_624), "a fifth is kept free unless said");
        assert_eq!(PowerFeed { voltage: None, ..feed(None, None) }.usable_watts(), None);
    }
}

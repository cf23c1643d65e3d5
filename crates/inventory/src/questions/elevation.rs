//! Rack elevation: devices on both faces, free units and power.

use std::sync::Arc;

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde::{Deserialize, Serialize};

use super::{shown, svg};
use crate::kinds::device::{IN_DEVICE, IN_RACK};
use crate::kinds::placement::{Face, Footprint, Placement};
use crate::kinds::{NetworkDevice, Node, Rack};
use crate::power;

/// A rack elevation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elevation {
    /// Name of the rack.
    pub rack: String,
    /// Its site.
    pub site: String,
    /// Its cage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cage: Option<String>,
    /// Its row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// Height in rack units.
    #[serde(rename = "heightU")]
    pub height_u: i32,
    /// MountedDevice devices, from the bottom.
    pub devices: Vec<MountedDevice>,
    /// Reserved units.
    pub reservations: Vec<ReservedUnits>,
    /// Number of free units on the front face.
    pub free_front: i32,
    /// Number of free units on the rear face.
    pub free_rear: i32,
    /// Largest contiguous number of units free on front and rear.
    pub largest_free: i32,
    /// Power draw and capacity.
    pub power: Power,
}

/// A device mounted in a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MountedDevice {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Role of a network device, or cluster of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Lowest unit.
    pub start: i32,
    /// Highest unit.
    pub end: i32,
    /// Face; unset means both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// Maximum power draw in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts: Option<i64>,
    /// Occupied slots: name of the slot and of the device in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<(String, String)>,
}

impl MountedDevice {
    /// The units that it occupies.
    pub fn footprint(&self) -> Footprint {
        Footprint { start: self.start, end: self.end, face: self.face }
    }
}

/// Reserved units of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReservedUnits {
    /// Name of the reservation.
    pub name: String,
    /// Lowest unit.
    pub start: i32,
    /// Highest unit.
    pub end: i32,
    /// Face; unset means both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// Purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Power of a rack, in watts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// Sum of the maximum draw of its devices.
    pub drawn: i64,
    /// Power budget with redundancy: the usable power of the weakest feed. Unset if a rating is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<i64>,
    /// Load of each feed.
    pub feeds: Vec<Feed>,
}

/// Load of a power feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feed {
    /// Name of the feed.
    pub name: String,
    /// Usable power in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable: Option<i64>,
    /// Power drawn through cables, in watts.
    pub drawn: i64,
}

/// Power budget of a rack with redundancy: the usable power of its weakest feed.
pub fn budget(rack: &Rack) -> Option<i64> {
    rack.spec.power_feeds.iter().map(|feed| feed.usable_watts()).min().flatten()
}

impl Elevation {
    /// The elevation of a rack.
    pub fn of(rack: &Rack, look: &dyn QueryContext) -> Elevation {
        let name = rack.metadata.name.as_str();
        let nodes = look.in_bucket::<Node>(IN_RACK, name).into_iter().filter_map(|node| {
            let about = node.spec.assignment.as_ref().map(|assignment| assignment.cluster_ref.name.clone());
            let (placement, watts) = (node.spec.placement.as_ref()?, node.spec.drawn_watts);
            Some(mounted("Node", &node.metadata.name, about, placement, watts, look))
        });
        let devices = look.in_bucket::<NetworkDevice>(IN_RACK, name).into_iter().filter_map(|device| {
            let about = Some(device.spec.role.to_string());
            let (placement, watts) = (device.spec.placement.as_ref()?, device.spec.drawn_watts);
            Some(mounted("NetworkDevice", &device.metadata.name, about, placement, watts, look))
        });
        let mut devices: Vec<MountedDevice> = nodes.chain(devices).collect();
        devices.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        let reservations: Vec<ReservedUnits> = rack
            .spec
            .reservations
            .iter()
            .map(|kept| ReservedUnits {
                name: kept.name.clone(),
                start: kept.footprint().start,
                end: kept.footprint().end,
                face: kept.face,
                reason: kept.reason.clone(),
            })
            .collect();
        let mut taken: Vec<Footprint> = devices.iter().map(MountedDevice::footprint).collect();
        taken.extend(rack.spec.reservations.iter().map(|kept| kept.footprint()));
        let height = rack.spec.height_u;
        let free = |face| (1..=height).filter(|unit| !taken.iter().any(|one| one.takes(*unit, face))).count();
        let count = |free: usize| i32::try_from(free).unwrap_or(i32::MAX);
        let feeds = power::feeds(rack, look).into_iter();
        Elevation {
            rack: name.to_owned(),
            site: rack.spec.site_ref.name.clone(),
            cage: rack.spec.cage.clone(),
            row: rack.spec.row.clone(),
            height_u: height,
            free_front: count(free(Face::Front)),
            free_rear: count(free(Face::Rear)),
            largest_free: runs(height, &taken, None).into_iter().map(|(_, long)| long).max().unwrap_or(0),
            power: Power {
                drawn: devices.iter().filter_map(|device| device.watts).sum(),
                budget: budget(rack),
                feeds: feeds
                    .map(|feed| Feed { name: feed.feed, usable: feed.usable, drawn: feed.drawn })
                    .collect(),
            },
            devices,
            reservations,
        }
    }

    /// The device in a unit on a face.
    pub fn at(&self, unit: i32, face: Face) -> Option<&MountedDevice> {
        self.devices.iter().find(|device| device.footprint().takes(unit, face))
    }

    fn kept_at(&self, unit: i32, face: Face) -> Option<&ReservedUnits> {
        let takes = |kept: &&ReservedUnits| {
            Footprint { start: kept.start, end: kept.end, face: kept.face }.takes(unit, face)
        };
        self.reservations.iter().find(takes)
    }

    /// Text output.
    pub fn text(&self) -> String {
        const WIDE: usize = 26;
        let mut lines = vec![format!("{} at {}, {}U", self.rack, self.site, self.height_u)];
        lines.push(format!("  U  {:<WIDE$}  {:<WIDE$}", "FRONT", "REAR"));
        for unit in (1..=self.height_u).rev() {
            let cell = |face| match (self.at(unit, face), self.kept_at(unit, face)) {
                (Some(device), _) if unit == device.end => cut(&label(device), WIDE),
                (Some(_), _) => "│".to_owned(),
                (None, Some(kept)) => cut(&format!("({})", kept.name), WIDE),
                (None, None) => "·".to_owned(),
            };
            let line = format!("{unit:>3}  {:<WIDE$}  {:<WIDE$}", cell(Face::Front), cell(Face::Rear));
            lines.push(line.trim_end().to_owned());
        }
        lines.push(format!(
            "Free: {}U front, {}U rear; largest contiguous space, front and rear: {}U",
            self.free_front, self.free_rear, self.largest_free
        ));
        lines.push(match self.power.budget {
            Some(budget) => format!("Power: {} W of {budget} W", self.power.drawn),
            None => format!("Power: {} W; capacity of the power feeds unknown", self.power.drawn),
        });
        for feed in &self.power.feeds {
            let usable = feed.usable.map_or("unknown".to_owned(), |usable| format!("{usable} W"));
            lines.push(format!("  feed {}: {} W of {usable}", feed.name, feed.drawn));
        }
        for device in self.devices.iter().filter(|device| !device.slots.is_empty()) {
            let slots: Vec<String> =
                device.slots.iter().map(|(slot, inside)| format!("{slot}: {inside}")).collect();
            lines.push(format!("In {}: {}", device.name, slots.join(", ")));
        }
        lines.join("\n") + "\n"
    }
}

fn mounted(
    kind: &str,
    name: &str,
    about: Option<String>,
    placement: &Placement,
    watts: Option<i64>,
    look: &dyn QueryContext,
) -> MountedDevice {
    let footprint = placement.footprint();
    let inside = look.bucket(IN_DEVICE, &format!("{kind}/{name}"));
    let slots = inside.iter().map(|inside| {
        let slot = inside.at("spec.inSlot.slot").and_then(|slot| slot.as_str()).unwrap_or_default();
        (slot.to_owned(), inside.name().to_owned())
    });
    let mut slots: Vec<(String, String)> = slots.collect();
    slots.sort();
    let (start, end, face) = (footprint.start, footprint.end, footprint.face);
    MountedDevice { kind: kind.to_owned(), name: name.to_owned(), about, start, end, face, watts, slots }
}

/// The label of a device in a drawing.
pub(super) fn label(device: &MountedDevice) -> String {
    match &device.about {
        Some(about) => format!("{} ({about})", device.name),
        None => device.name.clone(),
    }
}

pub(super) fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Contiguous free units on a face, or on both: lowest unit and length.
pub fn runs(height: i32, taken: &[Footprint], face: Option<Face>) -> Vec<(i32, i32)> {
    let wanted = |unit| Footprint { start: unit, end: unit, face };
    let (mut found, mut begun) = (Vec::new(), None);
    for unit in 1..=height.saturating_add(1) {
        let is_free = unit <= height && !taken.iter().any(|one| one.overlaps(&wanted(unit)));
        match (is_free, begun) {
            (true, None) => begun = Some(unit),
            (false, Some(start)) => {
                found.push((start, unit - start));
                begun = None;
            }
            _ => {}
        }
    }
    found
}

/// Answers `…/racks/<name>/elevation`; for `-`, the racks selected by `names`, `site`, `cage` and `row`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let racks = asked_racks(asked, look)?;
    let row = Row { racks: racks.iter().map(|rack| Elevation::of(rack, look)).collect() };
    if asked.name != "-"
        && let [only] = row.racks.as_slice()
    {
        return shown(asked, only, || only.text(), Some(&|| svg::racks(&row.racks)));
    }
    let text = || row.racks.iter().map(Elevation::text).collect::<Vec<String>>().join("\n");
    shown(asked, &row, text, Some(&|| svg::racks(&row.racks)))
}

/// Racks side by side.
#[derive(Debug, Serialize)]
struct Row {
    racks: Vec<Elevation>,
}

fn asked_racks(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Vec<Arc<Rack>>, Status> {
    let named = match asked.name {
        "-" => asked.option("names").map(|names| names.split(',').map(str::to_owned).collect()),
        name => Some(vec![name.to_owned()]),
    };
    if let Some(names) = named {
        let find = |name: &String| {
            look.find::<Rack>(name).ok_or_else(|| Status::bad_request(format!("racks \"{name}\" not found")))
        };
        return names.iter().map(find).collect();
    }
    let mut racks: Vec<Rack> = match (asked.option("site"), asked.option("row")) {
        (Some(site), _) => look.with("spec.siteRef.name", site),
        (None, Some(row)) => look.with("spec.row", row),
        (None, None) => {
            return Err(Status::bad_request(
                "select racks with names=a,b, or with site= or row=, and optionally cage=",
            ));
        }
    };
    let is =
        |asked: Option<&str>, own: &Option<String>| asked.is_none_or(|asked| own.as_deref() == Some(asked));
    racks.retain(|rack| is(asked.option("cage"), &rack.spec.cage) && is(asked.option("row"), &rack.spec.row));
    Ok(racks.into_iter().map(Arc::new).collect())
}

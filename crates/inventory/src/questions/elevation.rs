//! Rack elevation: devices on both faces, free units and power.

use std::sync::Arc;

use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::{Deserialize, Serialize};

use super::{shown, svg};
use crate::kinds::device::{Device, IN_DEVICE, IN_RACK, Lifecycle};
use crate::kinds::placement::{Face, Footprint};
use crate::kinds::{Cluster, NetworkDevice, Node, Rack, Site};
use crate::power;
use crate::state::{AsIf, Fleet};

/// A rack elevation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elevation {
    /// Name of the rack.
    pub rack: String,
    /// Its site; empty if whoever asks may not read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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
    /// Lifecycle stage of the rack, unless it is `Active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
    /// Mounted devices, from the bottom.
    pub devices: Vec<MountedDevice>,
    /// 0U devices: in the rack, but in none of its units.
    #[serde(default, rename = "zeroU", skip_serializing_if = "Vec::is_empty")]
    pub zero_u: Vec<ZeroUDevice>,
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
    /// Lifecycle stage, unless it is `Active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
    /// Occupied slots: name of the slot and of the device in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<(String, String)>,
}

/// A device that is in a rack but occupies no unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ZeroUDevice {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Role of a network device, or cluster of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Maximum power draw in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts: Option<i64>,
    /// Lifecycle stage, unless it is `Active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
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
    /// Sum of the maximum draw of its devices that are in service, with what is in their slots.
    pub drawn: i64,
    /// Sum of the maximum draw of its devices that are not in service but are expected to be, such as planned or failed ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub to_come: i64,
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

fn is_zero(watts: &i64) -> bool {
    *watts == 0
}

impl Elevation {
    /// The elevation of a rack.
    pub fn of(rack: &Rack, fleet: &Fleet<'_>) -> Elevation {
        let (name, look) = (rack.metadata.name.as_str(), fleet.look());
        let found = Contents::of(name, fleet);
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
        let mut taken: Vec<Footprint> = found.devices.iter().map(MountedDevice::footprint).collect();
        taken.extend(rack.spec.reservations.iter().map(|kept| kept.footprint()));
        let height = rack.spec.height_u;
        let free = |face| (1..=height).filter(|unit| !taken.iter().any(|one| one.takes(*unit, face))).count();
        let count = |free: usize| i32::try_from(free).unwrap_or(i32::MAX);
        let in_service = fleet.in_service();
        let feeds = power::feeds(rack, &in_service).into_iter();
        Elevation {
            rack: name.to_owned(),
            site: Some(rack.spec.asset.site_ref.name.clone())
                .filter(|site| look.shows::<Site>(site))
                .unwrap_or_default(),
            cage: rack.spec.cage.clone(),
            row: rack.spec.row.clone(),
            height_u: height,
            state: fleet.mark(Rack::KIND, name),
            free_front: count(free(Face::Front)),
            free_rear: count(free(Face::Rear)),
            largest_free: runs(height, &taken, None).into_iter().map(|(_, long)| long).max().unwrap_or(0),
            power: Power {
                drawn: found.drawn,
                to_come: found.to_come,
                budget: budget(rack),
                feeds: feeds
                    .map(|feed| Feed { name: feed.feed, usable: feed.usable, drawn: feed.drawn })
                    .collect(),
            },
            devices: found.devices,
            zero_u: found.zero_u,
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
        let site = if self.site.is_empty() { String::new() } else { format!(" at {}", self.site) };
        let state = self.state.map(|state| format!(", {state}")).unwrap_or_default();
        let mut lines = vec![format!("{}{site}, {}U{state}", self.rack, self.height_u)];
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
        if !self.zero_u.is_empty() {
            let names: Vec<String> = self.zero_u.iter().map(ZeroUDevice::label).collect();
            lines.push(format!("0U: {}", names.join(", ")));
        }
        let to_come = match self.power.to_come {
            0 => String::new(),
            watts => format!(" ({watts} W more when all is in service)"),
        };
        lines.push(match self.power.budget {
            Some(budget) => format!("Power: {} W of {budget} W{to_come}", self.power.drawn),
            None => format!("Power: {} W{to_come}; capacity of the power feeds unknown", self.power.drawn),
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

/// What is in a rack, and what it draws.
#[derive(Default)]
struct Contents {
    devices: Vec<MountedDevice>,
    zero_u: Vec<ZeroUDevice>,
    drawn: i64,
    to_come: i64,
}

impl Contents {
    fn of(rack: &str, fleet: &Fleet<'_>) -> Contents {
        let (mut found, look) = (Contents::default(), fleet.look());
        for node in look.in_bucket::<Node>(IN_RACK, rack) {
            let about = node.spec.assignment.as_ref().map(|assignment| assignment.cluster_ref.name.clone());
            let about = about.filter(|cluster| look.shows::<Cluster>(cluster));
            found.add(&*node, about, node.spec.mounting.drawn_watts, fleet);
        }
        for device in look.in_bucket::<NetworkDevice>(IN_RACK, rack) {
            let about = Some(device.spec.role.to_string());
            found.add(&*device, about, device.spec.mounting.drawn_watts, fleet);
        }
        found.devices.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        found.zero_u.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    fn add<D: Device>(&mut self, device: &D, about: Option<String>, watts: Option<i64>, fleet: &Fleet<'_>) {
        let Some(placement) = &device.mounting().placement else { return };
        let (kind, name) = (D::KIND.to_owned(), device.name().to_owned());
        let state = fleet.mark(D::KIND, device.name());
        self.draw(&format!("{kind}/{name}"), fleet);
        let Some(Footprint { start, end, face }) = placement.footprint() else {
            return self.zero_u.push(ZeroUDevice { kind, name, about, watts, state });
        };
        let slots = slots_of(&format!("{kind}/{name}"), fleet.look());
        self.devices.push(MountedDevice { kind, name, about, start, end, face, watts, state, slots });
    }

    /// Adds the draw of a device and of the devices in its slots.
    fn draw(&mut self, device: &str, fleet: &Fleet<'_>) {
        let (kind, name) = device.split_once('/').unwrap_or_default();
        let watts = power::own_draw(device, fleet.look());
        let state = fleet.state(kind, name);
        if state.is_in_service() {
            self.drawn += watts;
        } else if state.is_to_come() {
            self.to_come += watts;
        }
        for inside in crate::failure::in_slots_of(device, fleet.look()) {
            self.draw(&inside, fleet);
        }
    }
}

fn slots_of(device: &str, look: &dyn QueryContext) -> Vec<(String, String)> {
    let inside = look.bucket(IN_DEVICE, device);
    let slots = inside.iter().map(|inside| {
        let slot = inside.at("spec.inSlot.slot").and_then(|slot| slot.as_str()).unwrap_or_default();
        (slot.to_owned(), inside.name().to_owned())
    });
    let mut slots: Vec<(String, String)> = slots.collect();
    slots.sort();
    slots
}

/// The label of a device in a drawing.
pub(super) fn label(device: &MountedDevice) -> String {
    labelled(&device.name, device.about.as_deref(), device.state)
}

impl ZeroUDevice {
    /// The label of the device.
    pub fn label(&self) -> String {
        labelled(&self.name, self.about.as_deref(), self.state)
    }
}

/// A name with what it is and, unless it is `Active`, its state.
fn labelled(name: &str, about: Option<&str>, state: Option<Lifecycle>) -> String {
    let state = state.map(|state| state.to_string());
    let more: Vec<&str> = state.as_deref().into_iter().chain(about).collect();
    match more.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({})", more.join(", ")),
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
    let as_if = AsIf::asked(asked, look)?;
    let fleet = Fleet::new(look, &as_if);
    let row = Row { racks: racks.iter().map(|rack| Elevation::of(rack, &fleet)).collect() };
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

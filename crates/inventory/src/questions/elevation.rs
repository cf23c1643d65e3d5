//! Elevation: what is where in a rack, front and rear, what is free, and how its power stands.

use std::sync::Arc;

use krm::kind::{Answered, Look, Questioned};
use krm::status::Status;
use serde::{Deserialize, Serialize};

use super::{shown, svg};
use crate::kinds::device::{IN_DEVICE, IN_RACK};
use crate::kinds::placement::{Face, Footprint, Placement};
use crate::kinds::{NetworkDevice, Node, Rack};
use crate::power;

/// A rack as one stands before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elevation {
    /// The rack.
    pub rack: String,
    /// The site it stands at.
    pub site: String,
    /// Its cage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cage: Option<String>,
    /// Its row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// How many units it has.
    #[serde(rename = "heightU")]
    pub height_u: i32,
    /// What is mounted in it, from the bottom.
    pub devices: Vec<Mounted>,
    /// What is kept for something.
    pub reservations: Vec<Kept>,
    /// How many units are free in front.
    pub free_front: i32,
    /// How many units are free in the rear.
    pub free_rear: i32,
    /// How many units in a row are free on both sides.
    pub largest_free: i32,
    /// How its power stands.
    pub power: Power,
}

/// Something in a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mounted {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What it does, or which cluster it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The lowest unit.
    pub start: i32,
    /// The highest unit.
    pub end: i32,
    /// The side; both when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// What it draws at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts: Option<i64>,
    /// What is in its slots: the slot and the device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<(String, String)>,
}

impl Mounted {
    /// The units that it takes.
    pub fn footprint(&self) -> Footprint {
        Footprint { start: self.start, end: self.end, face: self.face }
    }
}

/// Units that are kept for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The reservation.
    pub name: String,
    /// The lowest unit.
    pub start: i32,
    /// The highest unit.
    pub end: i32,
    /// The side; both when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// What for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The power of a rack, in watts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// What everything in it draws at most.
    pub drawn: i64,
    /// What it may draw so that any one feed could carry it alone; unknown when a feed's rating is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<i64>,
    /// Each feed.
    pub feeds: Vec<Feed>,
}

/// A feed of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feed {
    /// Its name.
    pub name: String,
    /// What it may give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable: Option<i64>,
    /// What is drawn from it through cables.
    pub drawn: i64,
}

/// What a rack may draw so that any one feed could carry it alone.
pub fn budget(rack: &Rack) -> Option<i64> {
    rack.spec.power_feeds.iter().map(|feed| feed.usable_watts()).min().flatten()
}

impl Elevation {
    /// A rack with all that is in it.
    pub fn of(rack: &Rack, look: &dyn Look) -> Elevation {
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
        let mut devices: Vec<Mounted> = nodes.chain(devices).collect();
        devices.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        let reservations: Vec<Kept> = rack
            .spec
            .reservations
            .iter()
            .map(|kept| Kept {
                name: kept.name.clone(),
                start: kept.footprint().start,
                end: kept.footprint().end,
                face: kept.face,
                reason: kept.reason.clone(),
            })
            .collect();
        let mut taken: Vec<Footprint> = devices.iter().map(Mounted::footprint).collect();
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

    /// What stands in a unit on a side.
    pub fn at(&self, unit: i32, face: Face) -> Option<&Mounted> {
        self.devices.iter().find(|device| device.footprint().takes(unit, face))
    }

    fn kept_at(&self, unit: i32, face: Face) -> Option<&Kept> {
        let takes =
            |kept: &&Kept| Footprint { start: kept.start, end: kept.end, face: kept.face }.takes(unit, face);
        self.reservations.iter().find(takes)
    }

    /// What a terminal shows.
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
            "Free: {}U front, {}U rear; {}U in a row on both sides",
            self.free_front, self.free_rear, self.largest_free
        ));
        lines.push(match self.power.budget {
            Some(budget) => format!("Power: {} W of {budget} W", self.power.drawn),
            None => format!("Power: {} W; what its feeds give is not known", self.power.drawn),
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
    look: &dyn Look,
) -> Mounted {
    let footprint = placement.footprint();
    let inside = look.bucket(IN_DEVICE, &format!("{kind}/{name}"));
    let slots = inside.iter().map(|inside| {
        let slot = inside.at("spec.inSlot.slot").and_then(|slot| slot.as_str()).unwrap_or_default();
        (slot.to_owned(), inside.name().to_owned())
    });
    let mut slots: Vec<(String, String)> = slots.collect();
    slots.sort();
    let (start, end, face) = (footprint.start, footprint.end, footprint.face);
    Mounted { kind: kind.to_owned(), name: name.to_owned(), about, start, end, face, watts, slots }
}

/// What is written on a device.
pub(super) fn label(device: &Mounted) -> String {
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

/// Runs of units that are free on a side, or on both: the lowest unit and how many.
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

/// Answers `…/racks/<name>/elevation`; of `-`, the racks that `names`, `site`, `cage` and `row` say, side by side.
pub fn answer(asked: &Questioned<'_>, look: &dyn Look) -> Result<Answered, Status> {
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

fn asked_racks(asked: &Questioned<'_>, look: &dyn Look) -> Result<Vec<Arc<Rack>>, Status> {
    let named = match asked.name {
        "-" => asked.option("names").map(|names| names.split(',').map(str::to_owned).collect()),
        name => Some(vec![name.to_owned()]),
    };
    if let Some(names) = named {
        let find = |name: &String| {
            look.find::<Rack>(name).ok_or_else(|| Status::bad_request(format!("there is no Rack {name}")))
        };
        return names.iter().map(find).collect();
    }
    let mut racks: Vec<Rack> = match (asked.option("site"), asked.option("row")) {
        (Some(site), _) => look.with("spec.siteRef.name", site),
        (None, Some(row)) => look.with("spec.row", row),
        (None, None) => {
            return Err(Status::bad_request("say which racks: names=a,b or site=, with cage= and row="));
        }
    };
    let is =
        |asked: Option<&str>, own: &Option<String>| asked.is_none_or(|asked| own.as_deref() == Some(asked));
    racks.retain(|rack| is(asked.option("cage"), &rack.spec.cage) && is(asked.option("row"), &rack.spec.row));
    Ok(racks.into_iter().map(Arc::new).collect())
}

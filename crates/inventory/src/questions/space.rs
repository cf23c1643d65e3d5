//! Find space: which racks have room for what is to come, best first, and why the others have not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use krm::kind::{Answered, Look, Questioned, Resource};
use krm::status::Status;
use serde::{Deserialize, Serialize};

use super::elevation::{budget, runs};
use super::{shown, table};
use crate::kinds::device::IN_RACK;
use crate::kinds::network_device::DeviceRole;
use crate::kinds::placement::{Face, Footprint, Placement};
use crate::kinds::port::{self, PortType};
use crate::kinds::{GROUP, NetworkDevice, Port, Rack, cable};
use crate::topology::REGION;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// How many units.
    pub units: i32,
    /// The side; both when there is none.
    pub face: Option<Face>,
    /// Watts.
    pub watts: i64,
    /// Free network ports in the same rack.
    pub ports: usize,
    /// How many such places.
    pub count: usize,
    /// How they are to be spread.
    pub spread: Spread,
}

/// How several places are to be spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Not at all.
    Pack,
    /// One in a rack.
    Racks,
    /// One in a row.
    Rows,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Places, best first.
    pub places: Vec<Place>,
    /// Racks that have none, and why.
    pub ruled_out: Vec<RuledOut>,
}

/// A place in a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The rack.
    pub rack: String,
    /// The site it stands at.
    pub site: String,
    /// The lowest unit.
    pub start_unit: i32,
    /// The side; both when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// How many units stay free beside it.
    pub left_over: i32,
    /// Watts that are left then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts_left: Option<i64>,
    /// Network ports of the rack that are free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ports: Option<usize>,
    /// The row of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// How many units in a row are free there.
    #[serde(skip)]
    pub run: i32,
}

/// A rack that has no place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// The rack.
    pub rack: String,
    /// Why.
    pub reason: String,
}

/// Looks through racks for places.
pub fn find(racks: &[Arc<Room>], wanted: &Wanted, look: &dyn Look) -> Space {
    let (mut places, mut ruled_out) = (Vec::new(), Vec::new());
    for room in racks {
        match room.places(wanted) {
            Ok(found) => places.extend(found),
            Err(reason) => ruled_out.push(RuledOut { rack: room.rack.metadata.name.clone(), reason }),
        }
    }
    // The tightest place first, so that large ones stay; then where most power is left.
    places.sort_by(|a: &Place, b: &Place| {
        let rank = |place: &Place| (place.run, std::cmp::Reverse(place.watts_left.unwrap_or(0)));
        rank(a).cmp(&rank(b)).then_with(|| (&a.rack, a.start_unit).cmp(&(&b.rack, b.start_unit)))
    });
    let mut choice =
        Choice { wanted, look, used: BTreeSet::new(), watts: BTreeMap::new(), ports: BTreeMap::new() };
    let mut chosen = Vec::new();
    for mut place in places {
        if chosen.len() == wanted.count {
            break;
        }
        match choice.takes(&mut place) {
            Ok(true) => chosen.push(place),
            Ok(false) => {}
            Err(reason) => ruled_out.push(RuledOut { rack: place.rack, reason }),
        }
    }
    ruled_out.sort_by(|a, b| a.rack.cmp(&b.rack));
    ruled_out.dedup_by(|a, b| a.rack == b.rack);
    Space { places: chosen, ruled_out }
}

/// Places that are chosen one after the other: spread as is asked, and never more watts from a rack than it has.
struct Choice<'a> {
    wanted: &'a Wanted,
    look: &'a dyn Look,
    used: BTreeSet<String>,
    watts: BTreeMap<String, i64>,
    ports: BTreeMap<String, usize>,
}

impl Choice<'_> {
    fn takes(&mut self, place: &mut Place) -> Result<bool, String> {
        let wanted = self.wanted;
        let spent = self.watts.get(&place.rack).copied().unwrap_or(0);
        if place.watts_left.is_some_and(|left| left < spent) {
            return Ok(false);
        }
        if wanted.ports > 0 {
            // Asked only of racks that would be taken: it costs more than everything else.
            let look = self.look;
            let free = *self.ports.entry(place.rack.clone()).or_insert_with(|| free_ports(&place.rack, look));
            if free < wanted.ports {
                return Err(format!("{free} network ports are free, {} are wanted", wanted.ports));
            }
            place.free_ports = Some(free);
        }
        let apart = match wanted.spread {
            Spread::Pack => true,
            Spread::Racks => self.used.insert(place.rack.clone()),
            Spread::Rows => {
                self.used.insert(format!("{}/{}", place.site, place.row.as_deref().unwrap_or(&place.rack)))
            }
        };
        if apart {
            *self.watts.entry(place.rack.clone()).or_default() += wanted.watts;
            if let Some(free) = self.ports.get_mut(&place.rack) {
                *free -= wanted.ports;
            }
        }
        Ok(apart)
    }
}

/// A rack and what is taken of it.
#[derive(Debug)]
pub struct Room {
    rack: Arc<Rack>,
    taken: Vec<Footprint>,
    drawn: i64,
    seen_at: (Option<u64>, u64),
}

impl Room {
    /// A rack with what is in it.
    pub fn of(name: &str, look: &dyn Look) -> Option<Room> {
        let seen_at = Room::version(name, look);
        let rack: Arc<Rack> = look.find(name)?;
        let (mut taken, mut drawn) = (Vec::new(), 0);
        for device in look.bucket(IN_RACK, name) {
            let placement = device.at("spec.placement").and_then(|value| Placement::deserialize(value).ok());
            taken.extend(placement.map(|placement| placement.footprint()));
            drawn += device.at("spec.drawnWatts").and_then(serde_json::Value::as_i64).unwrap_or(0);
        }
        taken.extend(rack.spec.reservations.iter().map(|kept| kept.footprint()));
        Some(Room { rack, taken, drawn, seen_at })
    }

    fn version(name: &str, look: &dyn Look) -> (Option<u64>, u64) {
        (look.version(&Rack::address("", name)), look.bucket_version(IN_RACK, name))
    }

    fn places(&self, wanted: &Wanted) -> Result<Vec<Place>, String> {
        let (rack, name) = (&self.rack, self.rack.metadata.name.as_str());
        let watts_left = budget(rack).map(|budget| budget - self.drawn - wanted.watts);
        if wanted.watts > 0 {
            match watts_left {
                None => return Err("what its power feeds give is not known".to_owned()),
                Some(left) if left < 0 => {
                    return Err(format!("{} W are left, {} W are wanted", left + wanted.watts, wanted.watts));
                }
                Some(_) => {}
            }
        }
        let free = runs(rack.spec.height_u, &self.taken, wanted.face);
        let largest = free.iter().map(|(_, long)| *long).max().unwrap_or(0);
        if largest < wanted.units {
            return Err(format!("{largest}U in a row are free, {}U are wanted", wanted.units));
        }
        let mut places = Vec::new();
        for (start, long) in free {
            let mut at = start;
            while at + wanted.units <= start + long && places.len() < wanted.count {
                places.push(Place {
                    rack: name.to_owned(),
                    site: rack.spec.site_ref.name.clone(),
                    start_unit: at,
                    face: wanted.face,
                    left_over: start + long - at - wanted.units,
                    watts_left,
                    free_ports: None,
                    row: rack.spec.row.clone(),
                    run: long,
                });
                at += wanted.units;
            }
        }
        Ok(places)
    }
}

/// Rooms that were looked at before: those in which nothing has changed since are not read again.
#[derive(Debug, Default)]
pub struct Rooms(Mutex<HashMap<String, Arc<Room>>>);

impl Rooms {
    /// A rack with what is in it.
    pub fn get(&self, name: &str, look: &dyn Look) -> Option<Arc<Room>> {
        let seen_at = Room::version(name, look);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(known) = known.filter(|known| known.seen_at == seen_at) {
            return Some(known);
        }
        let room = Room::of(name, look).map(Arc::new);
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &room {
            Some(room) => drop(rooms.insert(name.to_owned(), room.clone())),
            None => drop(rooms.remove(name)),
        }
        room
    }
}

/// Network ports of a rack's switches without a cable.
fn free_ports(rack: &str, look: &dyn Look) -> usize {
    let devices = look.in_bucket::<NetworkDevice>(IN_RACK, rack).into_iter();
    let switches =
        devices.filter(|device| !matches!(device.spec.role, DeviceRole::PDU | DeviceRole::PatchPanel));
    let ports = switches.flat_map(|switch| {
        look.in_bucket::<Port>(port::ON_DEVICE, &format!("NetworkDevice/{}", switch.metadata.name))
    });
    let data = ports.filter(|port| matches!(port.spec.kind, PortType::Ethernet | PortType::Optical));
    data.filter(|port| look.places(cable::IN_PORT, &port.metadata.name).is_empty()).count()
}

/// Answers `…/racks/-/find-space?units=2&…`.
pub fn answer() -> impl Fn(&Questioned<'_>, &dyn Look) -> Result<Answered, Status> {
    let rooms = Rooms::default();
    move |asked, look| {
        let wanted = wanted(asked)?;
        let names = match (asked.name, asked.option("site")) {
            ("-", Some(site)) => {
                let racks = look.having(GROUP, "racks", "spec.siteRef.name", site);
                racks.iter().map(|rack| rack.name().to_owned()).collect()
            }
            ("-", None) => look.names(GROUP, "racks"),
            (name, _) => vec![name.to_owned()],
        };
        let is =
            |option: &str, own: Option<&str>| asked.option(option).is_none_or(|asked| own == Some(asked));
        let mut racks: Vec<Arc<Room>> = names.iter().filter_map(|name| rooms.get(name, look)).collect();
        racks.retain(|room| {
            let rack = &room.rack;
            is("cage", rack.spec.cage.as_deref())
                && is("row", rack.spec.row.as_deref())
                && is("region", rack.metadata.labels.get(REGION).map(String::as_str))
        });
        let space = find(&racks, &wanted, look);
        shown(asked, &space, || space.text(&wanted), None)
    }
}

fn wanted(asked: &Questioned<'_>) -> Result<Wanted, Status> {
    let bad = |why: &str| Err(Status::bad_request(why));
    let units = asked.number("units")?.unwrap_or(1);
    if units < 1 {
        return bad("units is to be at least 1");
    }
    let face = match asked.option("face").map(str::to_lowercase).as_deref() {
        None | Some("both") => None,
        Some("front") => Some(Face::Front),
        Some("rear") => Some(Face::Rear),
        Some(_) => return bad("face is to be front, rear or both"),
    };
    let spread = match asked.option("spread") {
        None | Some("none") => Spread::Pack,
        Some("rack" | "racks") => Spread::Racks,
        Some("row" | "rows") => Spread::Rows,
        Some(_) => return bad("spread is to be rack, row or none"),
    };
    Ok(Wanted {
        units,
        face,
        watts: asked.number("watts")?.unwrap_or(0),
        ports: asked.number("ports")?.unwrap_or(0),
        count: asked.number("count")?.unwrap_or(10),
        spread,
    })
}

impl Space {
    /// What a terminal shows.
    pub fn text(&self, wanted: &Wanted) -> String {
        let mut rows = vec![
            ["RACK", "SITE", "UNITS", "SIDE", "LEFT", "WATTS-LEFT", "PORTS"].map(str::to_owned).to_vec(),
        ];
        for place in &self.places {
            let end = place.start_unit + wanted.units - 1;
            rows.push(vec![
                place.rack.clone(),
                place.site.clone(),
                format!("U{}-U{end}", place.start_unit),
                place.face.map_or("both".to_owned(), |face| face.to_string()),
                format!("{}U", place.left_over),
                place.watts_left.map_or("<none>".to_owned(), |watts| watts.to_string()),
                place.free_ports.map_or("<none>".to_owned(), |ports| ports.to_string()),
            ]);
        }
        let mut text = match self.places.is_empty() {
            true => "No rack has room for it.\n".to_owned(),
            false => table(&rows),
        };
        for out in &self.ruled_out {
            text.push_str(&format!("Not {}: {}\n", out.rack, out.reason));
        }
        text
    }
}

//! Find space: racks with space for new devices, best first, and why the others are ruled out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use krm::Object;
use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::{Deserialize, Serialize};

use super::elevation::{budget, runs};
use super::{shown, table};
use crate::kinds::device::{IN_DEVICE, IN_RACK, Lifecycle};
use crate::kinds::network_device::DeviceRole;
use crate::kinds::placement::{Face, Footprint, Placement};
use crate::kinds::port::{self, PortType};
use crate::kinds::{GROUP, NetworkDevice, Port, Rack, Site, cable};
use crate::state::{AsIf, Fleet};

/// The requested space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceRequest {
    /// Number of contiguous rack units.
    pub units: i32,
    /// Face; `None` means both.
    pub face: Option<Face>,
    /// Power draw in watts.
    pub watts: i64,
    /// Number of free network ports on switches in the same rack.
    pub ports: usize,
    /// Maximum number of positions to return.
    pub count: usize,
    /// How to spread the positions.
    pub spread: Spread,
}

/// How to spread several positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// No constraint.
    Pack,
    /// At most one per rack.
    Racks,
    /// At most one per row.
    Rows,
}

/// The result of a search for space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Positions, best first.
    pub places: Vec<FreePosition>,
    /// Racks without a suitable position, and why.
    pub ruled_out: Vec<RuledOut>,
}

/// A free position in a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FreePosition {
    /// Name of the rack.
    pub rack: String,
    /// Site of the rack; empty if whoever asks may not read it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub site: String,
    /// Lowest unit.
    pub start_unit: i32,
    /// Face; unset means both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub face: Option<Face>,
    /// Number of units of the free range that remain above it.
    pub left_over: i32,
    /// Power budget that remains, in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watts_left: Option<i64>,
    /// Number of free network ports in the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_ports: Option<usize>,
    /// Row of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// Length of the contiguous free range.
    #[serde(skip)]
    pub run: i32,
}

/// A rack without a suitable position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// Name of the rack.
    pub rack: String,
    /// Why it is ruled out.
    pub reason: String,
}

/// Searches racks for free positions. Racks that are not in service, or will not be for long, are ruled out.
pub fn find(racks: &[Arc<RackOccupancy>], wanted: &SpaceRequest, fleet: &Fleet<'_>) -> Space {
    let (mut places, mut ruled_out) = (Vec::new(), Vec::new());
    let look = fleet.look();
    for rack_occupancy in racks {
        let state = fleet.mark(Rack::KIND, &rack_occupancy.rack.metadata.name);
        match state.map_or_else(|| rack_occupancy.places(wanted), |state| Err(format!("the rack is {state}")))
        {
            Ok(found) => places.extend(found),
            Err(reason) => {
                ruled_out.push(RuledOut { rack: rack_occupancy.rack.metadata.name.clone(), reason })
            }
        }
    }
    // The tightest range first, so that large ones remain; then the rack with the most power left.
    places.sort_by(|a: &FreePosition, b: &FreePosition| {
        let rank = |place: &FreePosition| (place.run, std::cmp::Reverse(place.watts_left.unwrap_or(0)));
        rank(a).cmp(&rank(b)).then_with(|| (&a.rack, a.start_unit).cmp(&(&b.rack, b.start_unit)))
    });
    let mut choice =
        Allocation { wanted, fleet, used: BTreeSet::new(), watts: BTreeMap::new(), ports: BTreeMap::new() };
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
    for place in chosen.iter_mut().filter(|place| !look.shows::<Site>(&place.site)) {
        place.site.clear();
    }
    ruled_out.sort_by(|a, b| a.rack.cmp(&b.rack));
    ruled_out.dedup_by(|a, b| a.rack == b.rack);
    Space { places: chosen, ruled_out }
}

/// Picks positions one by one, honoring the spread and each rack's remaining power and ports.
struct Allocation<'a> {
    wanted: &'a SpaceRequest,
    fleet: &'a Fleet<'a>,
    used: BTreeSet<String>,
    watts: BTreeMap<String, i64>,
    ports: BTreeMap<String, usize>,
}

impl Allocation<'_> {
    fn takes(&mut self, place: &mut FreePosition) -> Result<bool, String> {
        let wanted = self.wanted;
        let spent = self.watts.get(&place.rack).copied().unwrap_or(0);
        if place.watts_left.is_some_and(|left| left < spent) {
            return Ok(false);
        }
        if wanted.ports > 0 {
            // Computed last, because counting ports is the most expensive check.
            let fleet = self.fleet;
            let free =
                *self.ports.entry(place.rack.clone()).or_insert_with(|| free_ports(&place.rack, fleet));
            if free < wanted.ports {
                return Err(format!("{free} network ports free, {} required", wanted.ports));
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

/// Occupied units and power draw of a rack.
#[derive(Debug)]
pub struct RackOccupancy {
    rack: Arc<Rack>,
    taken: Vec<Footprint>,
    /// What its devices draw, or will once they are in service.
    drawn: i64,
    seen_at: Seen,
}

/// The versions of what an occupancy was read from.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    rack: Option<u64>,
    devices: u64,
    /// Of the devices in slots, by the device that has them.
    inside: BTreeMap<String, u64>,
}

impl Seen {
    fn of(name: &str, look: &dyn QueryContext) -> Seen {
        let (rack, devices) = (look.version(&Rack::address("", name)), look.bucket_version(IN_RACK, name));
        Seen { rack, devices, inside: BTreeMap::new() }
    }

    fn is_current(&self, name: &str, look: &dyn QueryContext) -> bool {
        let inside = |(device, version): (&String, &u64)| look.bucket_version(IN_DEVICE, device) == *version;
        let now = Seen::of(name, look);
        (now.rack, now.devices) == (self.rack, self.devices) && self.inside.iter().all(inside)
    }
}

impl RackOccupancy {
    /// Reads a rack and its devices.
    pub fn of(name: &str, fleet: &Fleet<'_>) -> Option<RackOccupancy> {
        let look = fleet.look();
        let seen_at = Seen::of(name, look);
        let rack: Arc<Rack> = look.find(name)?;
        let taken = rack.spec.reservations.iter().map(|kept| kept.footprint()).collect();
        let mut occupancy = RackOccupancy { rack, taken, drawn: 0, seen_at };
        for device in look.bucket(IN_RACK, name) {
            let placement = device.at("spec.placement").and_then(|value| Placement::deserialize(value).ok());
            occupancy.taken.extend(placement.and_then(|placement| placement.footprint()));
            occupancy.draw(&device, fleet);
        }
        Some(occupancy)
    }

    /// Adds the draw of a device and of those in its slots, unless they are retired.
    fn draw(&mut self, device: &Object, fleet: &Fleet<'_>) {
        if fleet.state(device.kind(), device.name()) != Lifecycle::Retired {
            self.drawn += device.at("spec.drawnWatts").and_then(serde_json::Value::as_i64).unwrap_or(0);
        }
        if device.at("spec.slots").is_some() {
            let key = format!("{}/{}", device.kind(), device.name());
            let version = fleet.look().bucket_version(IN_DEVICE, &key);
            if self.seen_at.inside.insert(key.clone(), version).is_none() {
                for inside in fleet.look().bucket(IN_DEVICE, &key) {
                    self.draw(&inside, fleet);
                }
            }
        }
    }

    fn places(&self, wanted: &SpaceRequest) -> Result<Vec<FreePosition>, String> {
        let (rack, name) = (&self.rack, self.rack.metadata.name.as_str());
        let watts_left = budget(rack).map(|budget| budget - self.drawn - wanted.watts);
        if wanted.watts > 0 {
            match watts_left {
                None => {
                    return Err("capacity of its power feeds unknown (set voltage and ampsRated)".to_owned());
                }
                Some(left) if left < 0 => {
                    return Err(format!("{} W available, {} W required", left + wanted.watts, wanted.watts));
                }
                Some(_) => {}
            }
        }
        let free = runs(rack.spec.height_u, &self.taken, wanted.face);
        let largest = free.iter().map(|(_, long)| *long).max().unwrap_or(0);
        if largest < wanted.units {
            return Err(format!("{largest}U contiguous space free, {}U required", wanted.units));
        }
        let mut places = Vec::new();
        for (start, long) in free {
            let mut at = start;
            while at + wanted.units <= start + long && places.len() < wanted.count {
                places.push(FreePosition {
                    rack: name.to_owned(),
                    site: rack.spec.asset.site_ref.name.clone(),
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

/// Cache of rack occupancy. A rack is read again only when it or its devices have changed.
#[derive(Debug, Default)]
pub struct OccupancyCache(Mutex<HashMap<String, Arc<RackOccupancy>>>);

impl OccupancyCache {
    /// The occupancy of a rack, as recorded.
    pub fn get(&self, name: &str, look: &dyn QueryContext) -> Option<Arc<RackOccupancy>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(known) = known.filter(|known| known.seen_at.is_current(name, look)) {
            return Some(known);
        }
        let as_recorded = AsIf::recorded();
        let rack_occupancy = RackOccupancy::of(name, &Fleet::new(look, &as_recorded)).map(Arc::new);
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &rack_occupancy {
            Some(rack_occupancy) => drop(cache.insert(name.to_owned(), rack_occupancy.clone())),
            None => drop(cache.remove(name)),
        }
        rack_occupancy
    }
}

/// Number of network ports without a cable of those of a rack's switches that are in service. A cable that is planned takes
/// its port.
fn free_ports(rack: &str, fleet: &Fleet<'_>) -> usize {
    let look = fleet.look();
    let devices = look.in_bucket::<NetworkDevice>(IN_RACK, rack).into_iter();
    let switches = devices
        .filter(|device| !matches!(device.spec.role, DeviceRole::PDU | DeviceRole::PatchPanel))
        .filter(|device| fleet.mark(NetworkDevice::KIND, &device.metadata.name).is_none());
    let ports = switches.flat_map(|switch| {
        look.in_bucket::<Port>(port::ON_DEVICE, &format!("NetworkDevice/{}", switch.metadata.name))
    });
    let data = ports.filter(|port| matches!(port.spec.kind, PortType::Ethernet | PortType::Optical));
    data.filter(|port| fleet.is_in_service(Port::KIND, &port.metadata.name))
        .filter(|port| look.places(cable::IN_PORT, &port.metadata.name).is_empty())
        .count()
}

/// Answers `…/racks/-/find-space?units=2&…`.
pub fn answer() -> impl Fn(&Questioned<'_>, &dyn QueryContext) -> Result<Answered, Status> {
    let cache = OccupancyCache::default();
    move |asked, look| {
        let wanted = wanted(asked)?;
        let as_if = AsIf::asked(asked, look)?;
        let fleet = Fleet::new(look, &as_if);
        let names = match asked.name {
            "-" => asked_racks(asked, look),
            name => vec![name.to_owned()],
        };
        let occupancy = |name: &String| match as_if.is_empty() {
            true => cache.get(name, look),
            false => RackOccupancy::of(name, &fleet).map(Arc::new),
        };
        let is =
            |option: &str, own: Option<&str>| asked.option(option).is_none_or(|asked| own == Some(asked));
        let mut racks: Vec<Arc<RackOccupancy>> = names.iter().filter_map(occupancy).collect();
        let sites = asked.option("region").map(|region| sites_in(region, look));
        racks.retain(|rack_occupancy| {
            let rack = &rack_occupancy.rack;
            is("cage", rack.spec.cage.as_deref())
                && is("row", rack.spec.row.as_deref())
                && sites.as_ref().is_none_or(|sites| sites.contains(&rack.spec.asset.site_ref.name))
        });
        let space = find(&racks, &wanted, &fleet);
        shown(asked, &space, || space.text(&wanted, look.is_incomplete()), None)
    }
}

/// The names of the racks to search, by the narrowest index: what is withheld elsewhere does not matter to the answer.
fn asked_racks(asked: &Questioned<'_>, look: &dyn QueryContext) -> Vec<String> {
    let having = |field: &str, value: &str| look.names_having(GROUP, Rack::PLURAL, field, value);
    match (asked.option("site"), asked.option("row"), asked.option("region")) {
        (Some(site), ..) => having("spec.siteRef.name", site),
        (None, Some(row), _) => having("spec.row", row),
        (None, None, Some(region)) => {
            let sites = sites_in(region, look).into_iter();
            sites.flat_map(|site| having("spec.siteRef.name", &site)).collect()
        }
        (None, None, None) => look.names(GROUP, Rack::PLURAL),
    }
}

/// The sites of a region, by reference: labels follow later.
fn sites_in(region: &str, look: &dyn QueryContext) -> BTreeSet<String> {
    look.names_having(GROUP, Site::PLURAL, "spec.regionRef.name", region).into_iter().collect()
}

fn wanted(asked: &Questioned<'_>) -> Result<SpaceRequest, Status> {
    let bad = |why: &str| Err(Status::bad_request(why));
    let units = asked.number("units")?.unwrap_or(1);
    if units < 1 {
        return bad("units must be at least 1");
    }
    let face = match asked.option("face").map(str::to_lowercase).as_deref() {
        None | Some("both") => None,
        Some("front") => Some(Face::Front),
        Some("rear") => Some(Face::Rear),
        Some(_) => return bad("face must be front, rear or both"),
    };
    let spread = match asked.option("spread") {
        None | Some("none") => Spread::Pack,
        Some("rack" | "racks") => Spread::Racks,
        Some("row" | "rows") => Spread::Rows,
        Some(_) => return bad("spread must be rack, row or none"),
    };
    let count = asked.number("count")?.unwrap_or(10);
    if count < 1 {
        return bad("count must be at least 1");
    }
    Ok(SpaceRequest {
        units,
        face,
        watts: asked.number("watts")?.unwrap_or(0),
        ports: asked.number("ports")?.unwrap_or(0),
        count,
        spread,
    })
}

impl Space {
    /// Text output. If something was withheld, it promises neither that a position is free nor that there is no other.
    pub fn text(&self, wanted: &SpaceRequest, is_incomplete: bool) -> String {
        let mut rows = vec![
            ["RACK", "SITE", "UNITS", "FACE", "UNITS-LEFT", "WATTS-LEFT", "PORTS"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for place in &self.places {
            let end = place.start_unit + wanted.units - 1;
            rows.push(vec![
                place.rack.clone(),
                if place.site.is_empty() { "<unknown>".to_owned() } else { place.site.clone() },
                format!("U{}-U{end}", place.start_unit),
                place.face.map_or("both".to_owned(), |face| face.to_string()),
                format!("{}U", place.left_over),
                place.watts_left.map_or("<none>".to_owned(), |watts| watts.to_string()),
                place.free_ports.map_or("<none>".to_owned(), |ports| ports.to_string()),
            ]);
        }
        let mut text = match (self.places.is_empty(), is_incomplete) {
            (true, false) => "No rack has enough space.\n".to_owned(),
            (true, true) => "No rack that you may read has enough space.\n".to_owned(),
            (false, false) => table(&rows),
            (false, true) => {
                format!("These positions are free as far as you may read what is there.\n{}", table(&rows))
            }
        };
        for out in &self.ruled_out {
            text.push_str(&format!("Ruled out {}: {}\n", out.rack, out.reason));
        }
        text
    }
}

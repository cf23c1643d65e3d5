//! What happens to power after a failure: the load moves, what is overloaded trips, and so on until it is calm.

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::QueryContext;
use serde::Serialize;

use super::flow::Flow;
use super::grid::{Grid, power_ports};
use super::watts;
use crate::failure::{Failure, in_slots_of};
use crate::kinds::network_device::DeviceRole;
use crate::kinds::port::PortType;
use crate::kinds::{Cable, NetworkDevice, Port};
use crate::state::Target;

/// A smaller change of a load, in milliwatts, comes from rounding shares.
const NOISE: i64 = 500;

/// A feed or port that carries more than it may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overload {
    /// The feed, as `Rack/name:feed`, or the port, as `Port/name`.
    pub name: String,
    /// Its load in watts.
    pub watts: i64,
    /// Its limit in watts: the usable power of a feed, or the rating of a port.
    pub limit: i64,
    /// Whether the load is above the full rating, so that it trips.
    pub trips: bool,
}

/// The outcome of a failure for power. PDUs only pass it on: what they feed is told.
#[derive(Debug, Default)]
pub struct Cascade {
    /// Devices without any live power supply, as `Kind/name`.
    pub dark: BTreeSet<String>,
    /// Devices with fewer live power supplies or feeds than before, but at least one.
    pub weakened: BTreeSet<String>,
    /// What carries more than before and more than it may.
    pub overloaded: Vec<Overload>,
}

/// The outcome of a failure. What trips and goes dark is added to the failure.
pub fn after(failure: &mut Failure, look: &dyn QueryContext) -> Cascade {
    let grid = Grid::around(starts(failure, look), look);
    let calm = grid.flow(&Failure::default());
    let (mut dark, mut overloaded) = (BTreeSet::new(), BTreeMap::new());
    let flow = loop {
        let flow = grid.flow(failure);
        let gone: Vec<String> = grid
            .devices()
            .filter(|device| !failure.devices.contains(*device))
            .filter(|device| !grid.live_supplies(device, &calm).is_empty())
            .filter(|device| grid.live_supplies(device, &flow).is_empty())
            .map(str::to_owned)
            .collect();
        for device in &gone {
            go_dark(device, failure, &mut dark, look);
        }
        if !gone.is_empty() {
            continue;
        }
        let mut has_tripped = false;
        for overload in grid.overloads(&calm, &flow) {
            has_tripped |= overload.trips && trip(&overload, failure);
            overloaded.insert(overload.name.clone(), overload);
        }
        if !has_tripped {
            break flow;
        }
    };
    let weakened = grid.devices().filter(|device| !failure.devices.contains(*device)).filter(|device| {
        let (supplies, sources) =
            (grid.live_supplies(device, &calm), grid.sources_of(device, &calm, &Failure::default()));
        grid.live_supplies(device, &flow).len() < supplies.len()
            || grid.sources_of(device, &flow, failure).len() < sources.len()
    });
    let draws = |device: &String| !is_pdu(device, look);
    let weakened = weakened.map(str::to_owned).filter(draws).collect();
    dark.retain(draws);
    Cascade { dark, weakened, overloaded: overloaded.into_values().collect() }
}

impl Grid {
    /// What carries more than it may and, since the failure, more than before.
    fn overloads(&self, before: &Flow, after: &Flow) -> Vec<Overload> {
        let mut found = Vec::new();
        let more = |name: String, (before, after): (i64, i64), usable: i64, rated: i64| {
            let is_over = |limit: i64| after > limit.saturating_mul(1000);
            (after > before + NOISE && is_over(usable)).then(|| Overload {
                name,
                watts: watts(after),
                limit: usable,
                trips: is_over(rated),
            })
        };
        for (feed, limit) in &self.limits {
            let (Some(usable), Some(rated)) = (limit.usable, limit.rated) else { continue };
            let name = feed.split_once('/').map(|(rack, feed)| Target::feed_key(rack, feed));
            found.extend(more(
                name.unwrap_or_default(),
                (before.feed(feed), after.feed(feed)),
                usable,
                rated,
            ));
        }
        for (at, port) in self.ports.iter().enumerate() {
            let Some(rated) = port.port.spec.power.as_ref().and_then(|power| power.rated_watts) else {
                continue;
            };
            let name = format!("Port/{}", port.port.metadata.name);
            found.extend(more(name, (before.port(at), after.port(at)), rated, rated));
        }
        found
    }

    /// What carries more than it may already, while nothing has failed.
    pub fn overloads_now(&self, flow: &Flow) -> Vec<Overload> {
        let nothing = Flow::nothing(self);
        self.overloads(&nothing, flow)
    }
}

/// Takes a feed or port out; returns whether it was there.
fn trip(overload: &Overload, failure: &mut Failure) -> bool {
    match overload.name.split_once('/') {
        Some(("Port", port)) => failure.ports.insert(port.to_owned()),
        Some((_, feed)) => failure.feeds.insert(feed.replacen(':', "/", 1)),
        None => false,
    }
}

/// Takes out a device without power, and those in its slots that get their power from it.
fn go_dark(device: &str, failure: &mut Failure, dark: &mut BTreeSet<String>, look: &dyn QueryContext) {
    if !failure.devices.insert(device.to_owned()) {
        return;
    }
    dark.insert(device.to_owned());
    for inside in in_slots_of(device, look) {
        if power_ports(&inside, look).is_empty() {
            go_dark(&inside, failure, dark, look);
        }
    }
}

/// Whether it only distributes power.
fn is_pdu(device: &str, look: &dyn QueryContext) -> bool {
    let name = device.strip_prefix("NetworkDevice/");
    let device = name.and_then(|name| look.find::<NetworkDevice>(name));
    device.is_some_and(|device| device.spec.role == DeviceRole::PDU)
}

/// The devices whose power the failure can change, and the racks with the feeds.
fn starts(failure: &Failure, look: &dyn QueryContext) -> BTreeSet<String> {
    let mut starts: BTreeSet<String> = failure.devices.clone();
    let mut at_port = |name: &str| {
        let port = look.find::<Port>(name).filter(|port| port.spec.kind == PortType::Power);
        starts.extend(port.map(|port| port.spec.device_key()));
    };
    failure.ports.iter().for_each(|port| at_port(port));
    for cable in failure.cables.iter().filter_map(|cable| look.find::<Cable>(cable)) {
        cable.spec.endpoints.iter().for_each(|end| at_port(&end.name));
    }
    let racks = failure.feeds.iter().filter_map(|feed| feed.split_once('/'));
    starts.extend(racks.map(|(rack, _)| format!("Rack/{rack}")));
    starts
}

//! Power distribution: from a rack's power feeds through PDUs to the devices that draw power.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::Object;
use krm::kind::QueryContext;
use serde::Deserialize;
use serde_json::Value;

use crate::controllers::observe::ConditionState;
use crate::kinds::cable::{self, Media};
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, NetworkDevice, Node, Port, Rack};
use crate::references::DeviceKind;

/// Maximum number of cables between a feed and a device.
const MAX_HOPS: usize = 16;

/// The load of a rack's power feed, in watts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedLoad {
    /// Name of the feed.
    pub feed: String,
    /// Usable power, if its rating is known.
    pub usable: Option<i64>,
    /// Power drawn from it.
    pub drawn: i64,
    /// Power that would be drawn from it if all other feeds failed.
    pub alone: i64,
    /// The devices it feeds, as `Kind/name`.
    pub devices: BTreeSet<String>,
}

/// The load of each feed of a rack.
pub fn feeds(rack: &Rack, look: &dyn QueryContext) -> Vec<FeedLoad> {
    let mut shares = BTreeMap::new();
    let feeds = rack.spec.power_feeds.iter().map(|feed| {
        let mut load = FeedLoad {
            feed: feed.name.clone(),
            usable: feed.usable_watts(),
            drawn: 0,
            alone: 0,
            devices: BTreeSet::new(),
        };
        let value = port::feed_of(&rack.metadata.name, &feed.name);
        for source in look.in_bucket::<Port>(port::ON_FEED, &value) {
            for sink in sinks(&source, look) {
                let share = shares.entry(sink.metadata.name.clone()).or_insert_with(|| draw(&sink, look));
                load.drawn += share.here;
                if load.devices.insert(sink.spec.device_key()) {
                    load.alone += share.device;
                }
            }
        }
        load
    });
    feeds.collect()
}

/// The condition `PowerWithinRating` of a rack; `None` if no load is known.
pub fn within_rating(rack: &Object, look: &dyn QueryContext) -> Option<ConditionState> {
    let rack = Rack::deserialize(&Value::Object(rack.0.clone())).ok()?;
    let loads = feeds(&rack, look);
    if loads.iter().all(|load| load.drawn == 0) {
        return None;
    }
    let told = |load: &FeedLoad, watts: i64| {
        format!("feed {} carries {watts} W of {} W usable", load.feed, load.usable.unwrap_or_default())
    };
    let is_over = |load: &&FeedLoad| load.usable.is_some_and(|usable| load.drawn > usable);
    if let Some(load) = loads.iter().find(is_over) {
        return Some(ConditionState::fails("PowerWithinRating", "FeedOverRating", told(load, load.drawn)));
    }
    let would_be_over = |load: &&FeedLoad| load.usable.is_some_and(|usable| load.alone > usable);
    Some(match loads.iter().find(would_be_over).filter(|_| loads.len() > 1) {
        Some(load) => ConditionState::holds(
            "PowerWithinRating",
            "NoRedundancy",
            format!("if the other feeds fail, {}", told(load, load.alone)),
        ),
        None => ConditionState::holds(
            "PowerWithinRating",
            "WithinRating",
            "All feeds are within their rating".to_owned(),
        ),
    })
}

/// The draw of a port and of its whole device, in watts.
#[derive(Debug, Clone, Copy)]
struct Draw {
    here: i64,
    device: i64,
}

/// A port draws its own `drawnWatts`, or else its share of the device's.
fn draw(sink: &Port, look: &dyn QueryContext) -> Draw {
    let whole = match sink.spec.device_ref.kind {
        DeviceKind::Node => {
            look.find::<Node>(&sink.spec.device_ref.name).and_then(|node| node.spec.drawn_watts)
        }
        DeviceKind::NetworkDevice => {
            look.find::<NetworkDevice>(&sink.spec.device_ref.name).and_then(|device| device.spec.drawn_watts)
        }
        DeviceKind::Rack => None,
    };
    let siblings: Vec<Arc<Port>> = look.in_bucket(port::ON_DEVICE, &sink.spec.device_key());
    let supplies: Vec<&Port> =
        siblings.iter().map(|other| &**other).filter(|other| is_supply(other)).collect();
    let said = |port: &Port| port.spec.power.as_ref().and_then(|power| power.drawn_watts);
    let all_said: i64 = supplies.iter().filter_map(|other| said(other)).sum();
    let device = whole.unwrap_or(all_said);
    let fed =
        supplies.iter().filter(|other| !look.places(cable::IN_PORT, &other.metadata.name).is_empty()).count();
    let share = device / i64::try_from(fed.max(1)).unwrap_or(1);
    Draw { here: said(sink).unwrap_or(share), device }
}

/// Whether it is a power supply of its device: a power port that is neither an outlet nor on a feed.
fn is_supply(port: &Port) -> bool {
    port.spec.kind == PortType::Power && port.spec.inlet().is_none() && port.spec.feed().is_none()
}

/// The power supplies downstream of `source`.
pub fn sinks(source: &Arc<Port>, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut ahead = vec![source.clone()];
    for _ in 0..MAX_HOPS {
        let mut next = Vec::new();
        for out in ahead {
            for inlet in cabled(&out, look) {
                if !seen.insert(inlet.metadata.name.clone()) {
                    continue;
                }
                let outlets: Vec<Arc<Port>> = look.in_bucket(port::FROM_INLET, &inlet.metadata.name);
                match outlets.is_empty() {
                    true => found.push(inlet),
                    false => next.extend(outlets),
                }
            }
        }
        ahead = next;
    }
    found
}

/// The ports at the other ends of a port's power cable.
pub fn cabled(from: &Port, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let cables: Vec<Arc<Cable>> = look.in_bucket(cable::IN_PORT, &from.metadata.name);
    let far = cables
        .iter()
        .filter(|cable| cable.spec.media == Media::Power)
        .flat_map(|cable| cable.spec.endpoints.iter().filter(|end| end.name != from.metadata.name));
    far.filter_map(|end| look.find::<Port>(&end.name)).collect()
}

/// The feeds upstream of a port, as the rack ports that they supply.
pub fn sources(sink: &Arc<Port>, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut ahead = vec![sink.clone()];
    for _ in 0..MAX_HOPS {
        let mut next = Vec::new();
        for port in ahead {
            if !seen.insert(port.metadata.name.clone()) {
                continue;
            }
            if port.spec.feed().is_some() {
                found.push(port);
                continue;
            }
            // An outlet is fed by its inlet, every other port by the other end of its cable.
            match port.spec.inlet() {
                Some(inlet) => next.extend(look.find::<Port>(inlet)),
                None => next.extend(
                    cabled(&port, look)
                        .into_iter()
                        .filter(|far| far.spec.inlet().is_some() || far.spec.feed().is_some()),
                ),
            }
        }
        ahead = next;
    }
    found
}

/// The racks whose feed loads a change of this object affects.
pub fn racks_behind(object: &Object, look: &dyn QueryContext) -> BTreeSet<String> {
    let ports: Vec<Arc<Port>> = match object.kind() {
        "Port" if object.at("spec.type").and_then(Value::as_str) == Some("Power") => {
            Port::deserialize(&Value::Object(object.0.clone())).ok().map(Arc::new).into_iter().collect()
        }
        "Cable" if object.at("spec.media").and_then(Value::as_str) == Some("Power") => {
            let ends = object.at("spec.endpoints").and_then(Value::as_array).into_iter().flatten();
            ends.filter_map(|end| look.find::<Port>(end.get("name")?.as_str()?)).collect()
        }
        kind @ ("Node" | "NetworkDevice") if object.at("spec.drawnWatts").is_some() => {
            let ports: Vec<Arc<Port>> = look.in_bucket(port::ON_DEVICE, &format!("{kind}/{}", object.name()));
            ports.into_iter().filter(|port| port.spec.kind == PortType::Power).collect()
        }
        _ => Vec::new(),
    };
    ports.iter().flat_map(|port| sources(port, look)).map(|feed| feed.spec.device_ref.name.clone()).collect()
}

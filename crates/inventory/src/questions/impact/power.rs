//! Power impact: follows feeds from the failed objects to every power supply downstream. A device without power fails too.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::QueryContext;

use super::failure::{Failure, in_slots_of, with_slots};
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Port, cable};
use crate::power;

/// The devices that lose power, as `Kind/name`.
#[derive(Debug, Default)]
pub struct PowerLoss {
    /// Without any feed.
    pub dark: BTreeSet<String>,
    /// With fewer feeds than before, but at least one.
    pub weakened: BTreeSet<String>,
}

/// The devices that lose power. Those without any are added to the failure.
pub fn without(failure: &mut Failure, look: &dyn QueryContext) -> PowerLoss {
    let mut lost = PowerLoss::default();
    let mut fresh = starts(failure, look);
    while !fresh.is_empty() {
        let mut behind = BTreeSet::new();
        for start in &fresh {
            behind.extend(fed_by(start, look));
        }
        fresh.clear();
        for device in behind {
            if failure.devices.contains(&device) {
                continue;
            }
            let (before, after) = feeds(&device, failure, look);
            if after.is_empty() && !before.is_empty() {
                lost.weakened.remove(&device);
                for dark in going_dark(&device, look) {
                    fresh.extend(power_ports(&dark, look));
                    failure.devices.insert(dark.clone());
                    lost.dark.insert(dark);
                }
            } else if after.len() < before.len() {
                lost.weakened.insert(device);
            }
        }
    }
    lost
}

/// The power ports of the failed objects.
fn starts(failure: &Failure, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let mut starts: Vec<Arc<Port>> =
        failure.devices.iter().flat_map(|device| power_ports(device, look)).collect();
    starts.extend(failure.ports.iter().filter_map(|port| look.find::<Port>(port)));
    for cable in failure.cables.iter().filter_map(|cable| look.find::<Cable>(cable)) {
        starts.extend(cable.spec.endpoints.iter().filter_map(|end| look.find::<Port>(&end.name)));
    }
    starts.retain(|port| port.spec.kind == PortType::Power);
    starts
}

fn power_ports(device: &str, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let mut ports: Vec<Arc<Port>> = look.in_bucket(port::ON_DEVICE, device);
    ports.retain(|port| port.spec.kind == PortType::Power);
    ports
}

/// The devices that a port feeds, including its own.
fn fed_by(start: &Arc<Port>, look: &dyn QueryContext) -> BTreeSet<String> {
    let mut ends = power::sinks(start, look);
    for outlet in look.in_bucket::<Port>(port::FROM_INLET, &start.metadata.name) {
        ends.extend(power::sinks(&outlet, look));
    }
    let mut fed: BTreeSet<String> = ends.iter().map(|end| end.spec.device_key()).collect();
    fed.insert(start.spec.device_key());
    fed.retain(|device| device.starts_with("Node/") || device.starts_with("NetworkDevice/"));
    fed
}

/// A device, and the devices in its slots without a power supply of their own.
fn going_dark(device: &str, look: &dyn QueryContext) -> BTreeSet<String> {
    let mut dark = BTreeSet::from([device.to_owned()]);
    for inside in in_slots_of(device, look) {
        if power_ports(&inside, look).is_empty() {
            with_slots(&inside, look, &mut dark);
        }
    }
    dark
}

/// The feeds of a device before and after the failure.
fn feeds(device: &str, failure: &Failure, look: &dyn QueryContext) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    let ports = power_ports(device, look);
    for supply in ports.iter().filter(|port| port.spec.inlet().is_none() && port.spec.feed().is_none()) {
        before.extend(power::sources(supply, look).iter().map(|feed| feed.metadata.name.clone()));
        after.extend(live_sources(supply, failure, look));
    }
    (before, after)
}

/// The feeds upstream of a supply that are still connected.
fn live_sources(supply: &Arc<Port>, failure: &Failure, look: &dyn QueryContext) -> Vec<String> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut ahead = vec![supply.clone()];
    while let Some(port) = ahead.pop() {
        let is_gone =
            failure.devices.contains(&port.spec.device_key()) || failure.ports.contains(&port.metadata.name);
        if is_gone || !seen.insert(port.metadata.name.clone()) {
            continue;
        }
        if port.spec.feed().is_some() {
            found.push(port.metadata.name.clone());
            continue;
        }
        if let Some(inlet) = port.spec.inlet() {
            ahead.extend(look.find::<Port>(inlet));
            continue;
        }
        let cables = look.in_bucket::<Cable>(cable::IN_PORT, &port.metadata.name);
        let live = cables.iter().filter(|cable| !failure.cables.contains(&cable.metadata.name));
        let far = live.flat_map(|cable| &cable.spec.endpoints).filter(|end| end.name != port.metadata.name);
        let far = far.filter_map(|end| look.find::<Port>(&end.name));
        ahead.extend(far.filter(|far| far.spec.inlet().is_some() || far.spec.feed().is_some()));
    }
    found
}

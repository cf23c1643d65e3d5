//! Network impact: paths from the uplinks to every device, and the single points of failure on them.
//!
//! A device depends on what all paths to it have in common. This is computed for all devices at once as a dominator
//! analysis: a device depends on the intersection, over its neighbors, of the neighbor's dependencies and the path from it.
//!
//! Only the neighborhood of the failure is examined, and what lies beyond a circuit only if it can make a difference, so
//! the cost of a query about one site does not grow with the number of sites.

mod dependencies;
mod elements;
mod neighborhood;
mod paths;

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::QueryContext;

use crate::failure::Failure;
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Circuit, Port};
use crate::questions::trace;
use dependencies::newly;
use neighborhood::Neighborhood;
use paths::{is_passive, slot_neighbors};

/// The devices that lose network, as `Kind/name`.
#[derive(Debug, Default)]
pub struct NetworkLoss {
    /// Without a path to an uplink.
    pub cut_off: Vec<String>,
    /// With their new single points of failure.
    pub weakened: Vec<(String, Vec<String>)>,
}

/// The devices that lose network.
pub fn without(failure: &Failure, look: &dyn QueryContext) -> NetworkLoss {
    let neighborhood = Neighborhood::of(starts(failure, look), failure, look);
    let (before, after) = neighborhood.dependencies();
    let mut lost = NetworkLoss::default();
    for device in neighborhood.devices().filter(|device| !neighborhood.elements.has_failed(*device)) {
        let Some(hung) = before.of(device) else { continue };
        let name = || neighborhood.elements.name(device).to_owned();
        match after.of(device) {
            None => lost.cut_off.push(name()),
            Some(hangs) => {
                let fresh = newly(hung, hangs).map(|element| neighborhood.elements.name(element).to_owned());
                let mut fresh: Vec<String> = fresh.collect();
                fresh.sort_unstable();
                if !fresh.is_empty() {
                    lost.weakened.push((name(), fresh));
                }
            }
        }
    }
    lost.cut_off.sort_unstable();
    lost.weakened.sort_unstable();
    lost
}

/// The devices at the ends of the failed objects.
fn starts(failure: &Failure, look: &dyn QueryContext) -> BTreeSet<String> {
    let mut starts: BTreeSet<String> = failure.devices.clone();
    let mut ports: Vec<Arc<Port>> = Vec::new();
    for device in &failure.devices {
        starts.extend(slot_neighbors(device, look));
        // Other neighbors are found from the device itself; a patch panel has no paths of its own.
        if is_passive(device, look) {
            ports.extend(look.in_bucket::<Port>(port::ON_DEVICE, device));
        }
    }
    let mut port = |name: &str| ports.extend(look.find::<Port>(name));
    failure.ports.iter().for_each(|name| port(name));
    for cable in failure.cables.iter().filter_map(|cable| look.find::<Cable>(cable)) {
        cable.spec.endpoints.iter().for_each(|end| port(&end.name));
    }
    for circuit in failure.circuits.iter().filter_map(|circuit| look.find::<Circuit>(circuit)) {
        [&circuit.spec.a_end, &circuit.spec.z_end].into_iter().for_each(|end| port(&end.name));
    }
    for port in ports.iter().filter(|port| port.spec.kind != PortType::Power) {
        starts.insert(port.spec.device_key());
        // A port of a patch panel connects to both sides.
        let mut sides = look.in_bucket::<Port>(port::THROUGH, &port.metadata.name);
        sides.extend(port.spec.through().and_then(|through| look.find::<Port>(&through.port_ref.name)));
        sides.push(port.clone());
        for side in &sides {
            starts.extend(trace::from(side, look).ends().iter().map(|end| end.device.clone()));
        }
    }
    starts
}

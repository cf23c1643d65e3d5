//! Who still reaches the network: ways from where it begins to every device, and what all of them have in common.
//!
//! What every way to a device has in common is what it hangs on. That is worked out for all devices at once, as compilers
//! work out dominators: a device hangs on what the neighbours before it hang on, and on the way from them, as far as all
//! its neighbours agree.
//!
//! Only what hangs together with what goes is looked at, and what lies beyond a circuit only where it matters, so that a
//! question about one site costs the same however many others there are.

mod around;
mod hanging;
mod things;
mod ways;

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::Look;

use super::failure::Failure;
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Circuit, Port};
use crate::questions::trace;
use around::Surroundings;
use hanging::newly;
use ways::{in_slots, is_thoroughfare};

/// Who loses network, as `Kind/name`.
#[derive(Debug, Default)]
pub struct Lost {
    /// No way leads out any more.
    pub cut_off: Vec<String>,
    /// With what would cut them off alone now, and would not before.
    pub weakened: Vec<(String, Vec<String>)>,
}

/// Who loses network.
pub fn without(failure: &Failure, look: &dyn Look) -> Lost {
    let around = Surroundings::of(starts(failure, look), failure, look);
    let (before, after) = around.hanging();
    let mut lost = Lost::default();
    for device in around.devices().filter(|device| !around.things.is_gone(*device)) {
        let Some(hung) = before.of(device) else { continue };
        let name = || around.things.name(device).to_owned();
        match after.of(device) {
            None => lost.cut_off.push(name()),
            Some(hangs) => {
                let fresh = newly(hung, hangs).map(|thing| around.things.name(thing).to_owned());
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

/// The devices at all ends of what goes.
fn starts(failure: &Failure, look: &dyn Look) -> BTreeSet<String> {
    let mut starts: BTreeSet<String> = failure.devices.clone();
    let mut ports: Vec<Arc<Port>> = Vec::new();
    for device in &failure.devices {
        starts.extend(in_slots(device, look));
        // What else is next to it is found from the device itself; a panel has no ways of its own.
        if is_thoroughfare(device, look) {
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
        // A panel's port leads to both sides.
        let mut sides = look.in_bucket::<Port>(port::THROUGH, &port.metadata.name);
        sides.extend(port.spec.through().and_then(|through| look.find::<Port>(&through.port_ref.name)));
        sides.push(port.clone());
        for side in &sides {
            starts.extend(trace::from(side, look).ends().iter().map(|end| end.device.clone()));
        }
    }
    starts
}

//! The objects that fail: a device with the devices in its slots, a cable, port, circuit, power feed or whole rack.

use std::collections::BTreeSet;

use krm::kind::{QueryContext, Resource};

use crate::kinds::device::{IN_DEVICE, IN_RACK};
use crate::kinds::port;
use crate::kinds::{NetworkDevice, Node, Port};

/// The objects that fail, by name.
#[derive(Debug, Clone, Default)]
pub struct Failure {
    /// As `Kind/name`.
    pub devices: BTreeSet<String>,
    pub cables: BTreeSet<String>,
    pub ports: BTreeSet<String>,
    pub circuits: BTreeSet<String>,
}

impl Failure {
    /// The objects that fail together with an object; `None` for kinds that are not supported.
    pub fn of(kind: &str, name: &str, feed: Option<&str>, look: &dyn QueryContext) -> Option<Failure> {
        let mut failure = Failure::default();
        match kind {
            "Cable" => drop(failure.cables.insert(name.to_owned())),
            "Port" => drop(failure.ports.insert(name.to_owned())),
            "Circuit" => drop(failure.circuits.insert(name.to_owned())),
            "Node" | "NetworkDevice" => with_slots(&format!("{kind}/{name}"), look, &mut failure.devices),
            "Rack" => match feed {
                Some(feed) => {
                    let ports = look.in_bucket::<Port>(port::ON_FEED, &port::feed_of(name, feed));
                    failure.ports.extend(ports.iter().map(|port| port.metadata.name.clone()));
                }
                None => {
                    failure.devices.insert(format!("Rack/{name}"));
                    for device in devices_at(IN_RACK, name, look) {
                        with_slots(&device, look, &mut failure.devices);
                    }
                }
            },
            _ => return None,
        }
        Some(failure)
    }

    /// All of them, as `Kind/name`.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.devices.iter().cloned().collect();
        names.extend(self.cables.iter().map(|cable| format!("Cable/{cable}")));
        names.extend(self.ports.iter().map(|port| format!("Port/{port}")));
        names.extend(self.circuits.iter().map(|circuit| format!("Circuit/{circuit}")));
        names
    }
}

/// Adds a device and, recursively, the devices in its slots.
pub fn with_slots(device: &str, look: &dyn QueryContext, into: &mut BTreeSet<String>) {
    if into.insert(device.to_owned()) {
        for inside in in_slots_of(device, look) {
            with_slots(&inside, look, into);
        }
    }
}

/// The devices in the slots of a device.
pub fn in_slots_of(device: &str, look: &dyn QueryContext) -> Vec<String> {
    devices_at(IN_DEVICE, device, look)
}

/// The devices in a bucket, as `Kind/name`.
fn devices_at(bucket: &str, value: &str, look: &dyn QueryContext) -> Vec<String> {
    let places = look.places(bucket, value).into_iter();
    let devices = places.filter_map(|at| match at.plural.as_str() {
        Node::PLURAL => Some(format!("{}/{}", Node::KIND, at.name)),
        NetworkDevice::PLURAL => Some(format!("{}/{}", NetworkDevice::KIND, at.name)),
        _ => None,
    });
    devices.collect()
}

//! The objects that fail: a device with the devices in its slots, a cable, port, circuit or power feed, or everything in a
//! rack, at a site, in a region or of a provider.

use std::collections::BTreeSet;

use krm::kind::{Bucket, QueryContext, Resource};

use crate::kinds::device::{IN_DEVICE, IN_RACK};
use crate::kinds::port;
use crate::kinds::{Circuit, GROUP, NetworkDevice, Node, Port, Rack, Site};
use crate::state::Target;

/// The objects that fail, by name.
#[derive(Debug, Clone, Default)]
pub struct Failure {
    /// Nodes, network devices, racks and sites, as `Kind/name`.
    pub devices: BTreeSet<String>,
    /// Cables.
    pub cables: BTreeSet<String>,
    /// Ports.
    pub ports: BTreeSet<String>,
    /// Circuits.
    pub circuits: BTreeSet<String>,
    /// Power feeds, by [`port::feed_of`].
    pub feeds: BTreeSet<String>,
}

impl Failure {
    /// The objects that fail together with all of these.
    pub fn of(targets: &[Target], look: &dyn QueryContext) -> Failure {
        let mut failure = Failure::default();
        for target in targets {
            failure.add(target, look);
        }
        failure
    }

    fn add(&mut self, target: &Target, look: &dyn QueryContext) {
        let name = target.name.as_str();
        match (target.kind, &target.feed) {
            ("Rack", Some(feed)) => drop(self.feeds.insert(port::feed_of(name, feed))),
            ("Rack", None) => self.add_rack(name, look),
            ("Cable", _) => drop(self.cables.insert(name.to_owned())),
            ("Port", _) => drop(self.ports.insert(name.to_owned())),
            ("Circuit", _) => drop(self.circuits.insert(name.to_owned())),
            ("Site", _) => self.add_site(name, look),
            ("Region", _) => {
                for site in look.with::<Site>("spec.regionRef.name", name) {
                    self.add_site(&site.metadata.name, look);
                }
            }
            ("Provider", _) => {
                for site in look.with::<Site>("spec.providerRef.name", name) {
                    self.add_site(&site.metadata.name, look);
                }
                let circuits = look.having(GROUP, Circuit::PLURAL, "spec.providerRef.name", name);
                self.circuits.extend(circuits.iter().map(|circuit| circuit.name().to_owned()));
            }
            (kind, _) => with_slots(&format!("{kind}/{name}"), look, &mut self.devices),
        }
    }

    fn add_rack(&mut self, name: &str, look: &dyn QueryContext) {
        self.devices.insert(format!("Rack/{name}"));
        for device in devices_at(IN_RACK, name, look) {
            with_slots(&device, look, &mut self.devices);
        }
    }

    /// Everything at a site, and the circuits that end there.
    fn add_site(&mut self, name: &str, look: &dyn QueryContext) {
        self.devices.insert(format!("Site/{name}"));
        for rack in look.having(GROUP, Rack::PLURAL, "spec.siteRef.name", name) {
            self.add_rack(rack.name(), look);
        }
        for (kind, plural) in [(Node::KIND, Node::PLURAL), (NetworkDevice::KIND, NetworkDevice::PLURAL)] {
            for device in look.having(GROUP, plural, "spec.siteRef.name", name) {
                with_slots(&format!("{kind}/{}", device.name()), look, &mut self.devices);
            }
        }
        for (end, kind) in [("spec.aEnd.name", "spec.aEnd.kind"), ("spec.zEnd.name", "spec.zEnd.kind")] {
            let circuits = look.having(GROUP, Circuit::PLURAL, end, name);
            let here = circuits
                .iter()
                .filter(|circuit| circuit.at(kind).and_then(serde_json::Value::as_str) == Some(Site::KIND));
            self.circuits.extend(here.map(|circuit| circuit.name().to_owned()));
        }
    }

    /// All of them, as `Kind/name`, and feeds as `Rack/name:feed`.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.devices.iter().cloned().collect();
        names.extend(self.cables.iter().map(|cable| format!("Cable/{cable}")));
        names.extend(self.ports.iter().map(|port| format!("Port/{port}")));
        names.extend(self.circuits.iter().map(|circuit| format!("Circuit/{circuit}")));
        names.extend(self.feeds.iter().filter_map(|feed| {
            let (rack, feed) = feed.split_once('/')?;
            Some(Target::feed_key(rack, feed))
        }));
        names
    }

    /// Whether a port has failed, by itself or with its device or feed.
    pub fn has_port(&self, port: &Port) -> bool {
        let on = &port.spec.device_ref;
        self.ports.contains(&port.metadata.name)
            || self.devices.contains(&port.spec.device_key())
            || port.spec.feed().is_some_and(|feed| self.feeds.contains(&port::feed_of(&on.name, feed)))
    }
}

/// Adds a device and, recursively, the devices in its slots.
fn with_slots(device: &str, look: &dyn QueryContext, into: &mut BTreeSet<String>) {
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
fn devices_at(bucket: Bucket, value: &str, look: &dyn QueryContext) -> Vec<String> {
    let places = look.places(bucket, value).into_iter();
    let devices = places.filter_map(|at| match at.plural.as_str() {
        Node::PLURAL => Some(format!("{}/{}", Node::KIND, at.name)),
        NetworkDevice::PLURAL => Some(format!("{}/{}", NetworkDevice::KIND, at.name)),
        _ => None,
    });
    devices.collect()
}

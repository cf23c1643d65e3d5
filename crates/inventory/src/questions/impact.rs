//! Impact: what loses power, network or redundancy if something goes.

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, Look, Questioned};
use krm::status::Status;
use serde::Serialize;

use super::{shown, trace};
use crate::kinds::device::{IN_DEVICE, IN_RACK};
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Port};
use crate::power;

/// What would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Impact {
    /// What goes.
    pub fails: Vec<String>,
    /// Devices without power then.
    pub loses_power: Vec<String>,
    /// Devices with fewer feeds than before, and one at least.
    pub loses_power_redundancy: Vec<String>,
    /// Devices that reach no other then.
    pub loses_network: Vec<String>,
    /// Devices that reach fewer others than before, and one at least.
    pub loses_network_redundancy: Vec<String>,
    /// Virtual machines on what goes or is without power or network.
    pub machines: Vec<String>,
    /// Links that run over what goes.
    pub links: Vec<String>,
    /// Circuits that end at what goes.
    pub circuits: Vec<String>,
}

/// What goes.
#[derive(Debug, Clone, Default)]
struct Failure {
    devices: BTreeSet<String>,
    cables: BTreeSet<String>,
    ports: BTreeSet<String>,
}

impl Failure {
    fn hits(&self, hop: &trace::Hop) -> bool {
        let by_cable = matches!(&hop.by, Some(trace::By::Cable { name, .. }) if self.cables.contains(name));
        by_cable || self.ports.contains(&hop.port) || self.devices.contains(&hop.device)
    }
}

/// What would be lost if these things went.
struct Loss<'a> {
    look: &'a dyn Look,
    failure: Failure,
}

impl Loss<'_> {
    fn ports(&self, device: &str) -> Vec<Port> {
        self.look.in_bucket(port::ON_DEVICE, device)
    }

    /// Whether a way gets to its end, and where that is, past what fails.
    fn live_ends(
        &self,
        hop: &trace::Hop,
        fails: bool,
        before: &mut BTreeSet<String>,
        after: &mut BTreeSet<String>,
    ) {
        let fails = fails || self.failure.hits(hop);
        if hop.next.is_empty() && hop.by.is_some() {
            before.insert(hop.device.clone());
            if !fails {
                after.insert(hop.device.clone());
            }
        }
        for next in &hop.next {
            self.live_ends(next, fails, before, after);
        }
    }

    /// The devices at the other ends of a device's cables: before, and then.
    fn neighbours(&self, device: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        for port in self.ports(device).iter().filter(|port| port.spec.kind != PortType::Power) {
            let fails = self.failure.ports.contains(&port.metadata.name);
            self.live_ends(&trace::from(port, self.look), fails, &mut before, &mut after);
        }
        (before, after)
    }

    /// The feeds that a device gets its power from: before, and then.
    fn feeds(&self, device: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        let ports = self.ports(device);
        let supplies = ports.iter().filter(|port| {
            port.spec.kind == PortType::Power && port.spec.inlet().is_none() && port.spec.feed().is_none()
        });
        for supply in supplies {
            before.extend(power::sources(supply, self.look).into_iter().map(|feed| feed.metadata.name));
            after.extend(self.live_sources(supply));
        }
        (before, after)
    }

    fn live_sources(&self, supply: &Port) -> Vec<String> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut ahead = vec![supply.clone()];
        while let Some(port) = ahead.pop() {
            let is_first = port.metadata.name == supply.metadata.name;
            let device_fails = !is_first && self.failure.devices.contains(&port.spec.device_key());
            if device_fails
                || self.failure.ports.contains(&port.metadata.name)
                || !seen.insert(port.metadata.name.clone())
            {
                continue;
            }
            if port.spec.feed().is_some() {
                found.push(port.metadata.name);
                continue;
            }
            match port.spec.inlet() {
                Some(inlet) => ahead.extend(self.look.find::<Port>(inlet)),
                None => {
                    let cables =
                        self.look.in_bucket::<Cable>(crate::kinds::cable::IN_PORT, &port.metadata.name);
                    let live =
                        cables.iter().filter(|cable| !self.failure.cables.contains(&cable.metadata.name));
                    let far = live
                        .flat_map(|cable| &cable.spec.endpoints)
                        .filter(|end| end.name != port.metadata.name);
                    let far = far.filter_map(|end| self.look.find::<Port>(&end.name));
                    ahead.extend(far.filter(|far| far.spec.inlet().is_some() || far.spec.feed().is_some()));
                }
            }
        }
        found
    }

    /// The devices that something may be lost to: those at the other ends, of data and of power.
    fn touched(&self) -> BTreeSet<String> {
        let mut touched = BTreeSet::new();
        let mut starts: Vec<Port> =
            self.failure.devices.iter().flat_map(|device| self.ports(device)).collect();
        starts.extend(self.failure.ports.iter().filter_map(|port| self.look.find::<Port>(port)));
        for cable in self.failure.cables.iter().filter_map(|cable| self.look.find::<Cable>(cable)) {
            starts.extend(cable.spec.endpoints.iter().filter_map(|end| self.look.find::<Port>(&end.name)));
        }
        for start in &starts {
            match start.spec.kind {
                PortType::Power => {
                    touched.extend(power::sinks(start, self.look).iter().map(|sink| sink.spec.device_key()));
                    for outlet in self.look.in_bucket::<Port>(port::FROM_INLET, &start.metadata.name) {
                        touched.extend(
                            power::sinks(&outlet, self.look).iter().map(|sink| sink.spec.device_key()),
                        );
                    }
                    touched.insert(start.spec.device_key());
                }
                _ => touched.extend(self.reached(start)),
            }
        }
        touched.retain(|device| !self.failure.devices.contains(device));
        touched.retain(|device| device.starts_with("Node/") || device.starts_with("NetworkDevice/"));
        touched
    }

    /// Every end that a port leads to; a panel's port leads to both sides.
    fn reached(&self, start: &Port) -> BTreeSet<String> {
        let mut reached: BTreeSet<String> = BTreeSet::from([start.spec.device_key()]);
        reached.extend(trace::from(start, self.look).ends().iter().map(|end| end.device.clone()));
        let mut behind = self.look.in_bucket::<Port>(port::THROUGH, &start.metadata.name);
        behind
            .extend(start.spec.through().and_then(|through| self.look.find::<Port>(&through.port_ref.name)));
        for other in &behind {
            reached.extend(trace::from(other, self.look).ends().iter().map(|end| end.device.clone()));
        }
        reached
    }
}

/// What is lost if an object goes. `None` when it is of a kind that can't.
pub fn of(kind: &str, name: &str, feed: Option<&str>, look: &dyn Look) -> Option<Impact> {
    let mut failure = Failure::default();
    match kind {
        "Cable" => drop(failure.cables.insert(name.to_owned())),
        "Port" => drop(failure.ports.insert(name.to_owned())),
        "Node" | "NetworkDevice" => with_slots(&format!("{kind}/{name}"), look, &mut failure.devices),
        "Rack" => match feed {
            Some(feed) => {
                let ports = look.in_bucket::<Port>(port::ON_FEED, &port::feed_of(name, feed));
                failure.ports.extend(ports.into_iter().map(|port| port.metadata.name));
            }
            None => {
                failure.devices.insert(format!("Rack/{name}"));
                for device in look.bucket(IN_RACK, name) {
                    with_slots(&format!("{}/{}", device.kind(), device.name()), look, &mut failure.devices);
                }
            }
        },
        _ => return None,
    }
    Some(lost(failure, look))
}

/// A device, and whatever is in its slots.
fn with_slots(device: &str, look: &dyn Look, into: &mut BTreeSet<String>) {
    if into.insert(device.to_owned()) {
        for inside in look.bucket(IN_DEVICE, device) {
            with_slots(&format!("{}/{}", inside.kind(), inside.name()), look, into);
        }
    }
}

fn lost(failure: Failure, look: &dyn Look) -> Impact {
    let mut fails: Vec<String> = failure.devices.iter().cloned().collect();
    fails.extend(failure.cables.iter().map(|cable| format!("Cable/{cable}")));
    fails.extend(failure.ports.iter().map(|port| format!("Port/{port}")));
    let mut impact = Impact { fails, ..Impact::default() };
    let mut loss = Loss { look, failure };
    let mut asked = BTreeSet::new();
    // What is without power takes its network with it; its neighbours are looked at next.
    loop {
        let touched: Vec<String> = loss.touched().difference(&asked).cloned().collect();
        let mut dark = Vec::new();
        for device in &touched {
            let (before, after) = loss.feeds(device);
            if after.len() < before.len() {
                match after.is_empty() {
                    true => dark.push(device.clone()),
                    false => impact.loses_power_redundancy.push(device.clone()),
                }
            }
        }
        asked.extend(touched);
        if dark.is_empty() {
            break;
        }
        impact.loses_power.extend(dark.iter().cloned());
        loss.failure.devices.extend(dark);
    }
    for device in loss.touched() {
        let (before, after) = loss.neighbours(&device);
        if after.len() < before.len() {
            match after.is_empty() {
                true => impact.loses_network.push(device),
                false => impact.loses_network_redundancy.push(device),
            }
        }
    }
    beyond(&mut impact, &loss);
    for list in [&mut impact.loses_power, &mut impact.loses_power_redundancy] {
        list.sort();
        list.dedup();
    }
    impact
}

/// Machines, links and circuits that go with it.
fn beyond(impact: &mut Impact, loss: &Loss<'_>) {
    let gone = loss.failure.devices.iter().chain(&impact.loses_network);
    let (mut machines, mut links, mut circuits) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut cables = loss.failure.cables.clone();
    let mut ports = loss.failure.ports.clone();
    for device in gone {
        if let Some(node) = device.strip_prefix("Node/") {
            let hosted = loss.look.having(crate::kinds::GROUP, "virtualmachines", "spec.hostRef.name", node);
            machines.extend(hosted.iter().map(|machine| machine.name().to_owned()));
        }
    }
    for device in &loss.failure.devices {
        for port in loss.ports(device) {
            let in_port = loss.look.bucket(crate::kinds::cable::IN_PORT, &port.metadata.name);
            cables.extend(in_port.iter().map(|cable| cable.name().to_owned()));
            ports.insert(port.metadata.name);
        }
    }
    for cable in &cables {
        let over = loss.look.having(crate::kinds::GROUP, "links", "spec.cableRefs.name", cable);
        links.extend(over.iter().map(|link| link.name().to_owned()));
    }
    for port in &ports {
        let at = loss.look.bucket(crate::kinds::circuit::AT_PORT, port);
        circuits.extend(at.iter().map(|circuit| circuit.name().to_owned()));
    }
    impact.machines = machines.into_iter().collect();
    impact.links = links.into_iter().collect();
    impact.circuits = circuits.into_iter().collect();
}

impl Impact {
    /// What a terminal shows.
    pub fn text(&self) -> String {
        let told: BTreeMap<&str, &Vec<String>> = BTreeMap::from([
            ("1 Without power", &self.loses_power),
            ("2 Without network", &self.loses_network),
            ("3 Power without redundancy", &self.loses_power_redundancy),
            ("4 Fewer ways to the network", &self.loses_network_redundancy),
            ("5 Machines that go with it", &self.machines),
            ("6 Links that run over it", &self.links),
            ("7 Circuits that end at it", &self.circuits),
        ]);
        let mut text = format!("If {} goes:\n", self.fails.join(", "));
        let mut is_harmless = true;
        for (title, list) in told.into_iter().filter(|(_, list)| !list.is_empty()) {
            is_harmless = false;
            text.push_str(&format!("{} ({})\n", &title[2..], list.len()));
            for name in list {
                text.push_str(&format!("  {name}\n"));
            }
        }
        if is_harmless {
            text.push_str("Nothing else loses power, network or redundancy.\n");
        }
        text
    }
}

/// Answers `…/<plural>/<name>/impact` for one kind.
pub fn answer(kind: &'static str) -> impl Fn(&Questioned<'_>, &dyn Look) -> Result<Answered, Status> {
    move |asked, look| {
        if asked.name == "-" {
            return Err(Status::bad_request(format!("say which {kind} would go")));
        }
        let Some(impact) = of(kind, asked.name, asked.option("feed"), look) else {
            return Err(Status::bad_request(format!("what goes with a {kind} is not known")));
        };
        shown(asked, &impact, || impact.text(), None)
    }
}

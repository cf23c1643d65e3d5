//! Who still reaches the network: ways from the circuits to every device, and what all of them have in common.
//!
//! What every way to a device has in common is what it hangs on. That is worked out for all devices at once, as compilers
//! work out dominators: a device hangs on what the neighbours before it hang on, and on the way from them, as far as all
//! its neighbours agree.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use krm::kind::{Address, Look};

use super::failure::Failure;
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Circuit, GROUP, Port};
use crate::questions::trace::{self, By, Hop};

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
    let around = Surroundings::of(failure, look);
    let (before, after) = (around.hanging(None), around.hanging(Some(failure)));
    let mut lost = Lost::default();
    for (device, hung) in &before {
        if failure.devices.contains(device) {
            continue;
        }
        match after.get(device) {
            None => lost.cut_off.push(device.clone()),
            Some(hangs) => {
                let fresh: Vec<String> = hangs.difference(hung).cloned().collect();
                if !fresh.is_empty() {
                    lost.weakened.push((device.clone(), fresh));
                }
            }
        }
    }
    lost
}

/// A way between two devices, or from a device out by a circuit.
#[derive(Debug, Clone)]
struct Way {
    /// Where it leads; nothing when it leads out.
    to: Option<String>,
    /// What it runs over: cables, panels, the circuit.
    over: BTreeSet<String>,
    /// The ports on it.
    ports: BTreeSet<String>,
    /// Devices beyond the circuit, one of which has to be there.
    beyond: Option<Vec<BTreeSet<String>>>,
    /// Whether it is inside a chassis.
    is_slot: bool,
}

impl Way {
    fn is_hit(&self, failure: &Failure) -> bool {
        let goes = |thing: &String| match thing.split_once('/') {
            Some(("Cable", name)) => failure.cables.contains(name),
            Some(("Circuit", name)) => failure.circuits.contains(name),
            _ => failure.devices.contains(thing),
        };
        let is_beyond_hit = self.beyond.as_ref().is_some_and(|branches| {
            !branches.is_empty() && branches.iter().all(|branch| branch.iter().any(goes))
        });
        is_beyond_hit
            || self.over.iter().any(goes)
            || self.ports.iter().any(|port| failure.ports.contains(port))
    }
}

/// The devices that what goes could matter to, with all their ways.
struct Surroundings {
    ways: BTreeMap<String, Vec<Way>>,
    roles: BTreeMap<String, String>,
}

impl Surroundings {
    /// Everything that hangs together with what goes, up to the circuits.
    fn of(failure: &Failure, look: &dyn Look) -> Surroundings {
        let mut around = Surroundings { ways: BTreeMap::new(), roles: BTreeMap::new() };
        let mut ahead: VecDeque<String> = starts(failure, look).into();
        while let Some(device) = ahead.pop_front() {
            if around.ways.contains_key(&device) || !is_device(&device) {
                continue;
            }
            let role = role(&device, look);
            if matches!(role.as_deref(), Some("PatchPanel" | "PDU")) {
                continue;
            }
            let ways = ways(&device, look);
            ahead.extend(ways.iter().filter_map(|way| way.to.clone()));
            around.ways.insert(device.clone(), ways);
            around.roles.extend(role.map(|role| (device, role)));
        }
        around
    }

    /// What each device that reaches the network hangs on, itself left out.
    fn hanging(&self, failure: Option<&Failure>) -> BTreeMap<String, BTreeSet<String>> {
        let is_there = |device: &str| failure.is_none_or(|failure| !failure.devices.contains(device));
        let is_open = |way: &Way| failure.is_none_or(|failure| !way.is_hit(failure));
        // A host is no switch: what comes in by a cable goes on only to what is in its slots, or around it.
        let mut hangs: BTreeMap<(&str, bool), BTreeSet<String>> = BTreeMap::new();
        let mut ahead: VecDeque<(&str, bool)> = VecDeque::new();
        let ways_out = self.ways_out();
        for (device, over) in &ways_out {
            let is_open = over.is_none_or(is_open);
            if is_there(device) && is_open {
                let over = over.map(|way| way.over.clone()).unwrap_or_default();
                narrow(&mut hangs, &mut ahead, (device, false), over);
            }
        }
        while let Some((device, by_slot)) = ahead.pop_front() {
            let Some(so_far) = hangs.get(&(device, by_slot)).cloned() else { continue };
            let is_host = device.starts_with("Node/");
            for way in self.ways.get(device).into_iter().flatten() {
                let Some(to) = way.to.as_deref().filter(|to| is_there(to)) else { continue };
                if !is_open(way) || (is_host && !by_slot && !way.is_slot) || !self.ways.contains_key(to) {
                    continue;
                }
                let mut over = so_far.clone();
                over.insert(device.to_owned());
                over.extend(way.over.iter().cloned());
                narrow(&mut hangs, &mut ahead, (to, way.is_slot && to.starts_with("Node/")), over);
            }
        }
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for ((device, _), mut on) in hangs {
            on.remove(device);
            match found.get_mut(device) {
                Some(known) => known.retain(|thing| on.contains(thing)),
                None => drop(found.insert(device.to_owned(), on)),
            }
        }
        found
    }

    /// Where the network begins: the circuits; without any, the devices nearest to where one would be.
    fn ways_out(&self) -> Vec<(&str, Option<&Way>)> {
        let mut out = Vec::new();
        for component in self.components() {
            let circuits: Vec<(&str, Option<&Way>)> = component
                .iter()
                .flat_map(|device| self.ways[*device].iter().map(move |way| (*device, way)))
                .filter(|(_, way)| way.to.is_none())
                .map(|(device, way)| (device, Some(way)))
                .collect();
            if !circuits.is_empty() {
                out.extend(circuits);
                continue;
            }
            let with_role = |role: &str| -> Vec<&str> {
                let has = |device: &&&str| self.roles.get(**device).is_some_and(|own| own == role);
                component.iter().filter(has).copied().collect()
            };
            let nearest = ["BorderRouter", "Firewall", "Spine", "Leaf"].into_iter().map(with_role);
            let nearest = nearest.into_iter().find(|devices| !devices.is_empty());
            out.extend(nearest.into_iter().flatten().map(|device| (device, None)));
        }
        out
    }

    /// Devices that hang together without a host between them: a host with two networks does not join them.
    fn components(&self) -> Vec<Vec<&str>> {
        let (mut components, mut seen) = (Vec::new(), BTreeSet::new());
        for start in self.ways.keys() {
            let (mut component, mut ahead) = (Vec::new(), vec![start.as_str()]);
            while let Some(device) = ahead.pop() {
                if !self.ways.contains_key(device) || !seen.insert(device) {
                    continue;
                }
                component.push(device);
                let joins = |way: &&Way| {
                    let is_host = |device: &str| device.starts_with("Node/");
                    way.is_slot || !(is_host(device) || way.to.as_deref().is_some_and(is_host))
                };
                ahead.extend(self.ways[device].iter().filter(joins).filter_map(|way| way.to.as_deref()));
            }
            if !component.is_empty() {
                components.push(component);
            }
        }
        components
    }
}

/// A further way to a device: it hangs only on what this one has in common with the others.
fn narrow<'a>(
    hangs: &mut BTreeMap<(&'a str, bool), BTreeSet<String>>,
    ahead: &mut VecDeque<(&'a str, bool)>,
    at: (&'a str, bool),
    over: BTreeSet<String>,
) {
    match hangs.get_mut(&at) {
        None => drop(hangs.insert(at, over)),
        Some(known) => {
            let before = known.len();
            known.retain(|thing| over.contains(thing));
            if known.len() == before {
                return;
            }
        }
    }
    ahead.push_back(at);
}

fn is_device(device: &str) -> bool {
    device.starts_with("Node/") || device.starts_with("NetworkDevice/")
}

fn role(device: &str, look: &dyn Look) -> Option<String> {
    let name = device.strip_prefix("NetworkDevice/")?;
    let at = Address {
        group: GROUP.to_owned(),
        plural: "networkdevices".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    Some(look.get(&at)?.at("spec.role")?.as_str()?.to_owned())
}

/// The devices at all ends of what goes.
fn starts(failure: &Failure, look: &dyn Look) -> Vec<String> {
    let mut starts: BTreeSet<String> = failure.devices.clone();
    let mut ports: Vec<std::sync::Arc<Port>> = Vec::new();
    for device in &failure.devices {
        ports.extend(look.in_bucket::<Port>(port::ON_DEVICE, device));
        starts.extend(in_slots(device, look));
    }
    ports.extend(failure.ports.iter().filter_map(|port| look.find::<Port>(port)));
    let cables = failure.cables.iter().filter_map(|cable| look.find::<Cable>(cable));
    let ends = cables.flat_map(|cable| cable.spec.endpoints.clone());
    ports.extend(ends.filter_map(|end| look.find::<Port>(&end.name)));
    let circuits = failure.circuits.iter().filter_map(|circuit| look.find::<Circuit>(circuit));
    let ends = circuits.flat_map(|circuit| [circuit.spec.a_end.clone(), circuit.spec.z_end.clone()]);
    ports.extend(ends.filter_map(|end| look.find::<Port>(&end.name)));
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
    starts.into_iter().collect()
}

/// The devices in the slots of a device, and the one whose slot it is in.
fn in_slots(device: &str, look: &dyn Look) -> Vec<String> {
    let mut near = super::failure::in_slots_of(device, look);
    let Some((kind, name)) = device.split_once('/') else { return near };
    let at = Address {
        group: GROUP.to_owned(),
        plural: format!("{}s", kind.to_lowercase()),
        namespace: String::new(),
        name: name.to_owned(),
    };
    let own = look.get(&at);
    let text = |path: &str| own.as_ref()?.at(path)?.as_str().map(str::to_owned);
    if let (Some(kind), Some(name)) = (text("spec.inSlot.deviceRef.kind"), text("spec.inSlot.deviceRef.name"))
    {
        near.push(format!("{kind}/{name}"));
    }
    near
}

/// All ways from a device: by its ports, and inside its chassis.
fn ways(device: &str, look: &dyn Look) -> Vec<Way> {
    let mut found = Vec::new();
    for port in look.in_bucket::<Port>(port::ON_DEVICE, device) {
        if port.spec.kind == PortType::Power {
            continue;
        }
        let begin = Begun { over: BTreeSet::new(), ports: BTreeSet::from([port.metadata.name.clone()]) };
        for next in &trace::from(&port, look).next {
            follow(next, &begin, &mut found);
        }
    }
    found.extend(in_slots(device, look).into_iter().map(|to| Way {
        to: Some(to),
        over: BTreeSet::new(),
        ports: BTreeSet::new(),
        beyond: None,
        is_slot: true,
    }));
    found
}

/// A way as far as it was followed.
#[derive(Clone)]
struct Begun {
    over: BTreeSet<String>,
    ports: BTreeSet<String>,
}

fn follow(hop: &Hop, begun: &Begun, found: &mut Vec<Way>) {
    let mut on = begun.clone();
    on.ports.insert(hop.port.clone());
    match &hop.by {
        Some(By::Cable { name, .. }) => drop(on.over.insert(format!("Cable/{name}"))),
        Some(By::Circuit { name, .. }) => {
            on.over.insert(format!("Circuit/{name}"));
            on.ports.remove(&hop.port);
            let beyond = branches(hop);
            // What every branch on the other side needs, the circuit needs.
            let common = beyond.iter().cloned().reduce(|common, branch| &common & &branch);
            on.over.extend(common.unwrap_or_default());
            let way = Way { to: None, over: on.over, ports: on.ports, beyond: Some(beyond), is_slot: false };
            found.push(way);
            return;
        }
        _ => {}
    }
    if hop.next.is_empty() {
        let Begun { over, ports } = on;
        found.push(Way { to: Some(hop.device.clone()), over, ports, beyond: None, is_slot: false });
        return;
    }
    // It goes on, so this is a panel.
    on.over.insert(hop.device.clone());
    for next in &hop.next {
        follow(next, &on, found);
    }
}

/// What each way on the other side of a circuit runs over.
fn branches(hop: &Hop) -> Vec<BTreeSet<String>> {
    let mut own = BTreeSet::new();
    if is_device(&hop.device) {
        own.insert(hop.device.clone());
    }
    if let Some(By::Cable { name, .. }) = &hop.by {
        own.insert(format!("Cable/{name}"));
    }
    if hop.next.is_empty() {
        return if own.is_empty() { Vec::new() } else { vec![own] };
    }
    let mut all = Vec::new();
    for mut branch in hop.next.iter().flat_map(branches) {
        branch.extend(own.iter().cloned());
        all.push(branch);
    }
    if all.is_empty() { vec![own] } else { all }
}

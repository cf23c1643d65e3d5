//! What is around what goes: the devices that it could matter to, with all their ways.
//!
//! It begins with all that hangs together by cables. What lies beyond a circuit is looked at when it could see a
//! difference, or when somebody here gets network from there.

use std::collections::{BTreeSet, HashMap, VecDeque};

use krm::kind::Look;

use super::super::failure::Failure;
use super::hanging::{Hanging, Source, newly};
use super::things::{Thing, Things};
use super::ways::{Leads, Way, is_thoroughfare, role, ways};
use crate::kinds::network_device::DeviceRole;

/// So many devices are looked at to find out whether the other end of a circuit has network of its own. Where none is found
/// among so many, it is taken for granted.
const FURTHEST: usize = 2_000;

/// The roles that stand in for a circuit where there is none, the best first.
const NEAREST: [DeviceRole; 4] =
    [DeviceRole::BorderRouter, DeviceRole::Firewall, DeviceRole::Spine, DeviceRole::Leaf];

/// The devices that what goes could matter to, with all their ways.
pub struct Surroundings<'a> {
    pub things: Things<'a>,
    look: &'a dyn Look,
    /// The ways of each device that was looked at, inside or not.
    ways: HashMap<Thing, Vec<Way>>,
    inside: BTreeSet<Thing>,
    /// Those beyond a circuit that have network of their own, without anybody inside.
    fed: BTreeSet<Thing>,
}

/// A way that leads from inside over a circuit to where nobody has looked yet.
struct Edge {
    near: Thing,
    far: Thing,
    /// What comes from there: nothing from who has no network of its own, or is a host, which passes nothing on.
    source: Option<Source>,
    is_open: bool,
}

impl<'a> Surroundings<'a> {
    /// Everything that could lose something.
    pub fn of(starts: BTreeSet<String>, failure: &'a Failure, look: &'a dyn Look) -> Surroundings<'a> {
        let things = Things::new(failure);
        let (ways, inside, fed) = (HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut around = Surroundings { things, look, ways, inside, fed };
        let mut fresh: Vec<Thing> = starts.iter().map(|start| around.things.number(start)).collect();
        while !fresh.is_empty() {
            around.grow(fresh);
            fresh = around.where_it_matters();
        }
        around
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = Thing> + '_ {
        self.inside.iter().copied()
    }

    /// Whether a device is among them.
    pub fn is_inside(&self, device: Thing) -> bool {
        self.inside.contains(&device)
    }

    /// The ways from a device.
    pub fn ways_of(&self, device: Thing) -> &[Way] {
        self.ways.get(&device).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether it is a host, which passes nothing on.
    pub fn is_host(&self, device: Thing) -> bool {
        self.things.name(device).starts_with("Node/")
    }

    /// What every device hangs on: as things are, and without what goes.
    pub fn hanging(&self) -> (Hanging, Hanging) {
        let mut sources = self.sources();
        sources.extend(self.edges().into_iter().filter_map(|edge| edge.source));
        self.both(&sources)
    }

    fn both(&self, sources: &[Source]) -> (Hanging, Hanging) {
        (Hanging::from(sources, self, false), Hanging::from(sources, self, true))
    }

    /// Takes in what hangs together with these by cables.
    fn grow(&mut self, starts: Vec<Thing>) {
        let mut ahead: VecDeque<Thing> = starts.into();
        while let Some(device) = ahead.pop_front() {
            if self.inside.contains(&device) || !self.looks_at(device) {
                continue;
            }
            self.inside.insert(device);
            let near = self.ways_of(device).iter().filter_map(|way| match way.leads {
                Leads::To(near) | Leads::InChassis(near) => Some(near),
                Leads::Beyond(_) => None,
                // Whoever is at the other end of a way out loses it too.
                Leads::Out(far) => far.filter(|_| self.things.is_gone(device) || !way.is_open(&self.things)),
            });
            ahead.extend(near);
        }
    }

    /// Learns the ways of a device; whether it can have any.
    fn looks_at(&mut self, device: Thing) -> bool {
        if self.ways.contains_key(&device) {
            return true;
        }
        let name = self.things.name(device).to_owned();
        if is_thoroughfare(&name, self.look) {
            return false;
        }
        let ways = ways(&name, &mut self.things, self.look);
        self.ways.insert(device, ways);
        true
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for near in self.devices() {
            for way in self.ways_of(near) {
                if let Leads::Beyond(far) = way.leads
                    && !self.inside.contains(&far)
                {
                    let source =
                        (self.fed.contains(&far) && !self.is_host(far)).then(|| Source::by(near, way));
                    let is_open = way.is_open(&self.things) && !self.things.is_gone(near);
                    edges.push(Edge { near, far, source, is_open });
                }
            }
        }
        edges
    }

    /// The devices beyond circuits that have to be taken in, so that nothing is missed.
    fn where_it_matters(&mut self) -> Vec<Thing> {
        let beyond: BTreeSet<Thing> = self.edges().iter().map(|edge| edge.far).collect();
        self.fed = beyond.iter().copied().filter(|far| self.has_own_network(*far)).collect();
        let edges = self.edges();
        if edges.is_empty() {
            return Vec::new();
        }
        if self.lives_on_others(&edges) || self.networks().iter().any(|network| self.may_get_some(network)) {
            return edges.iter().map(|edge| edge.far).collect();
        }
        let own = self.both(&self.sources());
        if edges.iter().all(|edge| edge.is_open && !differs(&own, edge.near)) {
            return Vec::new();
        }
        // Whoever has network here has it without others, before and after. Whoever has some beyond a circuit, too, is as well
        // off as before, unless the circuit goes or leads to nothing, or a panel counts that may be in their ways as in ours.
        let needs = |edge: &Edge| {
            let (Some(before), Some(after)) = (own.0.of(edge.near), own.1.of(edge.near)) else { return true };
            let is_shared = newly(before, after).any(|thing| self.is_panel(thing));
            !edge.is_open || is_shared || !self.fed.contains(&edge.far)
        };
        edges.iter().filter(|edge| needs(edge)).map(|edge| edge.far).collect()
    }

    /// Whether some device here has network only from beyond a circuit, before or after.
    fn lives_on_others(&self, edges: &[Edge]) -> bool {
        let mut sources = self.sources();
        let own = self.both(&sources);
        sources.extend(edges.iter().filter_map(|edge| edge.source.clone()));
        let all = self.both(&sources);
        let needs_others = |own: &Hanging, all: &Hanging, device| match (own.of(device), all.of(device)) {
            // What only others make up for may be in their ways too, where it is a panel.
            (Some(own), Some(all)) => newly(all, own).any(|thing| self.is_panel(thing)),
            (own, all) => own.is_none() && all.is_some(),
        };
        self.devices()
            .any(|device| needs_others(&own.0, &all.0, device) || needs_others(&own.1, &all.1, device))
    }

    /// Whether others' ways may run over it that have nothing else to do with those here.
    fn is_panel(&self, thing: Thing) -> bool {
        self.things.name(thing).starts_with("NetworkDevice/") && !self.inside.contains(&thing)
    }

    /// Whether a device beyond a circuit reaches the outside without what is inside.
    fn has_own_network(&mut self, start: Thing) -> bool {
        let (mut seen, mut ahead) = (BTreeSet::from([start]), VecDeque::from([start]));
        while let Some(device) = ahead.pop_front() {
            if seen.len() > FURTHEST {
                return true;
            }
            if self.things.is_gone(device) || !self.looks_at(device) {
                continue;
            }
            for way in self.ways_of(device).iter().filter(|way| way.is_open(&self.things)) {
                let to = match way.leads {
                    Leads::Out(far) if far.is_some_and(|far| self.inside.contains(&far)) => continue,
                    Leads::Out(_) => return true,
                    Leads::To(to) | Leads::InChassis(to) | Leads::Beyond(to) => to,
                };
                let in_chassis = matches!(way.leads, Leads::InChassis(_));
                let goes_on = in_chassis || !(self.is_host(device) || self.is_host(to));
                if goes_on && !self.inside.contains(&to) && seen.insert(to) {
                    ahead.push_back(to);
                }
            }
        }
        false
    }

    /// Where the network begins, leaving aside what may come from beyond a circuit that was not looked behind: where circuits
    /// lead out; where none does, at the circuits between us; without any, at the devices nearest to where one would be.
    fn sources(&self) -> Vec<Source> {
        let mut sources = Vec::new();
        for network in self.networks() {
            let ways = || {
                network.iter().flat_map(|device| self.ways_of(*device).iter().map(move |way| (*device, way)))
            };
            let by = |(device, way): (Thing, &Way)| Source::by(device, way);
            let out: Vec<Source> =
                ways().filter(|(_, way)| matches!(way.leads, Leads::Out(_))).map(by).collect();
            if !out.is_empty() {
                sources.extend(out);
                continue;
            }
            let between = |(device, way): &(Thing, &Way)| match way.leads {
                Leads::Beyond(far) => !self.is_host(*device) && !self.is_host(far),
                _ => false,
            };
            if self.may_get_some(&network) {
                continue;
            }
            let circuits: Vec<Source> = ways().filter(between).map(by).collect();
            if !circuits.is_empty() {
                sources.extend(circuits);
                continue;
            }
            let roles: Vec<Option<DeviceRole>> =
                network.iter().map(|device| role(self.things.name(*device), self.look)).collect();
            let best = NEAREST.into_iter().find(|role| roles.contains(&Some(*role)));
            let nearest = network.iter().zip(&roles).filter(|(_, role)| best.is_some() && **role == best);
            sources.extend(nearest.map(|(device, _)| Source::device(*device)));
        }
        sources
    }

    /// Whether no circuit of a network leads out, but one leads to where nobody has looked: then it is not known whether
    /// anything has to stand in.
    fn may_get_some(&self, network: &[Thing]) -> bool {
        let mut ways = network.iter().flat_map(|device| self.ways_of(*device));
        let has_none = !ways.clone().any(|way| matches!(way.leads, Leads::Out(_)));
        let is_unknown = |far: Thing| !self.inside.contains(&far) && !self.is_host(far);
        has_none && ways.any(|way| matches!(way.leads, Leads::Beyond(far) if is_unknown(far)))
    }

    /// Devices that hang together without a host between them: a host with two networks does not join them.
    fn networks(&self) -> Vec<Vec<Thing>> {
        let (mut networks, mut seen) = (Vec::new(), BTreeSet::new());
        for start in self.devices() {
            let (mut network, mut ahead) = (Vec::new(), vec![start]);
            while let Some(device) = ahead.pop() {
                if !self.inside.contains(&device) || !seen.insert(device) {
                    continue;
                }
                network.push(device);
                let near = self.ways_of(device).iter().filter_map(|way| match way.leads {
                    Leads::InChassis(to) => Some(to),
                    Leads::To(to) | Leads::Beyond(to) => {
                        (!self.is_host(device) && !self.is_host(to)).then_some(to)
                    }
                    Leads::Out(_) => None,
                });
                ahead.extend(near);
            }
            if !network.is_empty() {
                networks.push(network);
            }
        }
        networks
    }
}

/// Whether a device is not reached any more, or hangs on more than before.
fn differs((before, after): &(Hanging, Hanging), device: Thing) -> bool {
    match (before.of(device), after.of(device)) {
        (Some(before), Some(after)) => newly(before, after).next().is_some(),
        (before, after) => before.is_some() != after.is_some(),
    }
}

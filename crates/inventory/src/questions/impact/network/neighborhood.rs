//! The neighborhood of a failure: the devices that it can affect, with all their paths.
//!
//! It starts with everything connected by cables. What lies beyond a circuit is examined only if it can be affected, or
//! if the neighborhood gets its network from there.

use std::collections::{BTreeSet, HashMap, VecDeque};

use krm::kind::QueryContext;

use super::dependencies::{Dependencies, Source, newly};
use super::elements::{Element, Elements};
use super::paths::{Path, PathEnd, is_passive, paths, role};
use crate::failure::Failure;
use crate::kinds::network_device::DeviceRole;

/// Maximum number of devices examined to find out whether the far end of a circuit has network of its own. Beyond that, it
/// is assumed to have.
const MAX_EXAMINED: usize = 2_000;

/// The roles that stand in for an uplink where there is none, best first.
const STAND_IN_ROLES: [DeviceRole; 4] =
    [DeviceRole::BorderRouter, DeviceRole::Firewall, DeviceRole::Spine, DeviceRole::Leaf];

/// The devices that a failure can affect, with all their paths.
pub struct Neighborhood<'a> {
    pub elements: Elements<'a>,
    look: &'a dyn QueryContext,
    /// The paths of each examined device, inside or not.
    paths: HashMap<Element, Vec<Path>>,
    inside: BTreeSet<Element>,
    /// Devices beyond a circuit with network that does not depend on the neighborhood.
    fed: BTreeSet<Element>,
}

/// A path over a circuit to a device outside the neighborhood.
struct Edge {
    near: Element,
    far: Element,
    /// The network that it provides: none if the far end has none of its own or is a host, which does not forward.
    source: Option<Source>,
    is_open: bool,
}

impl<'a> Neighborhood<'a> {
    /// Collects everything that the failure can affect.
    pub fn of(
        starts: BTreeSet<String>,
        failure: &'a Failure,
        look: &'a dyn QueryContext,
    ) -> Neighborhood<'a> {
        let elements = Elements::new(failure);
        let (paths, inside, fed) = (HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut neighborhood = Neighborhood { elements, look, paths, inside, fed };
        let mut fresh: Vec<Element> =
            starts.iter().map(|start| neighborhood.elements.number(start)).collect();
        while !fresh.is_empty() {
            neighborhood.grow(fresh);
            fresh = neighborhood.missing_neighbors();
        }
        neighborhood
    }

    /// The devices of the neighborhood.
    pub fn devices(&self) -> impl Iterator<Item = Element> + '_ {
        self.inside.iter().copied()
    }

    /// Whether a device is in the neighborhood.
    pub fn is_inside(&self, device: Element) -> bool {
        self.inside.contains(&device)
    }

    /// The paths from a device.
    pub fn paths_of(&self, device: Element) -> &[Path] {
        self.paths.get(&device).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether it is a host, which does not forward.
    pub fn is_host(&self, device: Element) -> bool {
        self.elements.name(device).starts_with("Node/")
    }

    /// The dependencies of every device, before and after the failure.
    pub fn dependencies(&self) -> (Dependencies, Dependencies) {
        let mut sources = self.sources();
        sources.extend(self.edges().into_iter().filter_map(|edge| edge.source));
        self.both(&sources)
    }

    fn both(&self, sources: &[Source]) -> (Dependencies, Dependencies) {
        (Dependencies::from(sources, self, false), Dependencies::from(sources, self, true))
    }

    /// Adds everything connected to these by cables.
    fn grow(&mut self, starts: Vec<Element>) {
        let mut ahead: VecDeque<Element> = starts.into();
        while let Some(device) = ahead.pop_front() {
            if self.inside.contains(&device) || !self.read_paths(device) {
                continue;
            }
            self.inside.insert(device);
            let near = self.paths_of(device).iter().filter_map(|way| match way.leads {
                PathEnd::To(near) | PathEnd::InChassis(near) => Some(near),
                PathEnd::Beyond(_) => None,
                // The device at the far end of a failed uplink loses it too.
                PathEnd::Out(far) => {
                    far.filter(|_| self.elements.has_failed(device) || !way.is_open(&self.elements))
                }
            });
            ahead.extend(near);
        }
    }

    /// Reads the paths of a device; returns whether it can have any.
    fn read_paths(&mut self, device: Element) -> bool {
        if self.paths.contains_key(&device) {
            return true;
        }
        let name = self.elements.name(device).to_owned();
        if is_passive(&name, self.look) {
            return false;
        }
        let paths = paths(&name, &mut self.elements, self.look);
        self.paths.insert(device, paths);
        true
    }

    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for near in self.devices() {
            for way in self.paths_of(near) {
                if let PathEnd::Beyond(far) = way.leads
                    && !self.inside.contains(&far)
                {
                    let source =
                        (self.fed.contains(&far) && !self.is_host(far)).then(|| Source::by(near, way));
                    let is_open = way.is_open(&self.elements) && !self.elements.has_failed(near);
                    edges.push(Edge { near, far, source, is_open });
                }
            }
        }
        edges
    }

    /// The devices beyond circuits that must be added to get a complete result.
    fn missing_neighbors(&mut self) -> Vec<Element> {
        let beyond: BTreeSet<Element> = self.edges().iter().map(|edge| edge.far).collect();
        self.fed = beyond.iter().copied().filter(|far| self.has_own_uplink(*far)).collect();
        let edges = self.edges();
        if edges.is_empty() {
            return Vec::new();
        }
        if self.depends_on_others(&edges)
            || self.networks().iter().any(|network| self.uplink_is_unknown(network))
        {
            return edges.iter().map(|edge| edge.far).collect();
        }
        let own = self.both(&self.sources());
        if edges.iter().all(|edge| edge.is_open && !differs(&own, edge.near)) {
            return Vec::new();
        }
        // Here, everything with network has it without others, before and after. A far end with network of its own is not
        // affected either, unless the circuit fails, or a patch panel that may be on its paths too becomes a dependency.
        let needs = |edge: &Edge| {
            let (Some(before), Some(after)) = (own.0.of(edge.near), own.1.of(edge.near)) else { return true };
            let is_shared = newly(before, after).any(|element| self.is_panel(element));
            !edge.is_open || is_shared || !self.fed.contains(&edge.far)
        };
        edges.iter().filter(|edge| needs(edge)).map(|edge| edge.far).collect()
    }

    /// Whether some device here has network only through a circuit, before or after.
    fn depends_on_others(&self, edges: &[Edge]) -> bool {
        let mut sources = self.sources();
        let own = self.both(&sources);
        sources.extend(edges.iter().filter_map(|edge| edge.source.clone()));
        let all = self.both(&sources);
        let needs_others =
            |own: &Dependencies, all: &Dependencies, device| match (own.of(device), all.of(device)) {
                // A patch panel that only others bypass may be on their paths too.
                (Some(own), Some(all)) => newly(all, own).any(|element| self.is_panel(element)),
                (own, all) => own.is_none() && all.is_some(),
            };
        self.devices()
            .any(|device| needs_others(&own.0, &all.0, device) || needs_others(&own.1, &all.1, device))
    }

    /// Whether it is a patch panel, which may be on paths of otherwise unrelated devices.
    fn is_panel(&self, element: Element) -> bool {
        self.elements.name(element).starts_with("NetworkDevice/") && !self.inside.contains(&element)
    }

    /// Whether a device beyond a circuit reaches an uplink without passing through the neighborhood.
    fn has_own_uplink(&mut self, start: Element) -> bool {
        let (mut seen, mut ahead) = (BTreeSet::from([start]), VecDeque::from([start]));
        while let Some(device) = ahead.pop_front() {
            if seen.len() > MAX_EXAMINED {
                return true;
            }
            if self.elements.has_failed(device) || !self.read_paths(device) {
                continue;
            }
            for way in self.paths_of(device).iter().filter(|way| way.is_open(&self.elements)) {
                let to = match way.leads {
                    PathEnd::Out(far) if far.is_some_and(|far| self.inside.contains(&far)) => continue,
                    PathEnd::Out(_) => return true,
                    PathEnd::To(to) | PathEnd::InChassis(to) | PathEnd::Beyond(to) => to,
                };
                let in_chassis = matches!(way.leads, PathEnd::InChassis(_));
                let goes_on = in_chassis || !(self.is_host(device) || self.is_host(to));
                if goes_on && !self.inside.contains(&to) && seen.insert(to) {
                    ahead.push_back(to);
                }
            }
        }
        false
    }

    /// The uplinks inside the neighborhood: circuits to other networks; without those, circuits between ports of the
    /// inventory; without any circuit, the devices that are best suited to stand in for one.
    fn sources(&self) -> Vec<Source> {
        let mut sources = Vec::new();
        for network in self.networks() {
            let paths = || {
                network.iter().flat_map(|device| self.paths_of(*device).iter().map(move |way| (*device, way)))
            };
            let by = |(device, way): (Element, &Path)| Source::by(device, way);
            let out: Vec<Source> =
                paths().filter(|(_, way)| matches!(way.leads, PathEnd::Out(_))).map(by).collect();
            if !out.is_empty() {
                sources.extend(out);
                continue;
            }
            let between = |(device, way): &(Element, &Path)| match way.leads {
                PathEnd::Beyond(far) => !self.is_host(*device) && !self.is_host(far),
                _ => false,
            };
            if self.uplink_is_unknown(&network) {
                continue;
            }
            let circuits: Vec<Source> = paths().filter(between).map(by).collect();
            if !circuits.is_empty() {
                sources.extend(circuits);
                continue;
            }
            let roles: Vec<Option<DeviceRole>> =
                network.iter().map(|device| role(self.elements.name(*device), self.look)).collect();
            let best = STAND_IN_ROLES.into_iter().find(|role| roles.contains(&Some(*role)));
            let nearest = network.iter().zip(&roles).filter(|(_, role)| best.is_some() && **role == best);
            sources.extend(nearest.map(|(device, _)| Source::device(*device)));
        }
        sources
    }

    /// Whether a network has no uplink but a circuit to an unexamined device: then it is unknown whether it needs a stand-in.
    fn uplink_is_unknown(&self, network: &[Element]) -> bool {
        let mut paths = network.iter().flat_map(|device| self.paths_of(*device));
        let has_none = !paths.clone().any(|way| matches!(way.leads, PathEnd::Out(_)));
        let is_unknown = |far: Element| !self.inside.contains(&far) && !self.is_host(far);
        has_none && paths.any(|way| matches!(way.leads, PathEnd::Beyond(far) if is_unknown(far)))
    }

    /// Groups of devices connected without a host between them: a host with two networks does not join them.
    fn networks(&self) -> Vec<Vec<Element>> {
        let (mut networks, mut seen) = (Vec::new(), BTreeSet::new());
        for start in self.devices() {
            let (mut network, mut ahead) = (Vec::new(), vec![start]);
            while let Some(device) = ahead.pop() {
                if !self.inside.contains(&device) || !seen.insert(device) {
                    continue;
                }
                network.push(device);
                let near = self.paths_of(device).iter().filter_map(|way| match way.leads {
                    PathEnd::InChassis(to) => Some(to),
                    PathEnd::To(to) | PathEnd::Beyond(to) => {
                        (!self.is_host(device) && !self.is_host(to)).then_some(to)
                    }
                    PathEnd::Out(_) => None,
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

/// Whether a device became unreachable or got a new dependency.
fn differs((before, after): &(Dependencies, Dependencies), device: Element) -> bool {
    match (before.of(device), after.of(device)) {
        (Some(before), Some(after)) => newly(before, after).next().is_some(),
        (before, after) => before.is_some() != after.is_some(),
    }
}

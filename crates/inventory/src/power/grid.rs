//! The power grid around some devices: their power ports, what feeds them, and what they draw.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use krm::kind::QueryContext;

use crate::failure::in_slots_of;
use crate::kinds::cable::{self, Media};
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, NetworkDevice, Node, Port, Rack};

/// A power port of the grid.
#[derive(Debug)]
pub struct PowerPort {
    /// The port.
    pub port: Arc<Port>,
    /// The ports that feed it, each with the cable between them; none inside a device.
    pub upstream: Vec<(Option<String>, usize)>,
}

impl PowerPort {
    /// The key of the feed that supplies it.
    pub fn feed(&self) -> Option<String> {
        let feed = self.port.spec.feed()?;
        Some(port::feed_of(&self.port.spec.device_ref.name, feed))
    }
}

/// The limits of a power feed, in watts; unset if its rating is unknown.
#[derive(Debug, Clone, Copy, Default)]
pub struct FeedLimit {
    /// The share that may be used.
    pub usable: Option<i64>,
    /// The full rating, above which the breaker trips.
    pub rated: Option<i64>,
}

/// All power ports that are connected, directly or not, to those of some devices.
#[derive(Debug, Default)]
pub struct Grid {
    pub(super) ports: Vec<PowerPort>,
    pub(super) limits: BTreeMap<String, FeedLimit>,
    /// The power supplies of each device, with what each carries while all are live, in milliwatts.
    pub(super) supplies: BTreeMap<String, Vec<(usize, i64)>>,
}

impl Grid {
    /// The grid around devices, given as `Kind/name`.
    pub fn around(starts: impl IntoIterator<Item = String>, look: &dyn QueryContext) -> Grid {
        let mut building = Building { look, grid: Grid::default(), numbers: HashMap::new() };
        let mut ahead: VecDeque<String> = starts.into_iter().collect();
        let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        while let Some(device) = ahead.pop_front() {
            if seen.contains_key(&device) {
                continue;
            }
            let ports = building.ports_of(&device);
            for number in &ports {
                ahead.extend(building.connect(*number));
            }
            seen.insert(device, ports);
        }
        for (device, ports) in seen {
            building.load(device, &ports);
        }
        building.grid
    }

    /// The devices with power supplies, as `Kind/name`.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.supplies.keys().map(String::as_str)
    }
}

struct Building<'a> {
    look: &'a dyn QueryContext,
    grid: Grid,
    numbers: HashMap<String, usize>,
}

impl Building<'_> {
    fn number(&mut self, port: &Arc<Port>) -> usize {
        if let Some(number) = self.numbers.get(&port.metadata.name) {
            return *number;
        }
        let number = self.grid.ports.len();
        self.numbers.insert(port.metadata.name.clone(), number);
        self.grid.ports.push(PowerPort { port: port.clone(), upstream: Vec::new() });
        number
    }

    fn ports_of(&mut self, device: &str) -> Vec<usize> {
        power_ports(device, self.look).iter().map(|port| self.number(port)).collect()
    }

    /// Finds what feeds a port and returns the devices that it is connected to.
    fn connect(&mut self, number: usize) -> Vec<String> {
        let port = self.grid.ports[number].port.clone();
        if let Some(feed) = self.grid.ports[number].feed() {
            self.limit(&feed, &port);
        }
        let mut upstream = Vec::new();
        let (is_source, inlet) = (port.spec.feed().is_some(), port.spec.inlet());
        if let Some(inlet) = inlet.filter(|_| !is_source).and_then(|inlet| self.look.find::<Port>(inlet)) {
            upstream.push((None, self.number(&inlet)));
        }
        let mut near = Vec::new();
        for cable in self.look.in_bucket::<Cable>(cable::IN_PORT, &port.metadata.name) {
            if cable.spec.media != Media::Power {
                continue;
            }
            for end in cable.spec.endpoints.iter().filter(|end| end.name != port.metadata.name) {
                let far = self.look.find::<Port>(&end.name).filter(|far| far.spec.kind == PortType::Power);
                let Some(far) = far else { continue };
                near.push(far.spec.device_key());
                let feeds = far.spec.inlet().is_some() || far.spec.feed().is_some();
                if feeds && !is_source && inlet.is_none() {
                    upstream.push((Some(cable.metadata.name.clone()), self.number(&far)));
                }
            }
        }
        self.grid.ports[number].upstream = upstream;
        near
    }

    fn limit(&mut self, feed: &str, port: &Port) {
        let rack = self.look.find::<Rack>(&port.spec.device_ref.name);
        let known = rack.as_ref().and_then(|rack| {
            rack.spec.power_feeds.iter().find(|known| Some(known.name.as_str()) == port.spec.feed())
        });
        let limit = known.map(|feed| FeedLimit { usable: feed.usable_watts(), rated: feed.rated_watts() });
        self.grid.limits.insert(feed.to_owned(), limit.unwrap_or_default());
    }

    /// Records what the power supplies of a device carry.
    fn load(&mut self, device: String, ports: &[usize]) {
        let supplies: Vec<usize> = ports.iter().copied().filter(|at| self.is_supply(*at)).collect();
        if supplies.is_empty() || !is_device(&device) {
            return;
        }
        let stated = |at: usize| self.grid.ports[at].port.spec.power.as_ref().and_then(|it| it.drawn_watts);
        let all_stated: i64 = supplies.iter().filter_map(|at| stated(*at)).sum();
        let others = i64::try_from(supplies.iter().filter(|at| stated(**at).is_none()).count()).unwrap_or(1);
        let rest = (drawn_by(&device, self.look) - all_stated).max(0);
        let carried = |at: usize| match stated(at) {
            Some(watts) => watts.saturating_mul(1000),
            None => rest.saturating_mul(1000) / others,
        };
        let loads: Vec<(usize, i64)> = supplies.iter().map(|at| (*at, carried(*at))).collect();
        self.grid.supplies.insert(device, loads);
    }

    fn is_supply(&self, at: usize) -> bool {
        is_supply(&self.grid.ports[at].port)
    }
}

/// Whether it is a power supply of its device: a power port that is neither an outlet nor on a feed.
pub fn is_supply(port: &Port) -> bool {
    port.spec.kind == PortType::Power && port.spec.inlet().is_none() && port.spec.feed().is_none()
}

/// The power ports of a device.
pub fn power_ports(device: &str, look: &dyn QueryContext) -> Vec<Arc<Port>> {
    let mut ports: Vec<Arc<Port>> = look.in_bucket(port::ON_DEVICE, device);
    ports.retain(|port| port.spec.kind == PortType::Power);
    ports
}

fn is_device(device: &str) -> bool {
    device.starts_with("Node/") || device.starts_with("NetworkDevice/")
}

/// The maximum draw of a device itself, in watts.
pub fn own_draw(device: &str, look: &dyn QueryContext) -> i64 {
    let own = match device.split_once('/') {
        Some(("Node", name)) => look.find::<Node>(name).and_then(|node| node.spec.mounting.drawn_watts),
        Some(("NetworkDevice", name)) => {
            look.find::<NetworkDevice>(name).and_then(|device| device.spec.mounting.drawn_watts)
        }
        _ => None,
    };
    own.unwrap_or(0)
}

/// The maximum draw of a device and of those in its slots that have no power ports of their own, in watts.
fn drawn_by(device: &str, look: &dyn QueryContext) -> i64 {
    let inside = in_slots_of(device, look).into_iter().filter(|inside| power_ports(inside, look).is_empty());
    own_draw(device, look) + inside.map(|inside| drawn_by(&inside, look)).sum::<i64>()
}

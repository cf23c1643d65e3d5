//! How much power flows where, without what has failed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::grid::Grid;
use crate::failure::Failure;

/// The power that flows in a grid.
#[derive(Debug)]
pub struct Flow {
    /// How many steps each port is from its feed; none if it is not live.
    steps: Vec<Option<usize>>,
    /// The load of each port, in milliwatts.
    loads: Vec<i64>,
    /// The load of each feed, in milliwatts.
    feeds: BTreeMap<String, i64>,
}

impl Flow {
    /// Nothing flows, and nothing is live.
    pub fn nothing(grid: &Grid) -> Flow {
        Flow { steps: vec![None; grid.ports.len()], loads: vec![0; grid.ports.len()], feeds: BTreeMap::new() }
    }

    /// Whether a port is live.
    pub fn is_live(&self, port: usize) -> bool {
        self.steps.get(port).is_some_and(Option::is_some)
    }

    /// The load of a port, in milliwatts.
    pub fn port(&self, port: usize) -> i64 {
        self.loads.get(port).copied().unwrap_or(0)
    }

    /// The load of a feed, in milliwatts.
    pub fn feed(&self, feed: &str) -> i64 {
        self.feeds.get(feed).copied().unwrap_or(0)
    }
}

impl Grid {
    /// The flow without what has failed.
    pub fn flow(&self, failure: &Failure) -> Flow {
        let mut flow =
            Flow { steps: self.steps(failure), loads: vec![0; self.ports.len()], feeds: BTreeMap::new() };
        for (device, supplies) in &self.supplies {
            if !failure.devices.contains(device) {
                draw(supplies, &mut flow);
            }
        }
        self.carry_up(failure, &mut flow);
        flow
    }

    /// The live ports, by how many steps they are from a feed.
    fn steps(&self, failure: &Failure) -> Vec<Option<usize>> {
        let mut downstream: Vec<Vec<usize>> = vec![Vec::new(); self.ports.len()];
        for (at, port) in self.ports.iter().enumerate() {
            for (cable, up) in &port.upstream {
                if cable.as_ref().is_none_or(|cable| !failure.cables.contains(cable)) {
                    downstream[*up].push(at);
                }
            }
        }
        let mut steps = vec![None; self.ports.len()];
        let is_source = |at: &usize| self.ports[*at].port.spec.feed().is_some();
        let mut ahead: VecDeque<(usize, usize)> =
            (0..self.ports.len()).filter(is_source).map(|at| (at, 0)).collect();
        while let Some((at, step)) = ahead.pop_front() {
            if steps[at].is_some() || failure.has_port(&self.ports[at].port) {
                continue;
            }
            steps[at] = Some(step);
            ahead.extend(downstream[at].iter().map(|below| (*below, step + 1)));
        }
        steps
    }

    /// Adds the load of each port to those that feed it, in equal parts if there are several.
    fn carry_up(&self, failure: &Failure, flow: &mut Flow) {
        let mut order: Vec<(usize, usize)> =
            flow.steps.iter().enumerate().filter_map(|(at, step)| Some(((*step)?, at))).collect();
        order.sort_unstable_by_key(|(step, at)| (std::cmp::Reverse(*step), *at));
        for (step, at) in order {
            let load = flow.loads[at];
            if let Some(feed) = self.ports[at].feed() {
                *flow.feeds.entry(feed).or_default() += load;
                continue;
            }
            let above: Vec<usize> = self.ports[at]
                .upstream
                .iter()
                .filter(|(cable, _)| cable.as_ref().is_none_or(|cable| !failure.cables.contains(cable)))
                .map(|(_, up)| *up)
                .filter(|up| flow.steps[*up].is_some_and(|above| above < step))
                .collect();
            let parts = i64::try_from(above.len().max(1)).unwrap_or(i64::MAX);
            for up in above {
                flow.loads[up] += load / parts;
            }
        }
    }

    /// The feeds that a device is connected to by live ports, as the rack ports that they supply.
    pub fn sources_of(&self, device: &str, flow: &Flow, failure: &Failure) -> BTreeSet<&str> {
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut ahead: Vec<usize> = self.live_supplies(device, flow).into_iter().collect();
        while let Some(at) = ahead.pop() {
            if !flow.is_live(at) || !seen.insert(at) {
                continue;
            }
            let port = &self.ports[at];
            if port.port.spec.feed().is_some() {
                found.insert(port.port.metadata.name.as_str());
            }
            let open = port
                .upstream
                .iter()
                .filter(|(cable, _)| cable.as_ref().is_none_or(|cable| !failure.cables.contains(cable)));
            ahead.extend(open.map(|(_, up)| *up));
        }
        found
    }

    /// The live power supplies of a device.
    pub fn live_supplies(&self, device: &str, flow: &Flow) -> BTreeSet<usize> {
        let supplies = self.supplies.get(device).into_iter().flatten();
        supplies.map(|(at, _)| *at).filter(|at| flow.is_live(*at)).collect()
    }
}

/// Puts the draw of a device on its live supplies, in proportion to what each carries while all are live.
fn draw(supplies: &[(usize, i64)], flow: &mut Flow) {
    let total: i64 = supplies.iter().map(|(_, load)| load).sum();
    let live: Vec<(usize, i64)> = supplies.iter().copied().filter(|(at, _)| flow.is_live(*at)).collect();
    let carried: i64 = live.iter().map(|(_, load)| load).sum();
    let count = i64::try_from(live.len().max(1)).unwrap_or(i64::MAX);
    for (at, load) in live {
        flow.loads[at] += match carried {
            0 => total / count,
            carried => part(total, load, carried),
        };
    }
}

/// `total × share ÷ of`, without overflow.
fn part(total: i64, share: i64, of: i64) -> i64 {
    i64::try_from(i128::from(total) * i128::from(share) / i128::from(of)).unwrap_or(i64::MAX)
}

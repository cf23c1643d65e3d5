//! Network: every path between two devices is walked, and then again without each thing in turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Outcome, Set, World, device_of, text};

/// A way from a device.
#[derive(Clone, Default)]
struct Way {
    from: String,
    /// The device at its end, if there is one.
    to: Option<String>,
    /// What it goes over: cables, panels, circuits, ports.
    over: Set,
    in_chassis: bool,
    by_circuit: bool,
    leads_out: bool,
}

/// A way out, or a device that stands in for one: what all must be there.
struct Source {
    at: String,
    needs: Set,
}

impl World {
    pub(super) fn network_without(&self, gone: &Set, outcome: &mut Outcome) {
        let ways = self.ways();
        let sources = self.sources(&ways);
        let nothing = Set::new();
        let (before, after) = (reached(&ways, &sources, &nothing), reached(&ways, &sources, gone));
        outcome.cut_off = before
            .iter()
            .filter(|device| !after.contains(*device) && !gone.contains(*device))
            .cloned()
            .collect();
        let things: BTreeSet<&String> = self
            .live
            .iter()
            .filter(|key| {
                ["Node/", "NetworkDevice/", "Cable/", "Circuit/"].iter().any(|kind| key.starts_with(kind))
            })
            .collect();
        let (mut hung, mut hangs): (BTreeMap<&String, Set>, BTreeMap<&String, Set>) = Default::default();
        for thing in things {
            for (gone, is_left, on) in [(&nothing, &before, &mut hung), (gone, &after, &mut hangs)] {
                if gone.contains(thing) {
                    continue;
                }
                let mut more = gone.clone();
                more.insert(thing.clone());
                let left = reached(&ways, &sources, &more);
                for device in is_left.iter().filter(|device| *device != thing && !left.contains(*device)) {
                    on.entry(device).or_default().insert(thing.clone());
                }
            }
        }
        for device in after.iter().filter(|device| before.contains(*device)) {
            let none = Set::new();
            let then = hangs.get(device).unwrap_or(&none);
            let fresh: Set = then.difference(hung.get(device).unwrap_or(&none)).cloned().collect();
            if !fresh.is_empty() {
                outcome.depends.insert(device.clone(), fresh);
            }
        }
    }

    fn is_passive(&self, device: &str) -> bool {
        let role = self.all.get(device).map_or("", |spec| text(spec, "/role"));
        !(device.starts_with("Node/") || device.starts_with("NetworkDevice/"))
            || matches!(role, "PatchPanel" | "PDU")
    }

    fn ways(&self) -> Vec<Way> {
        let mut ways = Vec::new();
        for (device, spec) in self.devices().filter(|(device, _)| !self.is_passive(device)) {
            for (port, on) in self.live_of("Port") {
                if device_of(on) == device && text(on, "/type") != "Power" {
                    let way = Way {
                        from: device.clone(),
                        over: Set::from([format!("Port/{port}")]),
                        ..Way::default()
                    };
                    self.follow(port, way, &mut ways);
                }
            }
            let holder = spec.pointer("/inSlot/deviceRef");
            let holder = holder.map(|holder| format!("{}/{}", text(holder, "/kind"), text(holder, "/name")));
            if let Some(holder) = holder.filter(|holder| self.live.contains(holder)) {
                for (from, to) in [(&device, &holder), (&holder, &device)] {
                    ways.push(Way {
                        from: from.clone(),
                        to: Some(to.clone()),
                        in_chassis: true,
                        ..Way::default()
                    });
                }
            }
        }
        ways
    }

    /// Follows the cables and circuits of a port.
    fn follow(&self, port: &str, way: Way, ways: &mut Vec<Way>) {
        for (cable, spec) in self.live_of("Cable") {
            let ends: Vec<&str> =
                spec["endpoints"].as_array().unwrap().iter().map(|end| text(end, "/name")).collect();
            let key = format!("Cable/{cable}");
            if !ends.contains(&port) || way.over.contains(&key) {
                continue;
            }
            for far in ends.into_iter().filter(|end| *end != port) {
                let mut way = way.clone();
                way.over.insert(key.clone());
                self.arrive(far, way, ways);
            }
        }
        for (circuit, spec) in self.live_of("Circuit") {
            let is_at = |end: &str| text(&spec[end], "/kind") == "Port" && text(&spec[end], "/name") == port;
            let far = if is_at("aEnd") { &spec["zEnd"] } else { &spec["aEnd"] };
            let key = format!("Circuit/{circuit}");
            if !(is_at("aEnd") || is_at("zEnd")) || way.over.contains(&key) {
                continue;
            }
            let mut way = way.clone();
            way.over.insert(key);
            way.by_circuit = true;
            let ends_at_site = [&spec["aEnd"], &spec["zEnd"]].iter().any(|end| text(end, "/kind") == "Site");
            way.leads_out |= text(spec, "/type") == "Transit" || ends_at_site;
            match text(far, "/kind") {
                "Site" => ways.push(way),
                _ => self.arrive(text(far, "/name"), way, ways),
            }
        }
    }

    fn arrive(&self, port: &str, mut way: Way, ways: &mut Vec<Way>) {
        let key = format!("Port/{port}");
        let Some(spec) = self.all.get(&key).filter(|_| self.live.contains(&key)) else { return };
        way.over.insert(key);
        let device = device_of(spec);
        let is = |other: &Value, path: &str, name: &str| text(other, path) == name;
        let beyond: Vec<&str> = match text(spec, "/passThrough/portRef/name") {
            "" => {
                let fronts =
                    self.live_of("Port").filter(|(_, other)| is(other, "/passThrough/portRef/name", port));
                fronts.map(|(name, _)| name).collect()
            }
            rear => {
                Some(rear).filter(|rear| self.live.contains(&format!("Port/{rear}"))).into_iter().collect()
            }
        };
        if beyond.is_empty() {
            // A way that leads out ends here, and so does one to a device.
            if way.by_circuit && (way.leads_out || self.is_passive(&device)) {
                way.leads_out = true;
                way.over.insert(device);
            } else if self.is_passive(&device) {
                return;
            } else {
                way.to = Some(device);
            }
            return ways.push(way);
        }
        way.over.insert(device);
        for next in beyond {
            let mut way = way.clone();
            way.over.insert(format!("Port/{next}"));
            let before = ways.len();
            self.follow(next, way.clone(), ways);
            // A panel with nothing behind it is where the way ends.
            if ways.len() == before && way.by_circuit {
                ways.push(Way { leads_out: true, ..way });
            }
        }
    }

    fn sources(&self, ways: &[Way]) -> Vec<Source> {
        let is_host = |device: &str| device.starts_with("Node/");
        let devices: Vec<String> =
            self.devices().map(|(device, _)| device).filter(|device| !self.is_passive(device)).collect();
        let mut sources = Vec::new();
        let mut seen = Set::new();
        for start in &devices {
            let (mut network, mut ahead) = (Set::new(), vec![start.clone()]);
            while let Some(device) = ahead.pop() {
                if !seen.insert(device.clone()) {
                    continue;
                }
                network.insert(device.clone());
                for way in ways.iter().filter(|way| way.from == device) {
                    if let Some(to) = &way.to
                        && !self.is_passive(to)
                        && (way.in_chassis || !(is_host(&device) || is_host(to)))
                    {
                        ahead.push(to.clone());
                    }
                }
            }
            let of_network: Vec<&Way> = ways.iter().filter(|way| network.contains(&way.from)).collect();
            let by = |way: &&&Way| {
                let mut needs = way.over.clone();
                needs.extend(way.to.clone());
                Source { at: way.from.clone(), needs }
            };
            let out: Vec<Source> =
                of_network.iter().filter(|way| way.to.is_none()).map(|way| by(&way)).collect();
            let between = |way: &&&Way| {
                let to = way.to.as_deref().unwrap_or_default();
                way.by_circuit && !to.is_empty() && !is_host(&way.from) && !is_host(to)
            };
            let circuits: Vec<Source> =
                of_network.iter().filter(|way| between(way)).map(|way| by(&way)).collect();
            if !out.is_empty() {
                sources.extend(out);
            } else if !circuits.is_empty() {
                sources.extend(circuits);
            } else {
                let role = |device: &String| text(&self.all[device], "/role").to_owned();
                let best = ["BorderRouter", "Firewall", "Spine", "Leaf"]
                    .into_iter()
                    .find(|best| network.iter().any(|device| role(device) == *best));
                let nearest = network.iter().filter(|device| Some(role(device).as_str()) == best);
                sources.extend(nearest.map(|device| Source { at: device.clone(), needs: Set::new() }));
            }
        }
        sources
    }
}

/// The devices that have network when all of `gone` is gone.
fn reached(ways: &[Way], sources: &[Source], gone: &Set) -> Set {
    let mut ahead: Vec<(&str, bool)> = sources
        .iter()
        .filter(|source| !gone.contains(&source.at) && source.needs.is_disjoint(gone))
        .map(|source| (source.at.as_str(), false))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some((device, by_chassis)) = ahead.pop() {
        if !seen.insert((device, by_chassis)) {
            continue;
        }
        let stays = device.starts_with("Node/") && !by_chassis;
        for way in ways.iter().filter(|way| way.from == device && way.over.is_disjoint(gone)) {
            if let Some(to) = way.to.as_deref().filter(|to| !gone.contains(*to))
                && (way.in_chassis || !stays)
            {
                ahead.push((to, way.in_chassis && to.starts_with("Node/")));
            }
        }
    }
    seen.into_iter().map(|(device, _)| device.to_owned()).collect()
}

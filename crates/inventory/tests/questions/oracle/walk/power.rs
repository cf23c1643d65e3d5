//! Power: supplies are followed up to the feeds, one path at a time, and their watts added to everything on the way.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Outcome, Set, World, device_of, text};

type Loads = BTreeMap<String, f64>;

impl World {
    pub(super) fn power_without(&self, gone: &mut Set, outcome: &mut Outcome) {
        let nothing = Set::new();
        let (calm, before) = (self.loads(&nothing), self.powered(&nothing));
        loop {
            let after = self.powered(gone);
            let mut dark: Vec<String> =
                before.keys().filter(|device| !after.contains_key(*device)).cloned().collect();
            dark.retain(|device| !gone.contains(device));
            if !dark.is_empty() {
                dark.iter().for_each(|device| self.go_dark(device, gone, outcome));
                continue;
            }
            let mut has_tripped = false;
            for (element, load) in self.loads(gone) {
                let Some((usable, rated)) = self.limits(&element) else { continue };
                let was = calm.get(&element).copied().unwrap_or(0.0);
                if load > was + 0.5 && load > usable {
                    has_tripped |= load > rated && gone.insert(element.clone());
                    outcome.overloaded.insert(element, (load, load > rated));
                }
            }
            if !has_tripped {
                break;
            }
        }
        let after = self.powered(gone);
        for (device, (supplies, sources)) in before {
            let left = after.get(&device).filter(|_| !gone.contains(&device));
            if left.is_some_and(|left| left.0 < supplies || left.1.len() < sources.len()) {
                outcome.less_power.insert(device);
            }
        }
        for list in [&mut outcome.dark, &mut outcome.less_power] {
            list.retain(|device| text(&self.all[device], "/role") != "PDU");
        }
    }

    fn go_dark(&self, device: &str, gone: &mut Set, outcome: &mut Outcome) {
        if !gone.insert(device.to_owned()) {
            return;
        }
        outcome.dark.insert(device.to_owned());
        for inside in self.in_slots(device) {
            if self.power_ports(&inside).is_empty() {
                self.go_dark(&inside, gone, outcome);
            }
        }
    }

    fn in_slots(&self, device: &str) -> Vec<String> {
        let (kind, name) = device.split_once('/').unwrap();
        let inside = self.devices().filter(|(_, spec)| {
            text(spec, "/inSlot/deviceRef/kind") == kind && text(spec, "/inSlot/deviceRef/name") == name
        });
        inside.map(|(key, _)| key).collect()
    }

    fn power_ports(&self, device: &str) -> Vec<(&str, &Value)> {
        self.live_of("Port")
            .filter(|(_, port)| text(port, "/type") == "Power" && device_of(port) == device)
            .collect()
    }

    fn supplies(&self, device: &str) -> Vec<(&str, &Value)> {
        let mut ports = self.power_ports(device);
        ports.retain(|(_, port)| {
            port.pointer("/power/inletRef").is_none() && port.pointer("/power/feed").is_none()
        });
        ports
    }

    /// The usable and the full rating of a feed or port.
    fn limits(&self, element: &str) -> Option<(f64, f64)> {
        if let Some(port) = element.strip_prefix("Port/") {
            let rated = self.all[&format!("Port/{port}")].pointer("/power/ratedWatts")?.as_f64()?;
            return Some((rated, rated));
        }
        let (rack, feed) = element.split_once(':').unwrap();
        let feeds = self.all[rack]["powerFeeds"].as_array().unwrap();
        let feed = feeds.iter().find(|known| known["name"] == feed)?;
        let rated = feed.get("voltage")?.as_f64()? * feed.get("ampsRated")?.as_f64()?;
        Some(((rated * feed["maxUtilizationPercent"].as_f64()? / 100.0).round(), rated))
    }

    /// The ports that feed a port directly.
    fn above(&self, name: &str, gone: &Set) -> Vec<String> {
        let port = &self.all[&format!("Port/{name}")];
        let inlet = text(port, "/power/inletRef/name");
        if !inlet.is_empty() {
            return vec![inlet.to_owned()];
        }
        let mut above = Vec::new();
        for (cable, spec) in self.live_of("Cable") {
            let ends: Vec<&str> =
                spec["endpoints"].as_array().unwrap().iter().map(|end| text(end, "/name")).collect();
            if gone.contains(&format!("Cable/{cable}"))
                || !ends.contains(&name)
                || text(spec, "/media") != "Power"
            {
                continue;
            }
            for far in ends.into_iter().filter(|end| *end != name) {
                let spec = &self.all[&format!("Port/{far}")];
                if spec.pointer("/power/inletRef").is_some() || spec.pointer("/power/feed").is_some() {
                    above.push(far.to_owned());
                }
            }
        }
        above
    }

    /// How far a port is from the next feed, and the rack ports that feed it; none without power.
    fn reach(&self, name: &str, gone: &Set, seen: &[&str]) -> Option<(usize, Set)> {
        let key = format!("Port/{name}");
        let port = self.all.get(&key).filter(|_| self.live.contains(&key))?;
        let feed = text(port, "/power/feed");
        let is_gone = gone.contains(&key)
            || gone.contains(&device_of(port))
            || gone.contains(&format!("{}:{feed}", device_of(port)));
        if is_gone || seen.contains(&name) {
            return None;
        }
        if !feed.is_empty() {
            return Some((0, Set::from([name.to_owned()])));
        }
        let (mut steps, mut sources) = (None, Set::new());
        let seen: Vec<&str> = seen.iter().copied().chain([name]).collect();
        for up in self.above(name, gone) {
            if let Some((far, found)) = self.reach(&up, gone, &seen) {
                steps = Some(steps.map_or(far + 1, |near: usize| near.min(far + 1)));
                sources.extend(found);
            }
        }
        steps.map(|steps| (steps, sources))
    }

    /// The devices with power: how many supplies are live, and from where.
    fn powered(&self, gone: &Set) -> BTreeMap<String, (usize, Set)> {
        let mut powered = BTreeMap::new();
        for (device, _) in self.devices() {
            let live: Vec<Set> = self
                .supplies(&device)
                .iter()
                .filter_map(|(name, _)| Some(self.reach(name, gone, &[])?.1))
                .collect();
            if !live.is_empty() {
                powered.insert(device, (live.len(), live.into_iter().flatten().collect()));
            }
        }
        powered
    }

    fn drawn(&self, device: &str) -> f64 {
        let own = self.all[device].get("drawnWatts").and_then(Value::as_f64).unwrap_or(0.0);
        let inside = self.in_slots(device).into_iter().filter(|inside| self.power_ports(inside).is_empty());
        own + inside.map(|inside| self.drawn(&inside)).sum::<f64>()
    }

    fn loads(&self, gone: &Set) -> Loads {
        let mut loads = Loads::new();
        for (device, _) in self.devices().filter(|(device, _)| !gone.contains(device)) {
            let supplies = self.supplies(&device);
            let stated = |port: &Value| port.pointer("/power/drawnWatts").and_then(Value::as_f64);
            let said: f64 = supplies.iter().filter_map(|(_, port)| stated(port)).sum();
            let others = supplies.iter().filter(|(_, port)| stated(port).is_none()).count();
            let rest = (self.drawn(&device) - said).max(0.0);
            let share = |port: &Value| stated(port).unwrap_or(rest / others as f64);
            let total: f64 = supplies.iter().map(|(_, port)| share(port)).sum();
            let live: Vec<(&str, f64)> = supplies
                .iter()
                .filter(|(name, _)| self.reach(name, gone, &[]).is_some())
                .map(|(name, port)| (*name, share(port)))
                .collect();
            let carried: f64 = live.iter().map(|(_, watts)| watts).sum();
            for (name, watts) in &live {
                let part = if carried > 0.0 { watts / carried } else { 1.0 / live.len() as f64 };
                self.push(name, total * part, gone, &mut loads);
            }
        }
        loads
    }

    /// Adds watts to a port and everything above it.
    fn push(&self, name: &str, watts: f64, gone: &Set, loads: &mut Loads) {
        *loads.entry(format!("Port/{name}")).or_default() += watts;
        let port = &self.all[&format!("Port/{name}")];
        let feed = text(port, "/power/feed");
        if !feed.is_empty() {
            *loads.entry(format!("{}:{feed}", device_of(port))).or_default() += watts;
            return;
        }
        let steps = self.reach(name, gone, &[]).unwrap().0;
        let above = self.above(name, gone).into_iter();
        let nearest: Vec<String> =
            above.filter(|up| self.reach(up, gone, &[]).is_some_and(|(far, _)| far + 1 == steps)).collect();
        for up in &nearest {
            self.push(up, watts / nearest.len() as f64, gone, loads);
        }
    }
}

//! Random fleets of a few racks, and what is asked about them.

use krm::Object;
use serde_json::{Value, json};

/// A fleet, what is assumed about it, and what fails.
pub struct Question {
    pub objects: Vec<Object>,
    pub as_if: Vec<String>,
    pub targets: Vec<String>,
}

const STATES: [&str; 8] =
    ["Planned", "Ordered", "Staged", "Active", "Offline", "Failed", "Decommissioning", "Retired"];

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % most.max(1)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn any<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A lifecycle stage; mostly none.
    fn stage(&mut self) -> Value {
        if self.one_in(8) { json!(*self.any(&STATES)) } else { Value::Null }
    }
}

struct Building {
    dice: Dice,
    objects: Vec<Object>,
    ports: usize,
    cables: usize,
}

impl Question {
    /// The question of a seed.
    pub fn random(seed: u64) -> Question {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut building = Building { dice, objects: Vec::new(), ports: 0, cables: 0 };
        // The first numbers of close seeds are close.
        for _ in 0..8 {
            building.dice.below(2);
        }
        building.build();
        let Building { mut dice, objects, .. } = building;
        let keys: Vec<String> = objects
            .iter()
            .filter(|object| !matches!(object.kind(), "VirtualMachine" | "Region"))
            .map(|object| format!("{}/{}", object.kind(), object.name()))
            .chain(["Rack/r0:A".to_owned(), "Rack/r1:A".to_owned()])
            .collect();
        // Things that many hang on are asked about more often than ports and cables.
        let large: Vec<String> = keys
            .iter()
            .filter(|key| !key.starts_with("Port/") && !key.starts_with("Cable/"))
            .cloned()
            .collect();
        let mut some = |most: usize| -> Vec<String> {
            let count = dice.below(most);
            (0..=count)
                .map(|_| if dice.one_in(3) { dice.any(&keys) } else { dice.any(&large) }.clone())
                .collect()
        };
        let (mut targets, assumed) = (some(3), some(3));
        targets.sort();
        targets.dedup();
        let as_if = assumed.iter().skip(dice.below(2)).map(|key| format!("{key}={}", dice.any(&STATES)));
        let as_if = as_if.collect();
        Question { objects, as_if, targets }
    }
}

impl Building {
    fn add(&mut self, kind: &str, name: &str, spec: Value) {
        let mut object = Object::new("inventory.miloapis.com/v1alpha1", kind);
        object.set_meta("name", Some(name.into()));
        let spec: serde_json::Map<String, Value> = spec
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        object.set("spec", Some(spec.into()));
        self.objects.push(object);
    }

    fn port(&mut self, device: &str, kind: &str, more: Value) -> String {
        let (of, on) = device.split_once('/').unwrap();
        let name = format!("p{}", self.ports);
        self.ports += 1;
        let mut spec = json!({"deviceRef": {"kind": of, "name": on}, "type": kind, "name": name});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        self.add("Port", &name, spec);
        name
    }

    fn cable(&mut self, media: &str, ends: &[&str]) {
        let name = format!("k{}", self.cables);
        self.cables += 1;
        let state = match self.dice.below(12) {
            0 => json!("Planned"),
            1 => json!("Decommissioning"),
            2 => json!("Connected"),
            _ => Value::Null,
        };
        let ends: Vec<Value> = ends.iter().map(|end| json!({"name": end})).collect();
        self.add("Cable", &name, json!({"media": media, "endpoints": ends, "state": state}));
    }

    fn build(&mut self) {
        self.add("Region", "reg", json!({"displayName": "R"}));
        for provider in ["pr0", "pr1"] {
            self.add("Provider", provider, json!({"displayName": provider, "type": "Transit"}));
        }
        for site in ["s0", "s1"] {
            let provider = if self.dice.one_in(4) { json!({"name": "pr1"}) } else { Value::Null };
            let spec = json!({"displayName": site, "regionRef": {"name": "reg"}, "type": "Edge", "providerRef": provider});
            self.add("Site", site, spec);
        }
        let feeds: Vec<String> = (0..2).flat_map(|at| self.rack(at)).collect();
        let inlets = self.pdus(&feeds);
        let mut devices = Vec::new();
        for at in 0..2 + self.dice.below(3) {
            let role = *self.dice.any(&["BorderRouter", "Spine", "Leaf", "Leaf"]);
            let spec = json!({"role": role, "clusterRef": {"name": "c"}});
            devices.push(self.device("NetworkDevice", &format!("sw{at}"), spec, &devices.clone()));
        }
        for at in 0..2 + self.dice.below(3) {
            let hardware = json!({"cpuCores": 1, "cpuArchitecture": "amd64", "memoryBytes": 1});
            let host =
                self.device("Node", &format!("h{at}"), json!({"hardware": hardware}), &devices.clone());
            if self.dice.one_in(2) {
                let provider = if self.dice.one_in(3) { json!({"name": "pr0"}) } else { Value::Null };
                let spec = json!({"hostRef": {"name": format!("h{at}")}, "providerRef": provider, "allocation": {"vcpus": 1, "memoryBytes": 1}});
                self.add("VirtualMachine", &format!("vm{at}"), spec);
            }
            devices.push(host);
        }
        for device in &devices {
            self.supply(device, &inlets, &feeds);
        }
        self.network(&devices);
    }

    /// A rack with its feeds; returns the ports that they supply.
    fn rack(&mut self, at: usize) -> Vec<String> {
        let mut feeds = Vec::new();
        for name in ["A", "B"] {
            let amps = *self.dice.any(&[1, 2, 4, 8, 32]);
            let percent = *self.dice.any(&[80, 100, 100]);
            feeds.push(match self.dice.one_in(8) {
                true => json!({"name": name}),
                false => {
                    json!({"name": name, "voltage": 100, "ampsRated": amps, "maxUtilizationPercent": percent})
                }
            });
        }
        let (name, stage) = (format!("r{at}"), self.dice.stage());
        let spec = json!({"siteRef": {"name": format!("s{at}")}, "heightU": 42, "powerFeeds": feeds, "lifecycle": stage});
        self.add("Rack", &name, spec);
        let mut ports = Vec::new();
        for feed in ["A", "B"] {
            for _ in 0..1 + usize::from(self.dice.one_in(4)) {
                let rated = self.rated();
                let power = json!({"power": {"feed": feed, "ratedWatts": rated}});
                ports.push(self.port(&format!("Rack/{name}"), "Power", cleaned(power)));
            }
        }
        ports
    }

    fn rated(&mut self) -> Value {
        if self.dice.one_in(3) { json!(100 * (1 + self.dice.below(9))) } else { Value::Null }
    }

    /// PDUs on feeds and on each other; returns their inlets with their devices.
    fn pdus(&mut self, feeds: &[String]) -> Vec<(String, String)> {
        let mut free: Vec<String> = feeds.to_vec();
        let mut inlets: Vec<(String, String)> = Vec::new();
        for at in 0..2 + self.dice.below(3) {
            let rack = self.dice.below(2);
            let watts = if self.dice.one_in(4) { json!(20) } else { Value::Null };
            let spec = json!({
                "siteRef": {"name": format!("s{rack}")}, "role": "PDU", "lifecycle": self.dice.stage(),
                "placement": {"rackRef": {"name": format!("r{rack}")}}, "drawnWatts": watts,
            });
            let name = format!("pdu{at}");
            self.add("NetworkDevice", &name, spec);
            let device = format!("NetworkDevice/{name}");
            let rated = self.rated();
            let inlet = self.port(&device, "Power", cleaned(json!({"power": {"ratedWatts": rated}})));
            if !inlets.is_empty() && self.dice.one_in(4) {
                let outlet = self.outlet(&inlets.clone());
                self.cable("Power", &[&outlet, &inlet]);
            } else if !free.is_empty() {
                let feed = free.remove(self.dice.below(free.len()));
                self.cable("Power", &[&feed, &inlet]);
            }
            inlets.push((inlet, device));
        }
        inlets
    }

    fn outlet(&mut self, inlets: &[(String, String)]) -> String {
        let (inlet, device) = self.dice.any(inlets).clone();
        let rated = self.rated();
        self.port(
            &device,
            "Power",
            cleaned(json!({"power": {"inletRef": {"name": inlet}, "ratedWatts": rated}})),
        )
    }

    /// A device in a rack, in a slot of another device, or only at a site.
    fn device(&mut self, kind: &str, name: &str, more: Value, others: &[String]) -> String {
        let at = self.dice.below(2);
        let mut spec = more;
        spec["siteRef"] = json!({"name": format!("s{at}")});
        spec["lifecycle"] = self.dice.stage();
        if !self.dice.one_in(4) {
            spec["drawnWatts"] = json!(50 * self.dice.below(12));
        }
        match self.dice.below(6) {
            0 if !others.is_empty() => {
                let (of, holder) = self.dice.any(others).split_once('/').unwrap();
                spec["inSlot"] = json!({"deviceRef": {"kind": of, "name": holder}, "slot": name});
            }
            0 | 1 => {}
            _ => {
                spec["placement"] =
                    json!({"rackRef": {"name": format!("r{at}")}, "startUnit": 1, "unitHeight": 1})
            }
        }
        self.add(kind, name, spec);
        format!("{kind}/{name}")
    }

    fn supply(&mut self, device: &str, inlets: &[(String, String)], feeds: &[String]) {
        let mut taken = Vec::new();
        let count = *self.dice.any(&[0, 1, 2, 2, 2, 3]);
        let mut supplies = Vec::new();
        for _ in 0..count {
            let rated = self.rated();
            let drawn = if self.dice.one_in(5) { json!(30 * self.dice.below(8)) } else { Value::Null };
            let power = json!({"power": {"ratedWatts": rated, "drawnWatts": drawn}});
            supplies.push(self.port(device, "Power", cleaned(power)));
        }
        match self.dice.below(8) {
            // One cable to two supplies, or from two outlets.
            0 if supplies.len() > 1 => {
                let outlet = self.outlet(inlets);
                let both: Vec<String> = supplies.drain(..2).collect();
                self.cable("Power", &[&outlet, &both[0], &both[1]]);
            }
            1 if !supplies.is_empty() => {
                let (one, other) = (self.outlet(inlets), self.outlet(inlets));
                let supply = supplies.remove(0);
                self.cable("Power", &[&supply, &one, &other]);
            }
            _ => {}
        }
        for supply in supplies {
            let is_direct = self.dice.one_in(10);
            let feed = self.dice.any(feeds).clone();
            let is_free = !taken.contains(&feed) && !self.is_cabled(&feed);
            match self.dice.below(8) {
                0 => {}
                _ if is_direct && is_free => {
                    self.cable("Power", &[&feed, &supply]);
                    taken.push(feed);
                }
                _ => {
                    let outlet = self.outlet(inlets);
                    self.cable("Power", &[&outlet, &supply]);
                }
            }
        }
    }

    fn is_cabled(&self, port: &str) -> bool {
        let cables = self.objects.iter().filter(|object| object.kind() == "Cable");
        let mut ends = cables.flat_map(|cable| cable.at("spec.endpoints").unwrap().as_array().unwrap());
        ends.any(|end| end["name"] == port)
    }

    fn network(&mut self, devices: &[String]) {
        for panel in 0..2 {
            let spec =
                json!({"siteRef": {"name": "s0"}, "role": "PatchPanel", "lifecycle": self.dice.stage()});
            self.add("NetworkDevice", &format!("panel{panel}"), spec);
        }
        for _ in 0..3 + self.dice.below(7) {
            let (a, z) = (self.dice.any(devices).clone(), self.dice.any(devices).clone());
            let (a, z) = (self.port(&a, "Optical", json!({})), self.port(&z, "Optical", json!({})));
            match self.dice.one_in(4) {
                false => self.cable("DAC", &[&a, &z]),
                true => {
                    let (front, rear) = self.panel();
                    self.cable("DAC", &[&a, &front]);
                    self.cable("DAC", &[&rear, &z]);
                }
            }
        }
        for at in 0..self.dice.below(4) {
            let near = self.dice.any(devices).clone();
            let mut near = self.port(&near, "Optical", json!({}));
            if self.dice.one_in(4) {
                let (front, rear) = self.panel();
                self.cable("FiberSMF", &[&near, &front]);
                near = rear;
            }
            let far = match self.dice.one_in(2) {
                true => json!({"kind": "Site", "name": *self.dice.any(&["s0", "s1"])}),
                false => {
                    let device = self.dice.any(devices).clone();
                    json!({"kind": "Port", "name": self.port(&device, "Optical", json!({}))})
                }
            };
            let kind = if self.dice.one_in(3) { "Transit" } else { "ProviderCircuit" };
            let provider = *self.dice.any(&["pr0", "pr1"]);
            let near = json!({"kind": "Port", "name": near});
            let spec = json!({"providerRef": {"name": provider}, "type": kind, "aEnd": near, "zEnd": far});
            self.add("Circuit", &format!("c{at}"), spec);
        }
    }

    fn panel(&mut self) -> (String, String) {
        let panel = format!("NetworkDevice/panel{}", self.dice.below(2));
        let rear = self.port(&panel, "PatchPanel", json!({}));
        let through = json!({"passThrough": {"portRef": {"name": rear}, "position": 1}});
        (self.port(&panel, "PatchPanel", through), rear)
    }
}

/// Without what is not set.
fn cleaned(mut spec: Value) -> Value {
    if let Some(power) = spec["power"].as_object_mut() {
        power.retain(|_, value| !value.is_null());
    }
    spec
}

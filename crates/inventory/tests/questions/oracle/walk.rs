//! The naive walk: everything is looked up in a list of objects, paths are walked one by one, watts are summed.

use std::collections::{BTreeMap, BTreeSet};

use krm::Object;
use serde_json::Value;

mod network;
mod power;

type Set = BTreeSet<String>;

/// A fleet as it is, or as it is assumed to be.
pub struct World {
    all: BTreeMap<String, Value>,
    assumed: BTreeMap<String, String>,
    /// What is in service.
    live: Set,
}

/// The outcome of a failure.
#[derive(Default)]
pub struct Outcome {
    pub dark: Set,
    pub less_power: Set,
    pub overloaded: BTreeMap<String, (f64, bool)>,
    pub cut_off: Set,
    pub depends: BTreeMap<String, Set>,
    pub machines: Set,
    pub circuits: Set,
    /// What is not in service.
    pub out: Set,
}

fn text<'a>(spec: &'a Value, path: &str) -> &'a str {
    spec.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn works(state: &str) -> bool {
    matches!(state, "Active" | "Decommissioning")
}

impl World {
    pub fn of(objects: &[Object], as_if: &[String]) -> World {
        let spec = |object: &Object| object.get("spec").cloned().unwrap_or_default();
        let all = objects.iter().map(|object| (format!("{}/{}", object.kind(), object.name()), spec(object)));
        let assumed = as_if.iter().map(|text| text.split_once('=').unwrap());
        let assumed = assumed.map(|(key, state)| (key.to_owned(), state.to_owned())).collect();
        let mut world = World { all: all.collect(), assumed, live: Set::new() };
        world.live = world.all.keys().filter(|key| world.is_in_service(key)).cloned().collect();
        world
    }

    fn is_in_service(&self, key: &str) -> bool {
        let state = self.state(key, 0);
        if key.starts_with("Cable/") { state == "Active" } else { works(&state) }
    }

    fn state(&self, key: &str, depth: usize) -> String {
        let assumed = self.assumed.get(key);
        if let Some(state) = assumed.filter(|_| !key.starts_with("Port/")) {
            return state.clone();
        }
        let Some(spec) = self.all.get(key).filter(|_| depth < 9) else { return "Active".to_owned() };
        let (kind, _) = key.split_once('/').unwrap();
        let mut around = Vec::new();
        let mut own = spec.get("lifecycle").and_then(Value::as_str);
        let site = format!("Site/{}", text(spec, "/siteRef/name"));
        match kind {
            "Cable" => own = spec.get("state").and_then(Value::as_str).filter(|state| *state != "Connected"),
            "Site" => {
                around.push(format!("Region/{}", text(spec, "/regionRef/name")));
                around.push(format!("Provider/{}", text(spec, "/providerRef/name")));
            }
            "Rack" => around.push(site),
            "Node" | "NetworkDevice" => {
                if let Some(slot) = spec.pointer("/inSlot/deviceRef") {
                    around.push(format!("{}/{}", text(slot, "/kind"), text(slot, "/name")));
                } else if spec.get("placement").is_some() {
                    around.push(format!("Rack/{}", text(spec, "/placement/rackRef/name")));
                }
                around.push(site);
            }
            "Port" => {
                own = None;
                around.push(device_of(spec));
                if !text(spec, "/power/feed").is_empty() {
                    around.push(format!("{}:{}", device_of(spec), text(spec, "/power/feed")));
                }
            }
            "Circuit" => {
                for end in ["/aEnd", "/zEnd"] {
                    if text(spec, &format!("{end}/kind")) == "Site" {
                        around.push(format!("Site/{}", text(spec, &format!("{end}/name"))));
                    }
                }
                around.push(format!("Provider/{}", text(spec, "/providerRef/name")));
            }
            _ => {}
        }
        if own.is_none_or(works) {
            for outer in around.iter().map(|outer| self.state(outer, depth + 1)) {
                if !works(&outer) && (own.is_none() || matches!(outer.as_str(), "Failed" | "Offline")) {
                    return outer;
                }
            }
        }
        own.or(assumed.map(String::as_str)).unwrap_or("Active").to_owned()
    }

    /// What is in service of a kind, with its spec.
    fn live_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let keys =
            self.live.iter().filter_map(move |key| Some((key, key.strip_prefix(kind)?.strip_prefix('/')?)));
        keys.map(|(key, name)| (name, &self.all[key]))
    }

    fn devices(&self) -> impl Iterator<Item = (String, &Value)> {
        let of =
            |kind: &'static str| self.live_of(kind).map(move |(name, spec)| (format!("{kind}/{name}"), spec));
        of("Node").chain(of("NetworkDevice"))
    }

    /// Everything that fails together with an object.
    fn goes_with(&self, target: &str, gone: &mut Set) {
        if !gone.insert(target.to_owned()) {
            return;
        }
        let (kind, name) = target.split_once('/').unwrap();
        let is = |spec: &Value, path: &str| text(spec, path) == name;
        let mut more = Vec::new();
        for (key, spec) in self.live.iter().map(|key| (key, &self.all[key])) {
            let of = key.split_once('/').unwrap().0;
            let goes = match kind {
                "Node" | "NetworkDevice" => {
                    is(spec, "/inSlot/deviceRef/name") && text(spec, "/inSlot/deviceRef/kind") == kind
                }
                "Rack" => is(spec, "/placement/rackRef/name"),
                "Site" => {
                    let ends = ["/aEnd", "/zEnd"].iter().any(|end| {
                        is(spec, &format!("{end}/name")) && text(spec, &format!("{end}/kind")) == "Site"
                    });
                    (matches!(of, "Rack" | "Node" | "NetworkDevice") && is(spec, "/siteRef/name")) || ends
                }
                "Provider" => matches!(of, "Site" | "Circuit") && is(spec, "/providerRef/name"),
                "Region" => of == "Site" && is(spec, "/regionRef/name"),
                _ => false,
            };
            if goes {
                more.push(key.clone());
            }
        }
        more.iter().for_each(|key| self.goes_with(key, gone));
    }

    /// The outcome of the failure of all these.
    pub fn without(&self, targets: &[String]) -> Outcome {
        let mut gone = Set::new();
        targets.iter().for_each(|target| self.goes_with(target, &mut gone));
        let named = gone.clone();
        let mut outcome = Outcome::default();
        self.power_without(&mut gone, &mut outcome);
        self.network_without(&gone, &mut outcome);
        for (name, spec) in self.live_of("VirtualMachine") {
            let host = format!("Node/{}", text(spec, "/hostRef/name"));
            let provider = format!("Provider/{}", text(spec, "/providerRef/name"));
            if gone.contains(&host) || outcome.cut_off.contains(&host) || targets.contains(&provider) {
                outcome.machines.insert(name.to_owned());
            }
        }
        for (name, spec) in self.live_of("Circuit") {
            let at_gone = |end: &str| {
                let port = format!("Port/{}", text(spec, &format!("{end}/name")));
                let is_live = self.live.contains(&port);
                let on_gone =
                    self.all.get(&port).is_some_and(|port| gone.contains(&device_of(port)) && is_live);
                text(spec, &format!("{end}/kind")) == "Port" && (gone.contains(&port) || on_gone)
            };
            if !named.contains(&format!("Circuit/{name}")) && (at_gone("/aEnd") || at_gone("/zEnd")) {
                outcome.circuits.insert(name.to_owned());
            }
        }
        outcome.out = self.all.keys().filter(|key| !self.live.contains(*key)).cloned().collect();
        let feeds = self.assumed.keys().filter(|key| key.contains(':'));
        outcome.out.extend(feeds.cloned());
        outcome
    }
}

/// The device of a port.
fn device_of(port: &Value) -> String {
    format!("{}/{}", text(port, "/deviceRef/kind"), text(port, "/deviceRef/name"))
}

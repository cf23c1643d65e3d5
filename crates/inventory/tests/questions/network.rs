//! What loses its network, held against the plainest model there is: take things away, and walk.

use std::collections::{BTreeMap, BTreeSet};

use krm::Object;
use proptest::prelude::*;
use serde_json::{Value, json};

use inventory::memory::Memory;

const ROLES: [&str; 3] = ["BorderRouter", "Spine", "Leaf"];

/// A small network: switches with roles, hosts, panels of one way each, cables between them, circuits out.
#[derive(Debug, Clone)]
struct Plan {
    switches: Vec<usize>,
    hosts: usize,
    /// From a device to a device, and the panel between them if there is one.
    cables: Vec<(usize, usize, Option<usize>)>,
    /// At a device; to a site, or to another device; whether it leads out even then.
    circuits: Vec<(usize, Option<usize>, bool)>,
}

impl Plan {
    fn device(&self, at: usize) -> String {
        let at = at % (self.switches.len() + self.hosts);
        match at < self.switches.len() {
            true => format!("NetworkDevice/s{at}"),
            false => format!("Node/h{}", at - self.switches.len()),
        }
    }

    fn objects(&self) -> Vec<Object> {
        let mut made = Vec::new();
        let mut add = |kind: &str, name: &str, spec: Value| {
            let mut object = Object::new("inventory.miloapis.com/v1alpha1", kind);
            object.set_meta("name", Some(name.into()));
            object.set("spec", Some(spec));
            made.push(object);
        };
        for (at, role) in self.switches.iter().enumerate() {
            let spec = json!({"siteRef": {"name": "s"}, "clusterRef": {"name": "c"}, "role": ROLES[*role]});
            add("NetworkDevice", &format!("s{at}"), spec);
        }
        for at in 0..self.hosts {
            let hardware = json!({"cpuCores": 1, "cpuArchitecture": "amd64", "memoryBytes": 1});
            add("Node", &format!("h{at}"), json!({"siteRef": {"name": "s"}, "hardware": hardware}));
        }
        for panel in 0..3 {
            add(
                "NetworkDevice",
                &format!("panel{panel}"),
                json!({"siteRef": {"name": "s"}, "role": "PatchPanel"}),
            );
        }
        let port = |add: &mut dyn FnMut(&str, &str, Value), name: &str, device: &str, more: Value| {
            let (kind, on) = device.split_once('/').unwrap();
            let mut spec = json!({"deviceRef": {"kind": kind, "name": on}, "type": "Optical", "name": name});
            for (key, value) in more.as_object().unwrap() {
                spec[key] = value.clone();
            }
            add("Port", name, spec);
        };
        let cable = |add: &mut dyn FnMut(&str, &str, Value), name: &str, a: &str, z: &str| {
            add("Cable", name, json!({"media": "DAC", "endpoints": [{"name": a}, {"name": z}]}));
        };
        for (at, (a, z, panel)) in self.cables.iter().enumerate() {
            port(&mut add, &format!("a{at}"), &self.device(*a), json!({}));
            port(&mut add, &format!("z{at}"), &self.device(*z), json!({}));
            match panel {
                None => cable(&mut add, &format!("k{at}"), &format!("a{at}"), &format!("z{at}")),
                Some(panel) => {
                    let panel = format!("NetworkDevice/panel{panel}");
                    port(&mut add, &format!("r{at}"), &panel, json!({}));
                    let through =
                        json!({"passThrough": {"portRef": {"name": format!("r{at}")}, "position": 1}});
                    port(&mut add, &format!("f{at}"), &panel, through);
                    cable(&mut add, &format!("k{at}"), &format!("a{at}"), &format!("f{at}"));
                    cable(&mut add, &format!("l{at}"), &format!("r{at}"), &format!("z{at}"));
                }
            }
        }
        for (at, (near, far, leads_out)) in self.circuits.iter().enumerate() {
            port(&mut add, &format!("c{at}a"), &self.device(*near), json!({}));
            let far = match far {
                None => json!({"kind": "Site", "name": "s"}),
                Some(far) => {
                    port(&mut add, &format!("c{at}z"), &self.device(*far), json!({}));
                    json!({"kind": "Port", "name": format!("c{at}z")})
                }
            };
            let near = json!({"kind": "Port", "name": format!("c{at}a")});
            let kind = if *leads_out { "Transit" } else { "ProviderCircuit" };
            add(
                "Circuit",
                &format!("c{at}"),
                json!({"providerRef": {"name": "p"}, "type": kind, "aEnd": near, "zEnd": far}),
            );
        }
        made
    }

    /// Who reaches the network when all of `gone` is gone.
    fn reached(&self, gone: &BTreeSet<String>) -> BTreeSet<String> {
        let is_there = |thing: &String| !gone.contains(thing);
        let count = self.switches.len() + self.hosts;
        let mut near: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (at, (a, z, panel)) in self.cables.iter().enumerate() {
            let mut over = vec![format!("Cable/k{at}")];
            over.extend(
                panel
                    .iter()
                    .flat_map(|panel| [format!("Cable/l{at}"), format!("NetworkDevice/panel{panel}")]),
            );
            let (a, z) = (self.device(*a), self.device(*z));
            if over.iter().all(is_there) && a != z {
                near.entry(a.clone()).or_default().push(z.clone());
                near.entry(z).or_default().push(a);
            }
        }
        for (at, a, z) in self.between() {
            let (a, z) = (self.device(a), self.device(z));
            if is_there(&format!("Circuit/c{at}")) && a != z {
                near.entry(a.clone()).or_default().push(z.clone());
                near.entry(z).or_default().push(a);
            }
        }
        let mut ahead: Vec<String> = self.begin(&is_there).into_iter().filter(is_there).collect();
        let mut reached = BTreeSet::new();
        while let Some(device) = ahead.pop() {
            if !reached.insert(device.clone()) || device.starts_with("Node/") {
                continue;
            }
            let next = near.get(&device).into_iter().flatten().filter(|next| is_there(next));
            ahead.extend(next.cloned());
        }
        assert!(reached.len() <= count);
        reached
    }

    /// The circuits from a device of ours to another that lead nowhere else.
    fn between(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let circuits = self.circuits.iter().enumerate();
        circuits.filter_map(|(at, (near, far, leads_out))| Some((at, *near, far.filter(|_| !leads_out)?)))
    }

    /// Devices with a circuit out that is there; of networks that never had one, those that stand in for it.
    fn begin(&self, is_there: &dyn Fn(&String) -> bool) -> Vec<String> {
        let mut begin = Vec::new();
        let leads_out = |(_, far, leads_out): &(usize, Option<usize>, bool)| *leads_out || far.is_none();
        let mut circuit = |at: usize| {
            let (near, far, _) = self.circuits[at];
            let ends = [Some(self.device(near)), far.map(|far| self.device(far))];
            let ends: Vec<String> = ends.into_iter().flatten().collect();
            if is_there(&format!("Circuit/c{at}")) && ends.iter().all(is_there) {
                begin.extend(ends);
            }
        };
        (0..self.circuits.len()).filter(|at| leads_out(&self.circuits[*at])).for_each(&mut circuit);
        let mut stand_in = Vec::new();
        // Islands of switches, as they were before anything went.
        let mut island: Vec<usize> = (0..self.switches.len()).collect();
        for _ in 0..self.switches.len() {
            let cables = self.cables.iter().map(|(a, z, _)| (*a, *z));
            for (a, z) in cables.chain(self.between().map(|(_, a, z)| (a, z))) {
                let count = self.switches.len() + self.hosts;
                let (a, z) = (a % count, z % count);
                if a < island.len() && z < island.len() {
                    let least = island[a].min(island[z]);
                    (island[a], island[z]) = (least, least);
                }
            }
        }
        let count = self.switches.len() + self.hosts;
        for one in island.iter().collect::<BTreeSet<_>>() {
            let members: Vec<usize> = (0..island.len()).filter(|at| island[*at] == *one).collect();
            let is_member = |device: usize| members.contains(&(device % count));
            let has_way_out = self
                .circuits
                .iter()
                .any(|one| leads_out(one) && (is_member(one.0) || one.1.is_some_and(is_member)));
            if has_way_out {
                continue;
            }
            let own = self.between().filter(|(_, a, z)| is_member(*a) && is_member(*z));
            let own: Vec<usize> = own.map(|(at, ..)| at).collect();
            own.iter().copied().for_each(&mut circuit);
            let best = members.iter().map(|at| self.switches[*at]).min();
            if own.is_empty() {
                let nearest = members.iter().filter(|at| Some(self.switches[**at]) == best);
                stand_in.extend(nearest.map(|at| self.device(*at)));
            }
        }
        begin.extend(stand_in);
        begin
    }

    fn things(&self) -> Vec<String> {
        let mut things: Vec<String> =
            (0..self.switches.len() + self.hosts).map(|at| self.device(at)).collect();
        things.extend((0..3).map(|panel| format!("NetworkDevice/panel{panel}")));
        for (at, (_, _, panel)) in self.cables.iter().enumerate() {
            things.push(format!("Cable/k{at}"));
            things.extend(panel.map(|_| format!("Cable/l{at}")));
        }
        things.extend((0..self.circuits.len()).map(|at| format!("Circuit/c{at}")));
        things
    }

    /// What would cut a device off alone, on top of what is gone.
    fn hangs_on(&self, device: &str, gone: &BTreeSet<String>) -> BTreeSet<String> {
        let alone = |thing: &String| {
            let mut gone = gone.clone();
            gone.insert(thing.clone());
            !self.reached(&gone).contains(device)
        };
        self.things()
            .into_iter()
            .filter(|thing| thing != device && !gone.contains(thing))
            .filter(alone)
            .collect()
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    (1_usize..6, 0_usize..4).prop_flat_map(|(switches, hosts)| {
        let device = 0..switches + hosts;
        let cable = (device.clone(), device.clone(), proptest::option::weighted(0.3, 0_usize..3));
        let circuit =
            (device.clone(), proptest::option::weighted(0.6, device), proptest::bool::weighted(0.4));
        (
            proptest::collection::vec(0_usize..3, switches),
            Just(hosts),
            proptest::collection::vec(cable, 0..10),
            proptest::collection::vec(circuit, 0..5),
        )
            .prop_map(|(switches, hosts, cables, circuits)| Plan {
                switches,
                hosts,
                cables,
                circuits,
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn who_loses_network_or_redundancy_is_who_does_when_one_tries_it(plan in plans(), pick in 0_usize..100) {
        let things = plan.things();
        let thing = &things[pick % things.len()];
        let found = crate::fails(&[thing], &Memory::of(plan.objects()));
        let (nothing, gone) = (BTreeSet::new(), BTreeSet::from([thing.clone()]));
        let (before, after) = (plan.reached(&nothing), plan.reached(&gone));
        let cut_off: Vec<&String> = before.difference(&after).filter(|device| *device != thing).collect();
        prop_assert_eq!(found.loses_network.iter().collect::<Vec<_>>(), cut_off, "without {}", thing);
        let weakened: Vec<(String, Vec<String>)> = after
            .iter()
            .filter(|device| before.contains(*device))
            .map(|device| {
                let then = plan.hangs_on(device, &gone);
                let fresh = then.difference(&plan.hangs_on(device, &nothing)).cloned().collect();
                (device.clone(), fresh)
            })
            .filter(|(_, fresh): &(String, Vec<String>)| !fresh.is_empty())
            .collect();
        let said: Vec<(String, Vec<String>)> =
            found.depends_on.iter().map(|one| (one.device.clone(), one.on.clone())).collect();
        prop_assert_eq!(said, weakened, "without {}", thing);
    }
}

//! What is lost at the other end of a circuit, and what is not even looked at.

use inventory::demo::{Size, fleet};
use inventory::memory::Memory;
use inventory::questions::impact::Impact;
use krm::Object;
use serde_json::{Value, json};

const SITES: Size = Size { sites: 3, racks: 2, hosts: 3 };

/// Three sites; `ams1` has circuits of its own unless it is `poor`, and one to each of the others.
fn joined(poor: bool) -> Memory {
    let mut objects = fleet(SITES, 1);
    objects.retain(|object| !(poor && object.kind() == "Circuit" && object.name().starts_with("ams1-")));
    let mut add = |kind: &str, name: &str, spec: Value| {
        let mut object = Object::new("inventory.miloapis.com/v1alpha1", kind);
        object.set_meta("name", Some(name.into()));
        object.set("spec", Some(spec));
        objects.push(object);
    };
    for (number, far) in [(1, "fra1"), (2, "lhr1")] {
        let ends =
            ["ams1", far].map(|site| (format!("{site}-border{number}"), format!("{site}-long{number}")));
        for (device, port) in &ends {
            let on = json!({"kind": "NetworkDevice", "name": device});
            add("Port", port, json!({"deviceRef": on, "type": "Optical", "name": "et-9"}));
        }
        let [near, far_end] = ends.map(|(_, port)| json!({"kind": "Port", "name": port}));
        let spec = json!({"providerRef": {"name": "arelion"}, "type": "ProviderCircuit", "aEnd": near, "zEnd": far_end});
        add("Circuit", &format!("ams1-{far}"), spec);
    }
    Memory::of(objects)
}

fn impact(memory: &Memory, kind: &str, name: &str) -> Impact {
    crate::fails(&[&format!("{kind}/{name}")], memory)
}

fn on<'a>(impact: &'a Impact, device: &str) -> Vec<&'a str> {
    let hangs = impact.depends_on.iter().filter(|one| one.device == device);
    hangs.flat_map(|one| one.on.iter().map(String::as_str)).collect()
}

#[test]
fn a_site_without_a_way_out_of_its_own_hangs_on_those_it_has_circuits_to() {
    let memory = joined(true);
    let lost = impact(&memory, "NetworkDevice", "fra1-border1");
    assert_eq!(lost.loses_network, Vec::<String>::new(), "there is the way by London");
    let left = on(&lost, "Node/ams1-a01-node01");
    assert!(left.contains(&"Circuit/ams1-lhr1") && left.contains(&"NetworkDevice/lhr1-border2"), "{left:?}");
    assert!(left.contains(&"NetworkDevice/ams1-border2"), "{left:?}");
    let lost = impact(&memory, "Circuit", "ams1-lhr1");
    assert!(on(&lost, "Node/ams1-a01-node01").contains(&"NetworkDevice/fra1-border1"), "{lost:?}");
    assert!(
        lost.depends_on.iter().all(|one| one.device.contains("/ams1-")),
        "the others have their own: {lost:?}"
    );
}

#[test]
fn what_goes_at_one_end_is_lost_at_the_other_where_nothing_else_is_left() {
    let memory = joined(true);
    let router = impact(&memory, "NetworkDevice", "ams1-border1");
    assert!(on(&router, "Node/ams1-a01-node01").contains(&"Circuit/ams1-lhr1"), "{router:?}");
    let mut objects = fleet(Size { sites: 2, racks: 1, hosts: 1 }, 1);
    objects.retain(|object| !(object.kind() == "Circuit" && object.name().starts_with("ams1-")));
    for object in objects.iter_mut().filter(|object| object.name() == "fra1-de-cix") {
        // Frankfurt's second circuit is the only one of Amsterdam.
        object.set("spec", Some(json!({
            "providerRef": {"name": "arelion"}, "type": "ProviderCircuit",
            "aEnd": {"kind": "Port", "name": "fra1-border2-et0"}, "zEnd": {"kind": "Port", "name": "ams1-border1-et0"},
        })));
    }
    let memory = Memory::of(objects);
    let transit = impact(&memory, "Circuit", "fra1-arelion");
    for site in ["fra1", "ams1"] {
        assert!(transit.loses_network.contains(&format!("Node/{site}-a01-node01")), "{transit:?}");
    }
    let router = impact(&memory, "NetworkDevice", "fra1-border2");
    assert!(router.loses_network.contains(&"Node/ams1-a01-node01".to_owned()), "{router:?}");
    assert!(!router.loses_network.contains(&"Node/fra1-a01-node01".to_owned()), "{router:?}");
}

#[test]
fn sites_with_network_of_their_own_are_not_looked_at() {
    for (kind, name) in
        [("NetworkDevice", "fra1-spine1"), ("NetworkDevice", "fra1-a01-leaf1"), ("Rack", "fra1-a01")]
    {
        let memory = joined(false);
        let lost = impact(&memory, kind, name);
        assert!(!lost.loses_network_redundancy.is_empty() || kind == "Rack", "{name}: {lost:?}");
        let others: Vec<String> = memory.read().into_iter().filter(|read| read.contains("node")).collect();
        assert!(others.iter().all(|read| read.starts_with("fra1-")), "{name} is nothing to {others:?}");
    }
    // Without its router, Frankfurt is one way less for Amsterdam; London is as it was.
    let memory = joined(false);
    let lost = impact(&memory, "NetworkDevice", "fra1-border1");
    assert!(lost.depends_on.iter().all(|one| one.device.contains("/fra1-")), "{lost:?}");
    assert!(memory.read().iter().all(|read| !read.starts_with("lhr1-a01-node")), "{:?}", memory.read());
}

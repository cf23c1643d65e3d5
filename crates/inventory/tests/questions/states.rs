//! What is in service, and what is assumed to be.

use inventory::demo::{Size, fleet};
use inventory::kinds::Rack;
use inventory::memory::Memory;
use inventory::power;
use inventory::questions::elevation::Elevation;
use inventory::questions::space::{self, RackOccupancy, SpaceRequest, Spread};
use inventory::questions::{trace, tree};
use inventory::state::{AsIf, Fleet, Target};
use krm::Object;
use krm::kind::QueryContext;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::{fails, fails_as_if};

/// The demo fleet with some fields of some objects changed.
fn with(changes: &[(&str, &str, Value)]) -> Memory {
    let mut objects = fleet(Size::SMALL, 1);
    for (name, field, value) in changes {
        let object = objects.iter_mut().find(|object| object.name() == *name).unwrap();
        let mut spec = object.get("spec").cloned().unwrap();
        spec[*field] = value.clone();
        object.set("spec", Some(spec));
    }
    Memory::of(objects)
}

#[test]
fn a_spine_that_has_failed_already_is_no_second_path() {
    let memory = with(&[("fra1-spine2", "lifecycle", json!("Failed"))]);
    let lost = fails(&["NetworkDevice/fra1-spine1"], &memory);
    assert!(lost.loses_network.contains(&"Node/fra1-a01-node01".to_owned()), "{lost:?}");
    assert!(lost.text(false).contains("NetworkDevice/fra1-spine2 (Failed)"), "{}", lost.text(false));
    let healthy = with(&[]);
    let assumed = fails_as_if(&["nd/fra1-spine1"], &["nd/fra1-spine2=failed"], &healthy);
    assert_eq!(assumed.loses_network, lost.loses_network);
    let both = fails(&["nd/fra1-spine1", "nd/fra1-spine2"], &healthy);
    assert_eq!(both.loses_network, lost.loses_network, "or both at once");
    let up_again = fails_as_if(&["nd/fra1-spine1"], &["nd/fra1-spine2=Active"], &memory);
    assert!(up_again.loses_network.is_empty(), "{up_again:?}");
}

#[test]
fn a_cable_that_is_only_planned_or_on_its_way_out_carries_nothing() {
    for state in ["Planned", "Decommissioning"] {
        let memory = with(&[("fra1-a01-node01-eth1--fra1-a01-leaf2", "state", json!(state))]);
        let lost = fails(&["cable/fra1-a01-node01-eth0--fra1-a01-leaf1"], &memory);
        assert_eq!(lost.loses_network, ["Node/fra1-a01-node01"], "{state}");
        let port = (&memory as &dyn QueryContext).find("fra1-a01-node01-eth1").unwrap();
        let as_recorded = AsIf::recorded();
        let way = trace::from(&port, &memory).marked(&Fleet::new(&memory, &as_recorded));
        let text = trace::text(&way, false);
        assert!(text.contains(&format!("(DAC, 2 m, {state})")), "{text}");
        assert!(text.contains("Not in service: Cable/fra1-a01-node01-eth1--fra1-a01-leaf2"), "{text}");
    }
}

#[test]
fn a_site_a_provider_and_a_rack_fail_with_all_that_is_theirs() {
    let memory = with(&[]);
    let site = fails(&["site/fra1"], &memory);
    assert!(site.fails.contains(&"Rack/fra1-a03".to_owned()) && site.fails.contains(&"Site/fra1".to_owned()));
    assert!(site.machines.contains(&"fra1-a01-node02-vm1".to_owned()), "{site:?}");
    assert!(site.fails.iter().all(|name| !name.contains("ams1")), "{site:?}");
    let provider = fails(&["provider/arelion"], &memory);
    assert!(provider.fails.contains(&"Circuit/fra1-arelion".to_owned()), "{provider:?}");
    assert!(provider.depends_on.iter().all(|one| one.on.iter().any(|on| on.contains("de-cix"))));
    let both = fails(&["provider/arelion", "provider/de-cix"], &memory);
    assert!(both.loses_network.contains(&"Node/fra1-a01-node01".to_owned()), "{both:?}");
    let circuit = fails(&["circuit/fra1-arelion"], &memory);
    assert_eq!(circuit.circuits, Vec::<String>::new(), "it is not affected by itself");
    let rack = fails(&["rack/fra1-a01"], &memory);
    assert!(
        rack.fails.contains(&"NetworkDevice/fra1-a01-pdu-a".to_owned()),
        "0U devices are in it: {rack:?}"
    );
}

#[test]
fn space_is_offered_only_where_something_can_be_put() {
    let memory = with(&[
        ("fra1-a01", "lifecycle", json!("Retired")),
        ("fra1-a02-leaf1", "lifecycle", json!("Failed")),
        ("fra1-a02-leaf2", "lifecycle", json!("Decommissioning")),
        ("fra1-a03", "lifecycle", json!("Planned")),
    ]);
    let wanted = SpaceRequest { units: 2, face: None, watts: 0, ports: 1, count: 9, spread: Spread::Pack };
    let as_recorded = AsIf::recorded();
    let fleet = Fleet::new(&memory, &as_recorded);
    let racks = ["fra1-a01", "fra1-a02", "fra1-a03"];
    let racks: Vec<_> = racks.iter().map(|rack| Arc::new(RackOccupancy::of(rack, &fleet).unwrap())).collect();
    let found = space::find(&racks, &wanted, &fleet);
    let reasons: Vec<&str> = found.ruled_out.iter().map(|out| out.reason.as_str()).collect();
    assert_eq!(reasons, ["the rack is Retired", "0 network ports free, 1 required", "the rack is Planned"]);
    let mut back = AsIf::recorded();
    back.assume(&Target::new("Rack", "fra1-a03"), inventory::kinds::device::Lifecycle::Active);
    let found = space::find(&racks, &wanted, &Fleet::new(&memory, &back));
    assert!(found.places.iter().all(|place| place.rack == "fra1-a03") && !found.places.is_empty());
}

#[test]
fn what_is_not_active_is_marked_in_every_overview() {
    let memory = with(&[
        ("fra1-a01-node01", "lifecycle", json!("Failed")),
        ("fra1-a01-node02", "lifecycle", json!("Planned")),
        ("fra1-a01-node03", "lifecycle", json!("Retired")),
    ]);
    let as_recorded = AsIf::recorded();
    let fleet = Fleet::new(&memory, &as_recorded);
    let rack: Arc<Rack> = (&memory as &dyn QueryContext).find("fra1-a01").unwrap();
    let shown = Elevation::of(&rack, &fleet);
    assert!(shown.text().contains("fra1-a01-node01 (Failed, "), "{}", shown.text());
    let healthy = Memory::of(self::fleet_of_demo());
    let rack_before: Arc<Rack> = (&healthy as &dyn QueryContext).find("fra1-a01").unwrap();
    let before = Elevation::of(&rack_before, &Fleet::new(&healthy, &as_recorded)).power.drawn;
    assert!(shown.power.to_come > 0 && shown.power.drawn + shown.power.to_come < before, "{:?}", shown.power);
    let regions = tree::tree(Some("eu-central"), &fleet);
    let states = tree::states(&regions, &as_recorded, &fleet);
    assert!(tree::tree_text(&regions, &states).contains("    fra1-a01-node01 (Failed)\n"));
    let summary = tree::summary(&as_recorded, &fleet);
    assert!(summary.states.contains(&("nodes".into(), "Planned".into(), 1)), "{:?}", summary.states);
}

fn fleet_of_demo() -> Vec<Object> {
    fleet(Size::SMALL, 1)
}

/// A rack with two feeds of 7360 W, a PDU on each, and servers of this many watts on both.
fn two_feeds(servers: &[i64]) -> Vec<Object> {
    let mut objects = Vec::new();
    let mut add = |kind: &str, name: &str, spec: Value| {
        let mut object = Object::new("inventory.miloapis.com/v1alpha1", kind);
        object.set_meta("name", Some(name.into()));
        object.set("spec", Some(spec));
        objects.push(object);
    };
    let feed =
        |name: &str| json!({"name": name, "voltage": 230, "ampsRated": 32, "maxUtilizationPercent": 100});
    add("Rack", "r", json!({"siteRef": {"name": "s"}, "heightU": 42, "powerFeeds": [feed("A"), feed("B")]}));
    for feed in ["A", "B"] {
        let pdu = format!("pdu-{feed}");
        add(
            "NetworkDevice",
            &pdu,
            json!({"siteRef": {"name": "s"}, "role": "PDU", "placement": {"rackRef": {"name": "r"}}}),
        );
        add(
            "Port",
            &format!("feed-{feed}"),
            json!({"deviceRef": {"kind": "Rack", "name": "r"}, "type": "Power", "name": feed, "power": {"feed": feed}}),
        );
        add(
            "Port",
            &format!("in-{feed}"),
            json!({"deviceRef": {"kind": "NetworkDevice", "name": pdu}, "type": "Power", "name": "in"}),
        );
        add(
            "Cable",
            &format!("up-{feed}"),
            json!({"media": "Power", "endpoints": [{"name": format!("feed-{feed}")}, {"name": format!("in-{feed}")}]}),
        );
    }
    for (at, watts) in servers.iter().enumerate() {
        let hardware = json!({"cpuCores": 1, "cpuArchitecture": "amd64", "memoryBytes": 1});
        add(
            "Node",
            &format!("n{at}"),
            json!({"siteRef": {"name": "s"}, "hardware": hardware, "drawnWatts": watts}),
        );
        for feed in ["A", "B"] {
            let (out, psu) = (format!("out{at}-{feed}"), format!("psu{at}-{feed}"));
            add(
                "Port",
                &out,
                json!({"deviceRef": {"kind": "NetworkDevice", "name": format!("pdu-{feed}")}, "type": "Power", "name": out, "power": {"inletRef": {"name": format!("in-{feed}")}, "ratedWatts": 2300}}),
            );
            add(
                "Port",
                &psu,
                json!({"deviceRef": {"kind": "Node", "name": format!("n{at}")}, "type": "Power", "name": psu}),
            );
            add(
                "Cable",
                &format!("k{at}-{feed}"),
                json!({"media": "Power", "endpoints": [{"name": out}, {"name": psu}]}),
            );
        }
    }
    objects
}

#[test]
fn a_feed_that_gets_more_than_it_can_carry_trips_and_takes_everything_along() {
    let memory = Memory::of(two_feeds(&[2000, 2000, 2000, 2000, 350]));
    let lost = fails(&["rack/r:A"], &memory);
    assert_eq!(lost.loses_power.len(), 5, "8,350 W on one feed of 7,360 W: {lost:?}");
    let feed = &lost.overloaded[0];
    assert_eq!((feed.name.as_str(), feed.watts, feed.limit, feed.trips), ("Rack/r:B", 8350, 7360, true));
    assert!(lost.text(false).contains("Rack/r:B carries 8350 W of 7360 W and trips"), "{}", lost.text(false));
    let condition = |memory: &Memory| {
        let look: &dyn QueryContext = memory;
        let rack = look.get(&krm::kind::Address {
            group: inventory::kinds::GROUP.into(),
            plural: "racks".into(),
            namespace: String::new(),
            name: "r".into(),
        });
        let [_, (_, found)] = power::condition::of(&rack.unwrap(), look);
        found.map(|one| (one.holds, one.reason))
    };
    assert_eq!(condition(&memory), Some((false, "FeedOverloadOnFailure")));
    let memory = Memory::of(two_feeds(&[2000, 2000, 2000]));
    let lost = fails(&["rack/r:A"], &memory);
    assert_eq!((lost.loses_power.len(), lost.loses_power_redundancy.len()), (0, 3), "{lost:?}");
    assert_eq!(condition(&memory), Some((true, "Redundant")));
    let mut single = two_feeds(&[2000]);
    single.retain(|object| object.name() != "k0-B");
    assert_eq!(condition(&Memory::of(single)), Some((false, "PowerLossOnFailure")));
}

#[test]
fn an_outlet_has_a_limit_of_its_own() {
    let memory = Memory::of(two_feeds(&[3000]));
    let lost = fails(&["nd/pdu-A"], &memory);
    assert_eq!(lost.overloaded[0].name, "Port/out0-B", "3,000 W on one outlet of 2,300 W: {lost:?}");
    assert_eq!(lost.loses_power, ["Node/n0"], "{lost:?}");
}

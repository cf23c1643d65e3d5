//! Questions asked of the demo fleet: racks, ways, losses, room.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod circuits;
mod network;
mod oracle;
mod states;

use std::sync::Arc;

use inventory::demo::{Size, fleet};
use inventory::kinds::Rack;
use inventory::memory::Memory;
use inventory::questions::elevation::Elevation;
use inventory::questions::impact::{self, Impact};
use inventory::questions::space::{self, SpaceRequest, Spread};
use inventory::questions::{svg, trace, tree};
use inventory::state::{AsIf, Fleet, Target};
use inventory::{kinds, power};
use krm::kind::QueryContext;

fn memory() -> Memory {
    Memory::of(fleet(Size::SMALL, 1))
}

fn look(memory: &Memory) -> &dyn QueryContext {
    memory
}

/// The impact of the failure of these objects.
fn fails(targets: &[&str], memory: &Memory) -> Impact {
    fails_as_if(targets, &[], memory)
}

/// The same, as if other objects were in these states.
fn fails_as_if(targets: &[&str], assumed: &[&str], memory: &Memory) -> Impact {
    let targets: Vec<Target> = targets.iter().map(|target| Target::parse(target).unwrap()).collect();
    let mut as_if = AsIf::recorded();
    for assumption in assumed {
        let (target, state) = AsIf::parse(assumption).unwrap();
        as_if.assume(&target, state);
    }
    impact::of(&targets, &as_if, memory)
}

#[test]
fn a_rack_shows_what_is_in_it_and_what_is_free() {
    let memory = memory();
    let rack: Arc<Rack> = look(&memory).find("fra1-a01").unwrap();
    let as_recorded = AsIf::recorded();
    let shown = Elevation::of(&rack, &Fleet::new(&memory, &as_recorded));
    assert_eq!(shown.devices.len(), 6 + 3, "six hosts, two leaves and a panel");
    let beside: Vec<&str> = shown.zero_u.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(beside, ["fra1-a01-pdu-a", "fra1-a01-pdu-b"]);
    assert_eq!((shown.free_front, shown.free_rear), (42 - 12 - 3, 42 - 12));
    let text = shown.text();
    assert!(text.contains(" 12  fra1-a01-node06 (fra1-com…"), "{text}");
    assert!(
        text.contains("Free: 27U front, 30U rear; largest contiguous space, front and rear: 27U"),
        "{text}"
    );
    let drawn: i64 = shown.power.feeds.iter().map(|feed| feed.drawn).sum();
    assert!((drawn - shown.power.drawn).abs() <= 16, "what is drawn comes from the feeds: {:?}", shown.power);
    let drawing = svg::racks(&[shown]);
    assert!(drawing.starts_with("<svg ") && drawing.contains("fra1-a01-leaf1"), "{drawing}");
}

#[test]
fn a_way_goes_through_the_panel_and_is_as_long_as_its_cables() {
    let memory = memory();
    let port = look(&memory).find("fra1-a01-leaf1-up1").unwrap();
    let way = trace::from(&port, &memory);
    let ends: Vec<&str> = way.ends().iter().map(|end| end.device.as_str()).collect();
    assert_eq!(ends, ["NetworkDevice/fra1-spine1"]);
    assert_eq!(way.metres(), 16.0);
    let text = trace::text(&way, false);
    assert!(text.contains("patch panel, position 1"), "{text}");
    let border = look(&memory).find("fra1-border1-et0").unwrap();
    let text = trace::text(&trace::from(&border, &memory), false);
    assert!(text.contains("circuit fra1-arelion") && text.contains("Site/fra1"), "{text}");
    assert!(svg::trace(&way, false).contains("NetworkDevice fra1-spine1"));
}

#[test]
fn power_leads_from_the_feed_to_every_supply() {
    let memory = memory();
    let rack: Arc<Rack> = look(&memory).find("fra1-a01").unwrap();
    let [a, b] = &power::feeds(&rack, &memory)[..] else { panic!("two feeds") };
    assert!(a.drawn > 2 * 350 / 2 && (a.drawn - b.drawn).abs() <= 1, "each carries half: {a:?} {b:?}");
    let feed = look(&memory).find("fra1-a01-feed-a").unwrap();
    let way = trace::from(&feed, &memory);
    assert_eq!(
        way.ends().len(),
        8,
        "a trace of power splits at the PDU: hosts and leaves; a panel draws nothing"
    );
}

#[test]
fn what_fails_takes_redundancy_or_everything() {
    let memory = memory();
    let pdu = fails(&["NetworkDevice/fra1-a01-pdu-a"], &memory);
    assert_eq!(pdu.loses_power, Vec::<String>::new());
    assert_eq!(pdu.loses_power_redundancy.len(), 8, "{pdu:?}");
    let feed = fails(&["Rack/fra1-a01:A"], &memory);
    assert_eq!(feed.loses_power_redundancy, pdu.loses_power_redundancy);
    let spine = fails(&["NetworkDevice/fra1-spine1"], &memory);
    assert_eq!(spine.loses_network, Vec::<String>::new());
    assert_eq!(
        spine.loses_network_redundancy.len(),
        3 * (2 + 6),
        "every leaf and every host depends on the other spine; the border routers reach each other through it: {spine:?}"
    );
    assert!(spine.depends_on.iter().all(|one| one.on.contains(&"NetworkDevice/fra1-spine2".to_owned())));
    let rack = fails(&["Rack/fra1-a01"], &memory);
    assert!(rack.machines.contains(&"fra1-a01-node02-vm1".to_owned()), "{rack:?}");
    let cable = fails(&["Cable/fra1-a01-node01-eth0--fra1-a01-leaf1"], &memory);
    assert_eq!(cable.loses_network_redundancy, ["Node/fra1-a01-node01"], "the switch has its uplinks");
    assert!(
        cable.text(false).contains("Lose network redundancy (1)\n  Node/fra1-a01-node01 depends on Cable/")
    );
    let circuit = fails(&["Circuit/fra1-arelion"], &memory);
    assert_eq!(circuit.loses_network, Vec::<String>::new());
    assert!(circuit.depends_on.iter().all(|one| one.on.contains(&"Circuit/fra1-de-cix".to_owned())));
    assert_eq!(
        circuit.depends_on.len(),
        3 * 8 + 2 + 2,
        "everything at the site depends on the other circuit"
    );
}

#[test]
fn room_is_found_where_it_is_tightest_and_every_other_rack_has_a_reason() {
    let memory = memory();
    let racks = look(&memory).having(kinds::GROUP, "racks", "spec.siteRef.name", "fra1");
    let rooms = space::OccupancyCache::default();
    let as_recorded = AsIf::recorded();
    let fleet = Fleet::new(&memory, &as_recorded);
    let racks: Vec<_> = racks.iter().map(|rack| rooms.get(rack.name(), &memory).unwrap()).collect();
    let wanted = SpaceRequest { units: 2, face: None, watts: 500, ports: 0, count: 3, spread: Spread::Racks };
    let found = space::find(&racks, &wanted, &fleet);
    let mut names: Vec<&str> = found.places.iter().map(|place| place.rack.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 3, "one in a rack: {found:?}");
    assert!(found.places.iter().all(|place| place.start_unit == 13), "right above what is there: {found:?}");
    let huge = SpaceRequest { units: 41, ..wanted.clone() };
    let none = space::find(&racks, &huge, &fleet);
    assert_eq!((none.places.len(), none.ruled_out.len()), (0, 4));
    assert!(
        none.text(&huge, false).contains("Ruled out fra1-a01: 27U contiguous space free, 41U required"),
        "{}",
        none.text(&huge, false)
    );
    let hungry = SpaceRequest { watts: 100_000, ..wanted };
    assert!(space::find(&racks, &hungry, &fleet).ruled_out[0].reason.contains("W required"));
}

#[test]
fn the_whole_is_seen_at_a_glance() {
    let memory = memory();
    let as_recorded = AsIf::recorded();
    let fleet = Fleet::new(&memory, &as_recorded);
    let summary = tree::summary(&as_recorded, &fleet).text();
    assert!(summary.contains("nodes             36"), "{summary}");
    let text = tree::tree_text(&tree::tree(Some("eu-central"), &fleet), &Default::default());
    assert!(
        text.starts_with("eu-central\n  clusters: fra1-compute\n  fra1\n    fra1-a01-node01\n"),
        "{text}"
    );
}

#[test]
fn the_demo_keeps_what_it_promises() {
    let objects = fleet(Size { sites: 2, racks: 3, hosts: 19 }, 5);
    let racks: Vec<_> = objects.iter().filter(|object| object.kind() == "Rack").cloned().collect();
    let nodes: Vec<String> =
        objects.iter().filter(|object| object.kind() == "Node").map(|node| node.name().to_owned()).collect();
    let uplinks: Vec<String> = objects
        .iter()
        .filter(|object| object.kind() == "Port" && object.name().ends_with("-et0"))
        .map(|port| port.name().to_owned())
        .collect();
    let memory = Memory::of(objects);
    for rack in &racks {
        for (kind, found) in power::condition::of(rack, &memory) {
            assert!(found.as_ref().is_some_and(|found| found.holds), "{}: {kind} {found:?}", rack.name());
        }
    }
    for node in &nodes {
        let pdus: std::collections::BTreeSet<String> = ["psu1", "psu2"]
            .iter()
            .map(|psu| look(&memory).find(&format!("{node}-{psu}")).unwrap())
            .map(|psu| trace::from(&psu, &memory).next[0].device.clone())
            .collect();
        assert_eq!(pdus.len(), 2, "{node} is on different PDUs: {pdus:?}");
    }
    assert_eq!(uplinks.len(), 4);
    for uplink in &uplinks {
        let way = trace::from(&look(&memory).find(uplink).unwrap(), &memory);
        assert!(matches!(way.next[0].by, Some(trace::By::Circuit { .. })), "{uplink}: {way:?}");
    }
}

#[test]
fn a_breakout_cable_is_as_long_as_it_is() {
    let mut objects = fleet(Size::SMALL, 1);
    let port = |name: &str| {
        let mut port = krm::Object::new("inventory.miloapis.com/v1alpha1", "Port");
        port.set_meta("name", Some(name.into()));
        let spec = serde_json::json!({"deviceRef": {"kind": "NetworkDevice", "name": "fra1-spine1"}, "type": "Optical", "name": name});
        port.set("spec", Some(spec));
        port
    };
    objects.extend(["q", "s1", "s2", "s3", "s4"].map(port));
    let mut cable = krm::Object::new("inventory.miloapis.com/v1alpha1", "Cable");
    cable.set_meta("name", Some("breakout".into()));
    let ends = ["q", "s1", "s2", "s3", "s4"].map(|name| serde_json::json!({"name": name}));
    cable.set("spec", Some(serde_json::json!({"media": "DAC", "lengthM": "3", "endpoints": ends})));
    objects.push(cable);
    let memory = Memory::of(objects);
    let way = trace::from(&look(&memory).find("q").unwrap(), &memory);
    assert_eq!((way.ends().len(), way.metres()), (4, 3.0));
}

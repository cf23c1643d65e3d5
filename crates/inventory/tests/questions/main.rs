//! Questions asked of the demo fleet: racks, ways, losses, room.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod circuits;
mod network;

use std::sync::Arc;

use inventory::demo::{Size, fleet};
use inventory::kinds::Rack;
use inventory::memory::Memory;
use inventory::questions::elevation::Elevation;
use inventory::questions::space::{self, SpaceRequest, Spread};
use inventory::questions::{impact, svg, trace, tree};
use inventory::{kinds, power};
use krm::kind::QueryContext;

fn memory() -> Memory {
    Memory::of(fleet(Size::SMALL, 1))
}

fn look(memory: &Memory) -> &dyn QueryContext {
    memory
}

#[test]
fn a_rack_shows_what_is_in_it_and_what_is_free() {
    let memory = memory();
    let rack: Arc<Rack> = look(&memory).find("fra1-a01").unwrap();
    let shown = Elevation::of(&rack, &memory);
    assert_eq!(shown.devices.len(), 6 + 3, "six hosts, two leaves and a panel");
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
    let text = trace::text(&way);
    assert!(text.contains("patch panel, position 1"), "{text}");
    let border = look(&memory).find("fra1-border1-et0").unwrap();
    let text = trace::text(&trace::from(&border, &memory));
    assert!(text.contains("circuit fra1-arelion") && text.contains("Site/fra1"), "{text}");
    assert!(svg::trace(&way).contains("NetworkDevice fra1-spine1"));
}

#[test]
fn power_leads_from_the_feed_to_every_supply_and_back() {
    let memory = memory();
    let feed = look(&memory).find("fra1-a01-feed-a").unwrap();
    assert_eq!(power::sinks(&feed, &memory).len(), 6 + 2, "hosts and leaves; a panel draws nothing");
    let supply = look(&memory).find("fra1-a01-node01-psu2").unwrap();
    let sources = power::sources(&supply, &memory);
    assert_eq!(
        sources.iter().map(|feed| feed.metadata.name.as_str()).collect::<Vec<_>>(),
        ["fra1-a01-feed-b"]
    );
    let way = trace::from(&feed, &memory);
    assert_eq!(way.ends().len(), 8, "a trace of power splits at the PDU");
}

#[test]
fn what_fails_takes_redundancy_or_everything() {
    let memory = memory();
    let pdu = impact::of("NetworkDevice", "fra1-a01-pdu-a", None, &memory).unwrap();
    assert_eq!(pdu.loses_power, Vec::<String>::new());
    assert_eq!(pdu.loses_power_redundancy.len(), 8, "{pdu:?}");
    let feed = impact::of("Rack", "fra1-a01", Some("A"), &memory).unwrap();
    assert_eq!(feed.loses_power_redundancy, pdu.loses_power_redundancy);
    let spine = impact::of("NetworkDevice", "fra1-spine1", None, &memory).unwrap();
    assert_eq!(spine.loses_network, Vec::<String>::new());
    assert_eq!(
        spine.loses_network_redundancy.len(),
        3 * (2 + 6),
        "every leaf and every host depends on the other spine; the border routers reach each other through it: {spine:?}"
    );
    assert!(spine.depends_on.iter().all(|one| one.on.contains(&"NetworkDevice/fra1-spine2".to_owned())));
    let rack = impact::of("Rack", "fra1-a01", None, &memory).unwrap();
    assert!(rack.machines.contains(&"fra1-a01-node02-vm1".to_owned()), "{rack:?}");
    let cable = impact::of("Cable", "fra1-a01-node01-eth0--fra1-a01-leaf1", None, &memory).unwrap();
    assert_eq!(cable.loses_network_redundancy, ["Node/fra1-a01-node01"], "the switch has its uplinks");
    assert!(cable.text().contains("Lose network redundancy (1)\n  Node/fra1-a01-node01 depends on Cable/"));
    let circuit = impact::of("Circuit", "fra1-arelion", None, &memory).unwrap();
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
    let racks: Vec<_> = racks.iter().map(|rack| rooms.get(rack.name(), &memory).unwrap()).collect();
    let wanted = SpaceRequest { units: 2, face: None, watts: 500, ports: 0, count: 3, spread: Spread::Racks };
    let found = space::find(&racks, &wanted, &memory);
    let mut names: Vec<&str> = found.places.iter().map(|place| place.rack.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 3, "one in a rack: {found:?}");
    assert!(found.places.iter().all(|place| place.start_unit == 13), "right above what is there: {found:?}");
    let huge = SpaceRequest { units: 41, ..wanted.clone() };
    let none = space::find(&racks, &huge, &memory);
    assert_eq!((none.places.len(), none.ruled_out.len()), (0, 4));
    assert!(
        none.text(&huge).contains("Ruled out fra1-a01: 27U contiguous space free, 41U required"),
        "{}",
        none.text(&huge)
    );
    let hungry = SpaceRequest { watts: 100_000, ..wanted };
    assert!(space::find(&racks, &hungry, &memory).ruled_out[0].reason.contains("W required"));
}

#[test]
fn the_whole_is_seen_at_a_glance() {
    let memory = memory();
    let summary = tree::summary(&memory).text();
    assert!(summary.contains("nodes             36"), "{summary}");
    let text = tree::tree_text(&tree::tree(Some("eu-central"), &memory));
    assert!(text.starts_with("eu-central\n  fra1\n    fra1-a01-node01\n"), "{text}");
}

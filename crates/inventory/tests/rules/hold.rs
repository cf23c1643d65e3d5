//! What holds at every moment, whatever anybody does.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::watched::{State, Told, name_of};

/// Looks at everything after a change.
pub fn everything(state: &State, told: &Told) {
    let at = told.version;
    nothing_overlaps(state, at);
    every_port_has_one_cable(state, at);
    every_number_is_given_once(state, at);
    every_slot_holds_one(state, at);
}

/// The same of panels, feeds and the graph.
pub fn wiring(state: &State, told: &Told) {
    let at = told.version;
    every_way_through_a_panel_is_one(state, at);
    every_feed_and_inlet_is_there(state, at);
    every_edge_has_its_ends(state, at);
}

fn every_way_through_a_panel_is_one(state: &State, at: u64) {
    let mut led: BTreeMap<(&str, i64), &str> = BTreeMap::new();
    for front in state.of("Port") {
        let rear = text(front, "/spec/passThrough/portRef/name");
        if rear.is_empty() {
            continue;
        }
        let position = front["spec"]["passThrough"]["position"].as_i64().unwrap_or(1);
        let found = state.get("Port", rear);
        let found =
            found.unwrap_or_else(|| panic!("at {at}, {} leads to {rear}, which is gone", name_of(front)));
        assert_eq!(found["spec"]["deviceRef"], front["spec"]["deviceRef"], "at {at}, {}", name_of(front));
        assert!(found["spec"]["passThrough"].is_null(), "at {at}, {rear} leads on");
        let most = found["spec"]["positions"].as_i64().unwrap_or(1);
        assert!(position <= most, "at {at}, {} is at {position} of {most} of {rear}", name_of(front));
        if let Some(other) = led.insert((rear, position), name_of(front)) {
            panic!("at {at}, position {position} of {rear} is that of {other} and of {}", name_of(front));
        }
    }
}

fn every_feed_and_inlet_is_there(state: &State, at: u64) {
    for port in state.of("Port") {
        let (feed, inlet) = (text(port, "/spec/power/feed"), text(port, "/spec/power/inletRef/name"));
        if !feed.is_empty() {
            let rack = state.get("Rack", text(port, "/spec/deviceRef/name")).unwrap();
            let mut feeds = rack["spec"]["powerFeeds"].as_array().into_iter().flatten();
            assert!(
                feeds.any(|found| found["name"] == feed),
                "at {at}, {} is on {feed}, which is gone",
                name_of(port)
            );
        }
        if !inlet.is_empty() {
            let found = state.get("Port", inlet);
            let found = found
                .unwrap_or_else(|| panic!("at {at}, {} is fed by {inlet}, which is gone", name_of(port)));
            assert_eq!(text(found, "/spec/power/inletRef/name"), "", "at {at}, {inlet} is an outlet itself");
        }
    }
}

fn every_edge_has_its_ends(state: &State, at: u64) {
    for edge in state.of("Edge") {
        let (from, to) = (text(edge, "/spec/from/name"), text(edge, "/spec/to/name"));
        assert_ne!(from, to, "at {at}, {}", name_of(edge));
        for end in [from, to] {
            assert!(
                state.get("Node", end).is_some(),
                "at {at}, {} ends at {end}, which is gone",
                name_of(edge)
            );
        }
    }
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// From a unit to before another, by whom.
type Taken<'a> = (i64, i64, &'a str);

fn nothing_overlaps(state: &State, at: u64) {
    let mut placed: BTreeMap<(&str, &str), Vec<Taken<'_>>> = BTreeMap::new();
    for node in state.of("Node") {
        let place = &node["spec"]["placement"];
        if place.is_null() {
            continue;
        }
        let rack = text(place, "/rackRef/name");
        let (start, high) = (place["startUnit"].as_i64().unwrap(), place["unitHeight"].as_i64().unwrap());
        let found = state.get("Rack", rack);
        let rack_object =
            found.unwrap_or_else(|| panic!("at {at}, {} is in {rack}, which is not there", name_of(node)));
        let height = rack_object["spec"]["heightU"].as_i64().unwrap();
        assert!(start + high - 1 <= height, "at {at}, {} ends above {rack} of {height}U", name_of(node));
        for kept in rack_object["spec"]["reservations"].as_array().into_iter().flatten() {
            let (from, long) = (kept["startUnit"].as_i64().unwrap(), kept["unitHeight"].as_i64().unwrap());
            let apart = start + high <= from || from + long <= start;
            assert!(apart, "at {at}, {} is in reserved units of {rack}", name_of(node));
        }
        let faces = match place["fullDepth"] == true {
            true => vec!["Front", "Rear"],
            false => vec![text(place, "/face")],
        };
        for face in faces {
            placed.entry((rack, face)).or_default().push((start, start + high, name_of(node)));
        }
    }
    for ((rack, face), mut places) in placed {
        places.sort_unstable();
        for pair in places.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "at {at}, in {rack} {face}: {pair:?}");
        }
    }
}

fn every_port_has_one_cable(state: &State, at: u64) {
    let mut carried: BTreeMap<&str, &str> = BTreeMap::new();
    for cable in state.of("Cable") {
        for end in cable["spec"]["endpoints"].as_array().unwrap() {
            let port = text(end, "/name");
            assert!(
                state.get("Port", port).is_some(),
                "at {at}, {} ends at {port}, which is not there",
                name_of(cable)
            );
            if let Some(other) = carried.insert(port, name_of(cable)) {
                panic!("at {at}, {port} carries {other} and {}", name_of(cable));
            }
        }
    }
}

fn every_number_is_given_once(state: &State, at: u64) {
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    for node in state.of("Node") {
        let serial = text(node, "/spec/serial");
        if !serial.is_empty()
            && let Some(other) = given.insert(serial, name_of(node))
        {
            panic!("at {at}, {serial} is that of {other} and of {}", name_of(node));
        }
    }
}

fn every_slot_holds_one(state: &State, at: u64) {
    let mut held: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for node in state.of("Node") {
        let (holder, slot) = (text(node, "/spec/inSlot/deviceRef/name"), text(node, "/spec/inSlot/slot"));
        if slot.is_empty() {
            continue;
        }
        let chassis = state.get("Node", holder);
        let chassis =
            chassis.unwrap_or_else(|| panic!("at {at}, {} is in {holder}, which is gone", name_of(node)));
        let slots = chassis["spec"]["slots"].as_array();
        let has = slots.into_iter().flatten().any(|found| found["name"] == slot);
        assert!(has, "at {at}, {} is in slot {slot} of {holder}, which it has not", name_of(node));
        if let Some(other) = held.insert((holder, slot), name_of(node)) {
            panic!("at {at}, slot {slot} of {holder} holds {other} and {}", name_of(node));
        }
    }
}

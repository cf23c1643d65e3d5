//! Where a host is: rack, units, ports and power feeds of its Node, by the inventory.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::kind::QueryContext;
use serde_json::Value;

use crate::inventory::{CABLES_IN_PORT, PORTS, PORTS_OF_DEVICE, at, text};
use crate::kinds::host::{PlacedPort, Placement};

/// Ports that a placement tells, at most.
const MOST_PORTS: usize = 64;
/// Cables between a host and a power feed of its rack, at most: through a PDU, or a switch in between.
const DEEPEST: usize = 4;

/// The placement of a Node.
pub fn of(node: &Arc<Object>, world: &dyn QueryContext) -> Placement {
    let owned = |path: &str| text(node, path).map(str::to_owned);
    let number = |path: &str| node.at(path).and_then(Value::as_i64);
    let mut ports = world.bucket(PORTS_OF_DEVICE, &format!("Node/{}", node.name()));
    ports.sort_by(|one, other| text(one, "spec.name").cmp(&text(other, "spec.name")));
    let (power, data): (Vec<_>, Vec<_>) =
        ports.into_iter().partition(|port| text(port, "spec.type") == Some("Power"));
    let mut feeds = BTreeSet::new();
    for port in &power {
        trace_feeds(port, world, DEEPEST, &mut feeds);
    }
    Placement {
        site: owned("spec.siteRef.name"),
        rack: owned("spec.placement.rackRef.name"),
        start_unit: number("spec.placement.startUnit"),
        units: number("spec.placement.unitHeight"),
        face: owned("spec.placement.face"),
        ports: data.iter().take(MOST_PORTS).map(|port| placed(port, world)).collect(),
        feeds: feeds.into_iter().take(MOST_PORTS).collect(),
    }
}

fn placed(port: &Arc<Object>, world: &dyn QueryContext) -> PlacedPort {
    let shown = |other: &Arc<Object>| {
        let (device, name) = (text(other, "spec.deviceRef.name"), text(other, "spec.name"));
        format!("{} {}", device.unwrap_or_default(), name.unwrap_or_default())
    };
    PlacedPort {
        name: text(port, "spec.name").unwrap_or_default().to_owned(),
        mac: text(port, "spec.macAddress").map(str::to_owned),
        connected_to: across(port, world).first().map(shown),
    }
}

/// The ports at the other ends of the cables in a port.
fn across(port: &Arc<Object>, world: &dyn QueryContext) -> Vec<Arc<Object>> {
    let cables = world.bucket(CABLES_IN_PORT, port.name());
    let ends = cables.iter().filter_map(|cable| cable.at("spec.endpoints").and_then(Value::as_array));
    let names = ends.flatten().filter_map(|end| end["name"].as_str()).filter(|name| *name != port.name());
    names.filter_map(|name| world.get(&at(PORTS, name))).collect()
}

/// Follows power cables from a port to the feeds of the rack, through the inlets of PDUs.
fn trace_feeds(port: &Arc<Object>, world: &dyn QueryContext, depth: usize, feeds: &mut BTreeSet<String>) {
    for other in across(port, world) {
        if let Some(feed) = text(&other, "spec.power.feed") {
            feeds.insert(feed.to_owned());
        }
        let inlet = text(&other, "spec.power.inletRef.name").and_then(|name| world.get(&at(PORTS, name)));
        if let Some(inlet) = inlet.filter(|_| depth > 0) {
            trace_feeds(&inlet, world, depth - 1, feeds);
        }
    }
}

//! Finds the Node of the inventory that a host is: by reference, serial number, MAC address or name, in this order.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::QueryContext;

use crate::INVENTORY_GROUP;
use crate::inventory::{NODES, PORTS_BY_MAC, at, text};
use crate::kinds::Host;
use crate::kinds::host::FoundBy;

/// The condition that tells which Node a host is.
pub const INVENTORY_MATCHED: &str = "InventoryMatched";

/// What a search for the Node of a host found.
pub enum Match {
    /// One Node.
    Found(Arc<Object>, FoundBy),
    /// Several that fit equally well.
    Ambiguous(Vec<String>, &'static str),
    /// None.
    Nothing(String),
}

/// Searches for the Node of a host. The first thing that any Node has in common with it decides.
pub fn find(host: &Host, world: &dyn QueryContext) -> Match {
    if let Some(wanted) = &host.spec.node_ref {
        return match world.get(&at(NODES, &wanted.name)) {
            Some(node) => Match::Found(node, FoundBy::Reference),
            None => Match::Nothing(format!("Node {} not found", wanted.name)),
        };
    }
    let hardware = host.spec.hardware.as_ref();
    if let Some(serial) = hardware.and_then(|hardware| hardware.serial.as_deref()) {
        let nodes = world.having(INVENTORY_GROUP, NODES, "spec.serial", serial);
        match nodes.as_slice() {
            [] => {}
            [node] => return Match::Found(node.clone(), FoundBy::Serial),
            several => return Match::Ambiguous(names(several), "serial number"),
        }
    }
    let nodes: Vec<Arc<Object>> =
        nodes_with_mac(host, world).iter().filter_map(|name| world.get(&at(NODES, name))).collect();
    match nodes.as_slice() {
        [] => {}
        [node] => return Match::Found(node.clone(), FoundBy::MAC),
        several => return Match::Ambiguous(names(several), "MAC addresses"),
    }
    let candidates = [host.display_name(), &host.metadata.name];
    match candidates.iter().find_map(|name| world.get(&at(NODES, name))) {
        Some(node) => Match::Found(node, FoundBy::Name),
        None => {
            Match::Nothing("No Node has its serial number, one of its MAC addresses or its name".to_owned())
        }
    }
}

impl Match {
    /// What the condition of the host says.
    pub fn finding(&self) -> Finding {
        match self {
            Match::Found(node, by) => {
                let (reason, how) = match by {
                    FoundBy::Reference => ("FoundByReference", "spec.nodeRef names it"),
                    FoundBy::Serial => ("FoundBySerial", "it has the same serial number"),
                    FoundBy::MAC => ("FoundByMAC", "one of its ports has a MAC address of the host"),
                    FoundBy::Name => ("FoundByName", "it has the same name"),
                };
                Finding::holds(INVENTORY_MATCHED, reason, format!("Node {}: {how}", node.name()))
            }
            Match::Ambiguous(names, what) => {
                let all = names.join(", ");
                let why = format!("Nodes {all} have the {what} of the host; set spec.nodeRef to one of them");
                Finding::fails(INVENTORY_MATCHED, "SeveralNodes", why)
            }
            Match::Nothing(why) => Finding::fails(INVENTORY_MATCHED, "NoNode", why.clone()),
        }
    }
}

/// The names of the Nodes with a port that has a MAC address of the host.
fn nodes_with_mac(host: &Host, world: &dyn QueryContext) -> BTreeSet<String> {
    let nics = host.spec.hardware.iter().flat_map(|hardware| &hardware.nics);
    let macs = host.spec.boot_mac.iter().chain(nics.filter_map(|nic| nic.mac.as_ref()));
    let macs: BTreeSet<String> = macs.map(|mac| mac.to_lowercase()).filter(|mac| !mac.is_empty()).collect();
    let ports = macs.iter().flat_map(|mac| world.bucket(PORTS_BY_MAC, mac));
    let of_node = ports.filter(|port| text(port, "spec.deviceRef.kind") == Some("Node"));
    of_node.filter_map(|port| text(&port, "spec.deviceRef.name").map(str::to_owned)).collect()
}

fn names(nodes: &[Arc<Object>]) -> Vec<String> {
    nodes.iter().map(|node| node.name().to_owned()).collect()
}

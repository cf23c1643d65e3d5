//! What hosts are joined to in the inventory: its resources and indexes, by name. The inventory is a subject of its own.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket};

/// Resource of nodes.
pub const NODES: &str = "nodes";
/// Resource of ports.
pub const PORTS: &str = "ports";

/// Bucket of the ports with a MAC address, in lower case.
pub const PORTS_BY_MAC: Bucket = Bucket::new("inventory.miloapis.com/mac");
/// Bucket of the ports of a device, as `Kind/name`.
pub const PORTS_OF_DEVICE: Bucket =
    Bucket::new("inventory.miloapis.com/on-device").stored_as("inventory-on-device");
/// Bucket of the cables in a port, by its name.
pub const CABLES_IN_PORT: Bucket =
    Bucket::new("inventory.miloapis.com/in-port").stored_as("inventory-in-port");

/// Where an object of the inventory is.
pub fn at(plural: &str, name: &str) -> Address {
    Address {
        group: crate::INVENTORY_GROUP.to_owned(),
        plural: plural.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

/// A text of an object.
pub fn text<'a>(object: &'a Arc<Object>, path: &str) -> Option<&'a str> {
    object.at(path).and_then(serde_json::Value::as_str)
}

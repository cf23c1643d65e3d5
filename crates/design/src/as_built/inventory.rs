//! The fields of an inventory Node that are compared with a design.

use serde_json::Value;

/// The fields of a Node of the inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InventoryNode {
    /// Its name.
    pub name: String,
    /// Rack of the node.
    pub rack: Option<String>,
    /// Its addresses and names.
    pub addresses: Vec<String>,
    /// Its disks by name, with their bytes.
    pub disks: Vec<(String, u64)>,
}

impl InventoryNode {
    /// Reads a Node object; nothing if it is of another kind.
    pub fn of(object: &Value) -> Option<Self> {
        let version = object["apiVersion"].as_str()?;
        if object["kind"] != "Node" || !version.starts_with("inventory.miloapis.com/") {
            return None;
        }
        let spec = &object["spec"];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let disk = |disk: &Value| Some((disk["name"].as_str()?.to_owned(), disk["sizeBytes"].as_u64()?));
        Some(Self {
            name: object["metadata"]["name"].as_str()?.to_owned(),
            rack: spec["placement"]["rackRef"]["name"].as_str().map(str::to_owned),
            addresses: list(&spec["addresses"])
                .iter()
                .filter_map(|one| one["address"].as_str().map(str::to_owned))
                .collect(),
            disks: list(&spec["hardware"]["disks"]).iter().filter_map(disk).collect(),
        })
    }
}

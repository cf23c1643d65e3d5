//! The devices of one machine, as lshw prints them in XML or JSON.

use serde_json::Value as Json;

/// One device that lshw saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Device {
    pub(super) id: String,
    pub(super) class: String,
    pub(super) bus_info: Option<String>,
    logical_name: Option<String>,
    pub(crate) product: Option<String>,
    pub(crate) vendor: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) capabilities: Vec<String>,
    /// How many devices after this one in the list are part of it.
    pub(super) parts: usize,
}

impl Device {
    /// What the system calls it: what follows the last slash.
    pub(crate) fn name(&self) -> Option<&str> {
        let name = self.logical_name.as_deref()?;
        let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
        (!name.is_empty()).then_some(name)
    }

    /// Adds a device and its parts, in document order, to a list.
    pub(super) fn add_xml(node: &roxmltree::Node<'_, '_>, devices: &mut Vec<Device>) {
        let own = devices.len();
        devices.push(Self::of_xml(node));
        for part in node.children().filter(|child| child.has_tag_name("node")) {
            Self::add_xml(&part, devices);
        }
        devices[own].parts = devices.len() - own - 1;
    }

    fn of_xml(node: &roxmltree::Node<'_, '_>) -> Self {
        let child = |name: &str| node.children().find(|child| child.has_tag_name(name));
        let text = |name: &str| child(name).and_then(|child| child.text()).map(|text| text.trim().to_owned());
        let capabilities = child("capabilities").into_iter().flat_map(|all| all.children());
        let attribute = |name: &str| node.attribute(name).unwrap_or_default().to_owned();
        Self {
            id: attribute("id"),
            class: attribute("class"),
            bus_info: text("businfo"),
            logical_name: text("logicalname"),
            product: text("product"),
            vendor: text("vendor"),
            serial: text("serial"),
            version: text("version"),
            bytes: child("size")
                .filter(|size| size.attribute("units") == Some("bytes"))
                .and_then(|size| size.text()?.trim().parse().ok()),
            capabilities: capabilities.filter_map(|one| one.attribute("id")).map(str::to_owned).collect(),
            parts: 0,
        }
    }

    /// The same of `lshw -json`, which prints a device, or a list of them, with their parts under `children`.
    pub(super) fn add_json(value: &Json, devices: &mut Vec<Device>) {
        if let Some(list) = value.as_array() {
            list.iter().for_each(|one| Self::add_json(one, devices));
            return;
        }
        if !value.is_object() {
            return;
        }
        let own = devices.len();
        devices.push(Self::of_json(value));
        Self::add_json(&value["children"], devices);
        devices[own].parts = devices.len() - own - 1;
    }

    fn of_json(value: &Json) -> Self {
        // A device with several names has a list of them.
        let text = |key: &str| {
            let one = value[key].as_array().and_then(|list| list.first()).unwrap_or(&value[key]);
            one.as_str().map(|text| text.trim().to_owned())
        };
        Self {
            id: text("id").unwrap_or_default(),
            class: text("class").unwrap_or_default(),
            bus_info: text("businfo"),
            logical_name: text("logicalname"),
            product: text("product"),
            vendor: text("vendor"),
            serial: text("serial"),
            version: text("version"),
            bytes: value["size"].as_u64().filter(|_| value["units"] == "bytes"),
            capabilities: value["capabilities"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|one| one.0.clone())
                .collect(),
            parts: 0,
        }
    }
}

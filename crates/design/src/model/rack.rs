//! Rack: a rack with its switches and location.

use std::sync::Arc;

use super::{
    DocumentRef, Field, Set, Texts,
    section::{Reading, Section},
};

/// A cabinet of the site.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The switches at its top.
    pub tor_switches: Vec<TorSwitch>,
    /// Location, as free key-value pairs.
    pub location: Texts,
    /// Networks that do not leave the rack.
    pub local_networks: Vec<Set<String>>,
}

/// A switch at the top of a rack.
#[derive(Clone, Debug)]
pub struct TorSwitch {
    /// Its name.
    pub name: Set<String>,
    /// Where it is managed.
    pub mgmt_ip: Field<String>,
    /// The controller that manages it. The original drops it.
    pub sdn_api_uri: Field<String>,
}

impl Rack {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &["tor_switches", "location", "local_networks", "labels"]);
        data.section(reading, "labels");
        if let Some(location) = data.section(reading, "location") {
            location.text(reading, "clli");
            location.text(reading, "grid");
        }
        Self {
            document: reading.document(),
            tor_switches: TorSwitch::read_all(reading, data),
            location: data.loose_text_map(reading, "location").unwrap_or_default(),
            local_networks: data.texts(reading, "local_networks").unwrap_or_default(),
        }
    }
}

impl TorSwitch {
    fn read_all(reading: &mut Reading, data: &Section) -> Vec<Self> {
        let Some(section) = data.section(reading, "tor_switches") else { return Vec::new() };
        let mut switches = Vec::new();
        for (name, node) in section.things(reading) {
            let path = section.path_of(&name.value);
            if let Some(switch) = Section::loose(reading, node, path) {
                switches.push(Self::read(reading, name, &switch));
            }
        }
        switches
    }

    fn read(reading: &mut Reading, name: Set<String>, switch: &Section) -> Self {
        Self {
            name,
            mgmt_ip: switch.loose_text(reading, "mgmt_ip"),
            sdn_api_uri: switch.loose_text(reading, "sdn_api_uri"),
        }
    }
}

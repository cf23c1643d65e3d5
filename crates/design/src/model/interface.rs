//! An interface of a host: its link, the devices under it, the networks on it.

use super::{
    Field, Set,
    section::{Reading, Section},
};

/// An interface of a host. A name that begins with `!` takes the interface away.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: Set<String>,
    /// The link it is plugged into.
    pub link: Field<String>,
    /// Device names or aliases under it.
    pub slaves: Vec<Set<String>>,
    /// The networks on it.
    pub networks: Vec<Set<String>>,
    /// Virtual functions, if it has any.
    pub sriov: Option<Sriov>,
}

/// Virtual functions of an interface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sriov {
    /// Number. Defaults to 0.
    pub vf_count: Field<i64>,
    /// Whether they are trusted. Defaults to false.
    pub trustedmode: Field<bool>,
}

impl Interface {
    /// An interface of which nothing is known but the name.
    pub fn bare(name: Set<String>) -> Self {
        Self { name, link: None, slaves: Vec::new(), networks: Vec::new(), sriov: None }
    }

    /// The interfaces under `interfaces`. One given as null is taken away, as the documentation of the original promises.
    pub(super) fn read_all(reading: &mut Reading, data: &Section) -> Vec<Self> {
        let Some(section) = data.section(reading, "interfaces") else { return Vec::new() };
        let mut interfaces = Vec::new();
        for (name, node) in section.things(reading) {
            if node.value.is_null() {
                interfaces.push(Self::bare(name.map(|name| format!("!{name}"))));
                continue;
            }
            let path = section.path_of(&name.value);
            if let Some(interface) = Section::of(reading, node, path) {
                interfaces.push(Self::read(reading, name, &interface));
            }
        }
        interfaces
    }

    fn read(reading: &mut Reading, name: Set<String>, interface: &Section) -> Self {
        Self {
            name,
            link: interface.text(reading, "device_link"),
            slaves: interface.texts(reading, "slaves").unwrap_or_default(),
            networks: interface.texts(reading, "networks").unwrap_or_default(),
            sriov: Sriov::read(reading, interface),
        }
    }
}

impl Sriov {
    /// The schema of the original knows the stanza in profiles only; in nodes its model alone looks at it. The legacy
    /// envelope has none.
    fn read(reading: &mut Reading, interface: &Section) -> Option<Self> {
        if !reading.is_strict() {
            return None;
        }
        if reading.document().kind == "HostProfile" {
            let stanza = interface.section(reading, "sriov")?;
            stanza.flag(reading, "trustmode");
            let vf_count = stanza.integer(reading, "vf_count");
            return Some(Self { vf_count, trustedmode: stanza.truth(reading, "trustedmode") });
        }
        let stanza = Section::loose(reading, interface.raw("sriov")?, interface.path_of("sriov"))?;
        let vf_count = stanza.loose_integer(reading, "vf_count");
        Some(Self { vf_count, trustedmode: stanza.truth(reading, "trustedmode") })
    }
}

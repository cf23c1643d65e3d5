//! An interface of a host: its link, the devices under it, the networks on it.

use super::{
    Field, Set,
    section::{Reading, Section},
};

/// An interface of a host. A name that begins with `!` takes the interface away.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug, Default)]
pub struct Sriov {
    /// How many; none unless said.
    pub vf_count: Field<i64>,
    /// Whether they are trusted; not unless said.
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
        for (name, node) in section.members(reading) {
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
        let sriov = interface.section(reading, "sriov").filter(|_| reading.is_strict());
        Self {
            name,
            link: interface.text(reading, "device_link"),
            slaves: interface.texts(reading, "slaves").unwrap_or_default(),
            networks: interface.texts(reading, "networks").unwrap_or_default(),
            sriov: sriov.map(|sriov| Sriov {
                vf_count: sriov.integer(reading, "vf_count"),
                trustedmode: sriov.flag(reading, "trustedmode"),
            }),
        }
    }
}

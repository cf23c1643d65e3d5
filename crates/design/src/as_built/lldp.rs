//! LLDP data of a machine: the switch that each port is connected to.

use super::{Comparison, Verdict};
use crate::{
    compile::{LshwError, Node},
    model::{Rack, text},
};

/// The neighbours that lldpd heard of on one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lldp {
    neighbours: Vec<Neighbour>,
}

/// The other end of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Neighbour {
    /// Device name of the port.
    interface: String,
    /// System name of the neighbor.
    name: Option<String>,
    /// Where it is managed.
    addresses: Vec<String>,
    /// Which port of the neighbour it is.
    port: Option<String>,
}

impl Lldp {
    /// Reads what `lldpctl -f xml` wrote.
    pub fn parse(xml: &str) -> Result<Self, LshwError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(xml, options)?;
        let interfaces = document.descendants().filter(|node| node.has_tag_name("interface"));
        let neighbours = interfaces.filter_map(|interface| {
            let part = |name: &str| interface.children().find(|child| child.has_tag_name(name));
            let texts = |of: Option<roxmltree::Node<'_, '_>>, name: &str| -> Vec<String> {
                let children = of.into_iter().flat_map(|of| of.children().collect::<Vec<_>>());
                let named = children.filter(|child| child.has_tag_name(name));
                named.filter_map(|child| child.text().map(|text| text.trim().to_owned())).collect()
            };
            let chassis = part("chassis");
            Some(Neighbour {
                interface: interface.attribute("name")?.to_owned(),
                name: texts(chassis, "name").into_iter().next(),
                addresses: texts(chassis, "mgmt-ip"),
                port: texts(part("port"), "id").into_iter().next(),
            })
        });
        Ok(Self { neighbours: neighbours.collect() })
    }

    fn on(&self, interface: &str) -> Option<&Neighbour> {
        self.neighbours.iter().find(|neighbour| neighbour.interface == interface)
    }
}

impl Neighbour {
    fn shown(&self) -> String {
        let name = self.name.as_deref().or(self.addresses.first().map(String::as_str)).unwrap_or("somebody");
        match &self.port {
            Some(port) => format!("{name} port {port}"),
            None => name.to_owned(),
        }
    }
}

/// Each port of a node beside the switches of its rack. A rack that names no switch has nothing to compare.
pub(super) fn ports(node: &Node, rack: Option<&Rack>, lldp: Option<&Lldp>) -> Vec<Comparison> {
    let switches = rack.map(|rack| rack.tor_switches.as_slice()).unwrap_or_default();
    if switches.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = switches.iter().map(|switch| switch.name.value.as_str()).collect();
    let is_ours = |neighbour: &Neighbour| {
        switches.iter().any(|switch| {
            let by_name =
                neighbour.name.as_deref().is_some_and(|name| is_same_host(name, &switch.name.value));
            let address = text(&switch.mgmt_ip);
            by_name || address.is_some_and(|address| neighbour.addresses.iter().any(|one| one == address))
        })
    };
    let mut ports = Vec::new();
    for interface in &node.effective.settings.interfaces {
        for slave in &interface.slaves {
            let neighbour = lldp.and_then(|lldp| lldp.on(node.logical_name(&slave.value)));
            ports.push(Comparison {
                field: format!("interfaces.{}.slaves[{}] (neighbour)", interface.name.value, slave.value),
                designed: names.join(" or "),
                built: neighbour.map(Neighbour::shown),
                verdict: match (lldp, neighbour) {
                    (None, _) => Verdict::NotSeen,
                    (Some(_), None) => Verdict::Missing,
                    (Some(_), Some(neighbour)) if is_ours(neighbour) => Verdict::Same,
                    (Some(_), Some(_)) => Verdict::Differs,
                },
            });
        }
    }
    ports
}

/// A switch may call itself by its full name.
fn is_same_host(found: &str, designed: &str) -> bool {
    found == designed || found.strip_prefix(designed).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_as_lldpctl_writes_them() {
        let xml = r#"<?xml version="1.0"?><lldp><interface name="eno1" via="LLDP"><chassis><id type="mac">a</id><name>tor1.dc</name>
            <mgmt-ip>10.0.0.2</mgmt-ip></chassis><port><id type="ifname">Eth1/7</id></port></interface></lldp>"#;
        let lldp = Lldp::parse(xml).unwrap();
        assert_eq!(lldp.on("eno1").map(Neighbour::shown).as_deref(), Some("tor1.dc port Eth1/7"));
        assert_eq!(lldp.on("eno2"), None);
        assert!(is_same_host("tor1.dc", "tor1") && !is_same_host("tor10", "tor1"));
        assert!(Lldp::parse("<lldp>").is_err());
    }
}

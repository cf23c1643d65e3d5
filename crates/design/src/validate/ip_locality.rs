//! Gateways and static addresses lie in their networks.

use super::{
    finding::{Findings, Validator},
    subnet::{contains, subnet},
};
use crate::{
    compile::{Node, Site},
    model::{Design, Network},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2002", drydock_id: Some("DD2002"), title: "IP Locality Check", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    if site.networks.is_empty() {
        let advice = "Site design likely incomplete without defined networks";
        findings.warning("No networks found.".to_owned(), advice, &[]);
    }
    for network in &site.networks {
        check_gateways(network, findings);
    }
    if site.nodes.is_empty() {
        let advice = "Site design likely incomplete without defined nodes.";
        findings.warning("No baremetal_nodes found.".to_owned(), advice, &[]);
    }
    for node in &site.nodes {
        check_addresses(node, site, findings);
    }
}

fn check_gateways(network: &Network, findings: &mut Findings) {
    let cidr = &network.cidr.value;
    for route in &network.routes {
        let Some(gateway) = &route.gateway else {
            let to = route.subnet.as_deref().unwrap_or("nowhere");
            let message = format!("No gateway found for route to {to}.");
            findings.error(message, "Define a gateway for the route.", &[&network.document]);
            continue;
        };
        if subnet(cidr).is_some_and(|subnet| !contains(&subnet, gateway)) {
            let message = format!(
                "The gateway IP Address {gateway} is not within the defined CIDR: {cidr} of {}.",
                network.name()
            );
            findings.error(message, "Define a gateway inside the network.", &[&network.document]);
        }
    }
}

fn check_addresses(node: &Node, site: &Site, findings: &mut Findings) {
    for (name, address) in node.static_addresses() {
        let Some(network) = site.network(name) else {
            let advice = "Define network or correct address definition.";
            findings.error(format!("{name} is not a valid network."), advice, &[&node.document]);
            continue;
        };
        let cidr = &network.cidr.value;
        if subnet(cidr).is_some_and(|subnet| !contains(&subnet, address)) {
            let message =
                format!("The IP Address {address} is not within the defined CIDR: {cidr} of {name}.");
            findings.error(message, "Use an address inside the network.", &[&node.document]);
        }
    }
}

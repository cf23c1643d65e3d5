//! What should be an address or a subnet is one. The original crashes on what is not.

use std::net::IpAddr;

use super::{
    finding::{Findings, Validator},
    subnet::subnet,
};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2009", drydock_id: None, title: "Malformed Addresses", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for network in &site.networks {
        let mut told = |what: &str, written: &str, advice: &str| {
            findings.error(
                format!("{what} of {} is invalid: `{written}`.", network.name()),
                advice,
                &[&network.document],
            );
        };
        if subnet(&network.cidr.value).is_none() {
            told("The subnet", &network.cidr.value, "Use CIDR notation, such as 10.0.0.0/24.");
        }
        for route in &network.routes {
            if let Some(gateway) = route.gateway.as_deref().filter(|gateway| !is_address(gateway)) {
                told("A gateway", gateway, "Use an IP address.");
            }
            if let Some(to) = route.subnet.as_deref().filter(|to| subnet(to).is_none()) {
                told("The subnet of a route", to, "Use CIDR notation, such as 10.0.0.0/24.");
            }
        }
    }
    for node in &site.nodes {
        for (network, address) in node.static_addresses().filter(|(_, address)| !is_address(address)) {
            let message = format!("The address of {} on {network} is invalid: `{address}`.", node.name());
            findings.error(message, "Use an IP address, or `dhcp`.", &[&node.document]);
        }
    }
}

pub(super) fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

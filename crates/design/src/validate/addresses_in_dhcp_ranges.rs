//! No static address lies where a DHCP server gives addresses out.

use std::net::IpAddr;

use super::{
    finding::{Findings, Validator},
    ranges::bounds,
};
use crate::{
    compile::Site,
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2008", drydock_id: None, title: "Static Addresses Outside DHCP Ranges", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for (name, address) in node.static_addresses() {
            let (Some(network), Ok(ip)) = (site.network(name), address.parse::<IpAddr>()) else { continue };
            let mut given_out = network.ranges.iter().filter(|range| text(&range.kind) == Some("dhcp"));
            if given_out.any(|range| bounds(range).is_some_and(|(start, end)| start <= ip && ip <= end)) {
                let message = format!("The static address {address} is in a DHCP range of {name}.");
                let advice = "Use an address of a static range.";
                findings.error(message, advice, &[&node.document, &network.document]);
            }
        }
    }
}

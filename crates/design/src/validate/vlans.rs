//! VLAN tags are numbers that a tag can have, `0` for none; two networks of a link rarely share one.

use std::collections::HashMap;

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, Network, text, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2011", drydock_id: None, title: "VLAN Tags", check };

/// The tag of an untagged network.
const UNTAGGED: &str = "0";

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for network in &site.networks {
        let Some(written) = tag_of(network) else { continue };
        if !written.parse::<u16>().is_ok_and(|tag| (1..=4094).contains(&tag)) {
            let message = format!("The VLAN id `{written}` of {} is invalid.", network.name());
            let advice = "Use a number from 1 to 4094, or 0 for an untagged network.";
            findings.error(message, advice, &[&network.document]);
        }
    }
    for link in &design.network_links {
        let mut tags: HashMap<&str, &str> = HashMap::new();
        for network in values(&link.allowed_networks).filter_map(|name| site.network(name)) {
            let Some(tag) = tag_of(network) else { continue };
            if let Some(other) = tags.insert(tag, network.name()).filter(|other| *other != network.name()) {
                let message = format!(
                    "{other} and {} have the same VLAN id {tag} on link {}.",
                    network.name(),
                    link.document.name
                );
                // Several subnets may share a VLAN; mostly it is a copied line.
                let advice = "Use a different VLAN id for each network of a link, unless they share a VLAN.";
                findings.warning(message, advice, &[&network.document, &link.document]);
            }
        }
    }
}

/// The tag of a network that is tagged.
fn tag_of(network: &Network) -> Option<&str> {
    text(&network.vlan).map(str::trim).filter(|vlan| !vlan.is_empty() && *vlan != UNTAGGED)
}

//! VLAN tags are numbers that a tag can have, and no two networks of a link share one.

use std::collections::HashMap;

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, text, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2011", drydock_id: None, title: "VLAN Tags", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for network in &site.networks {
        let Some(written) = text(&network.vlan).filter(|vlan| !vlan.is_empty()) else { continue };
        if !written.parse::<u16>().is_ok_and(|tag| (1..=4094).contains(&tag)) {
            let message = format!("The VLAN id `{written}` of {} is invalid.", network.name());
            findings.error(message, "Use a number from 1 to 4094.", &[&network.document]);
        }
    }
    for link in &design.network_links {
        let mut tags: HashMap<&str, &str> = HashMap::new();
        for network in values(&link.allowed_networks).filter_map(|name| site.network(name)) {
            let Some(tag) = text(&network.vlan) else { continue };
            if let Some(other) = tags.insert(tag, network.name()).filter(|other| *other != network.name()) {
                let message = format!(
                    "{other} and {} have the same VLAN id {tag} on link {}.",
                    network.name(),
                    link.document.name
                );
                findings.error(
                    message,
                    "Use a different VLAN id for each network of a link.",
                    &[&network.document, &link.document],
                );
            }
        }
    }
}

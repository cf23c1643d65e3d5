//! A network is allowed on one link, and interfaces have only networks that their link allows.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Profile, Site},
    model::{Design, text, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1007", drydock_id: Some("DD1007"), title: "Allowed Network Check", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    let links = &design.network_links;
    for (i, link) in links.iter().enumerate() {
        for other in &links[i + 1..] {
            let shared = values(&link.allowed_networks)
                .filter(|network| values(&other.allowed_networks).any(|theirs| theirs == *network));
            for network in shared {
                let message = format!(
                    "Allowed network {network} duplicated on NetworkLink {} and NetworkLink {}",
                    link.document.name, other.document.name
                );
                // The original names no documents here, and its readers compare them.
                findings.error(message, "Allow a network on one link only.", &[]);
            }
        }
    }
    for node in &site.nodes {
        check_interfaces(node, design, site, findings);
    }
}

/// How many networks a node takes away from an interface that it does not inherit: it was meant to.
fn markers(node: &Node, interface: &str, design: &Design, site: &Site) -> usize {
    let inherits = |profile: &Profile| {
        let interfaces = &profile.effective.settings.interfaces;
        Some(profile.document.name.as_str()) == text(&node.parent)
            && interfaces.iter().any(|one| one.name.value == interface)
    };
    if site.profiles.iter().any(inherits) {
        return 0;
    }
    let written = design.nodes.iter().find(|written| written.document == node.document);
    let written =
        written.and_then(|one| one.settings.interfaces.iter().find(|own| own.name.value == interface));
    written.map_or(0, |own| own.networks.len())
}

fn check_interfaces(node: &Node, design: &Design, site: &Site, findings: &mut Findings) {
    for interface in &node.effective.settings.interfaces {
        let name = &interface.name.value;
        let wanted = text(&interface.link);
        let link = design.network_links.iter().find(|link| Some(link.document.name.as_str()) == wanted);
        let Some(link) = link else {
            // An interface without networks needs no link: a port whose virtual functions are all that is used. Told for each
            // network, as readers of the original's messages count them.
            for _ in 0..interface.networks.len().max(markers(node, name, design, site)) {
                let wanted = wanted.unwrap_or("None");
                let message = format!("Interface {name} connected to undefined network link {wanted}.");
                findings.error(message, "Define the link or correct the interface.", &[&node.document]);
            }
            continue;
        };
        for network in values(&interface.networks) {
            if !values(&link.allowed_networks).any(|allowed| allowed == network) {
                let message =
                    format!("Interface {name} attached to network {network} not allowed on interface link");
                let advice = "Interfaces can only be attached to networks allowed on the network link connected to the interface.";
                findings.error(message, advice, &[&node.document]);
            }
        }
    }
}

//! Every profile, network and rack that is named is defined. What a node needs of it refuses the design before this.

use std::{collections::HashSet, sync::Arc};

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Address, Design, DocumentRef, text, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP6001", drydock_id: None, title: "Dangling References", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    let networks: HashSet<&str> = site.networks.iter().map(|network| network.name()).collect();
    for profile in &site.profiles {
        if let Some(refusal) = &profile.mistake {
            let advice = "Define the profile or correct the name.";
            // A node that inherits from it refuses the design; without one, nothing is built from the profile.
            findings.warning(format!("{refusal}."), advice, &[&profile.document]);
        }
    }
    let mut network = |name: &str, field: &str, document: &Arc<DocumentRef>| {
        if !networks.contains(name) {
            let message = format!("{field} of {document} refers to network {name}, which is not defined.");
            findings.error(message, "Define the network or correct the name.", &[document]);
        }
    };
    for link in &design.network_links {
        if let Some(native) = text(&link.native_network) {
            network(native, "trunking.default_network", &link.document);
        }
        for allowed in values(&link.allowed_networks) {
            network(allowed, "allowed_networks", &link.document);
        }
    }
    for node in &site.nodes {
        let settings = &node.effective.settings;
        if let Some(primary) = text(&settings.primary_network) {
            network(primary, "primary_network", &node.document);
        }
        if let Some(oob) = settings.oob_parameters.get("network").filter(|oob| !oob.value.is_empty()) {
            network(&oob.value, "oob.network", &node.document);
        }
        for entry in node.addressing.iter().filter(|entry| entry.address == Address::Dhcp) {
            network(text(&entry.network).unwrap_or_default(), "addressing", &node.document);
        }
        for attached in settings.interfaces.iter().flat_map(|interface| values(&interface.networks)) {
            network(attached, "interfaces", &node.document);
        }
    }
    check_drivers(design, site, findings);
    let racks: HashSet<&str> = design.racks.iter().map(|rack| rack.document.name.as_str()).collect();
    for node in &site.nodes {
        let rack = text(&node.effective.settings.rack).filter(|rack| !racks.contains(rack));
        if let Some(rack) = rack {
            let message =
                format!("metadata.rack of {} refers to rack {rack}, which is not defined.", node.document);
            findings.warning(message, "Define the rack or correct the name.", &[&node.document]);
        }
    }
}

/// Driver packages that are named, and the repositories they come from.
fn check_drivers(design: &Design, site: &Site, findings: &mut Findings) {
    let packages: HashSet<&str> = design.driver_packages.iter().map(|package| package.name()).collect();
    for node in &site.nodes {
        for driver in values(&node.machine.drivers).filter(|driver| !packages.contains(driver)) {
            let message = format!(
                "drivers of {} refers to driver package {driver}, which is not defined.",
                node.document
            );
            findings.error(message, "Define the driver package or correct the name.", &[&node.document]);
        }
    }
    let listed = design.region.iter().flat_map(|region| &region.repositories).flat_map(|all| &all.list);
    let repositories: HashSet<&str> = listed.map(|one| one.name.value.as_str()).collect();
    for package in &design.driver_packages {
        let repository = text(&package.repository).filter(|repository| !repositories.contains(repository));
        if let Some(repository) = repository {
            let message = format!(
                "repository of {} refers to {repository}, which is not a repository of the region.",
                package.document
            );
            findings.error(
                message,
                "Add the repository to the region, or correct the name.",
                &[&package.document],
            );
        }
    }
}

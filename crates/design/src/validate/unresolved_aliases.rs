//! Every alias matches a detected device, if hardware data is available.

use super::finding::{Findings, Severity, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, text, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1010", drydock_id: None, title: "Unresolved Aliases", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for alias in &node.unresolved {
            let message = format!("Alias {alias} matches no detected device of {}.", node.name());
            let advice =
                "Correct the address in the hardware profile, or check that the device is installed.";
            // Models list devices that not every machine has; only those that the node uses must be there.
            let severity = if uses(node, alias) { Severity::Error } else { Severity::Warning };
            findings.tell(severity, message, advice, &[&node.document]);
        }
    }
}

fn uses(node: &Node, alias: &str) -> bool {
    let settings = &node.effective.settings;
    let raid = node.machine.raid.iter().flat_map(|volume| volume.disks.iter().chain(&volume.spares));
    settings.interfaces.iter().any(|interface| values(&interface.slaves).any(|slave| slave == alias))
        || settings.storage_devices.iter().any(|device| device.name.value == alias)
        || text(&node.machine.boot_device) == Some(alias)
        || raid.into_iter().any(|disk| disk.value == alias)
}

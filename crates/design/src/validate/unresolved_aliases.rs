//! Every alias matches a detected device, if hardware data is available.

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1010", drydock_id: None, title: "Unresolved Aliases", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for alias in &node.unresolved {
            let message = format!("Alias {alias} matches no detected device of {}.", node.name());
            let advice =
                "Correct the address in the hardware profile, or check that the device is installed.";
            findings.error(message, advice, &[&node.document]);
        }
    }
}

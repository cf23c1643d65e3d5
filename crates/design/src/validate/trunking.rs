//! A link without tags carries one network, and that untagged.

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, TrunkMode, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2004", drydock_id: Some("DD2004"), title: "Network Trunking Rationalty", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for link in design.network_links.iter().filter(|link| link.trunk_mode == TrunkMode::Disabled) {
        if link.allowed_networks.len() > 1 {
            let message = "If there is more than 1 allowed network, trunking mode must be enabled".to_owned();
            findings.error(message, "Enable trunking, or allow one network.", &[&link.document]);
        }
        let Some(native) = text(&link.native_network) else {
            let message = "Trunking mode is disabled, a trunking default_network must be defined".to_owned();
            findings.error(message, "Define a default_network for the link.", &[&link.document]);
            continue;
        };
        // A native network that is not defined is told of where dangling references are.
        let tagged =
            site.network(native).filter(|network| text(&network.vlan).is_some_and(|vlan| !vlan.is_empty()));
        if let Some(network) = tagged {
            let message = "Network link native network has a defined VLAN tag.".to_owned();
            let advice = "Tagged networks need trunking; remove the VLAN tag of the native network.";
            findings.error(message, advice, &[&network.document, &link.document]);
        }
    }
}

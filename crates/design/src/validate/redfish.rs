//! A node driven by Redfish has an account, and an address its BMC answers at.

use super::{
    finding::{Findings, Validator},
    ipmi::bmc_is_reachable,
};
use crate::{
    compile::Site,
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP4003", drydock_id: None, title: "Valid Redfish Configuration", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in site.nodes.iter().filter(|node| text(&node.effective.settings.oob_type) == Some("redfish")) {
        bmc_is_reachable(node, "Redfish", findings);
    }
}

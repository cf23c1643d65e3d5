//! A node driven by IPMI has an account, and an address its BMC answers at.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP4001", drydock_id: Some("DD4001"), title: "Valid IPMI Configuration", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in site.nodes.iter().filter(|node| text(&node.effective.settings.oob_type) == Some("ipmi")) {
        bmc_is_reachable(node, "IPMI", findings);
    }
}

/// The parameters and the address that any BMC driver needs.
pub(super) fn bmc_is_reachable(node: &Node, driver: &str, findings: &mut Findings) {
    let parameter = |name: &str| {
        let set = node.effective.settings.oob_parameters.get(name);
        set.map(|set| set.value.as_str()).filter(|value| !value.is_empty())
    };
    for name in ["account", "credential", "network"] {
        if parameter(name).is_none() {
            let message = format!("OOB parameter {name} for {driver} node {} missing.", node.name());
            findings.error(message, "Define the parameter under `oob`.", &[&node.document]);
        }
    }
    let network = parameter("network");
    if !node.static_addresses().any(|(on, _)| Some(on) == network) {
        let message = format!("OOB address missing for {driver} node {}.", node.name());
        findings.error(message, "Give the node a static address on its OOB network.", &[&node.document]);
    }
}

//! Every node is selected by a boot action.

use std::collections::HashSet;

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP5001", drydock_id: Some("DD4001"), title: "Bootaction Definition", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    let reached: HashSet<&str> =
        site.boot_actions.iter().flat_map(|one| &one.nodes).map(String::as_str).collect();
    for node in site.nodes.iter().filter(|node| !reached.contains(node.name())) {
        let message = format!("Node {} is not in scope for any bootactions.", node.name());
        let advice = "It is expected all nodes have at least one post-deploy action.";
        findings.warning(message, advice, &[&node.document]);
    }
}

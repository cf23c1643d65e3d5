//! No address is given twice.

use std::{collections::HashMap, sync::Arc};

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, DocumentRef},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2005", drydock_id: Some("DD2005"), title: "Duplicated IP Check", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    if site.nodes.is_empty() {
        let advice = "Site design unlikely complete with no defined baremetal nodes.";
        findings.warning("No BaremetalNodes Found.".to_owned(), advice, &[]);
    }
    let mut holders: HashMap<&str, &Arc<DocumentRef>> = HashMap::new();
    for node in &site.nodes {
        for (_, address) in node.static_addresses() {
            match holders.get(address) {
                Some(holder) => {
                    let message = format!("Duplicate IP Address Found: {address}");
                    findings.error(message, "Give each node its own address.", &[&node.document, holder]);
                }
                None => {
                    holders.insert(address, &node.document);
                }
            }
        }
    }
}

//! Boot MAC addresses are valid and unique.

use std::{collections::HashMap, sync::Arc};

use super::finding::{Findings, Severity, Validator};
use crate::{
    compile::Site,
    model::{Design, DocumentRef, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2012", drydock_id: None, title: "Boot MAC Addresses", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    let mut holders: HashMap<String, &Arc<DocumentRef>> = HashMap::new();
    for node in &site.nodes {
        let Some(mac) = text(&node.boot_mac).filter(|mac| !mac.is_empty()) else { continue };
        // A machine with a BMC is found by the address of that; only a virtual one is known by its MAC address.
        let severity = match text(&node.effective.settings.oob_type) {
            Some("libvirt") => Severity::Error,
            _ => Severity::Warning,
        };
        if !is_mac(mac) {
            let message = format!("The boot MAC address of {} is invalid: `{mac}`.", node.name());
            findings.tell(
                severity,
                message,
                "Use six hexadecimal octets, such as 00:1b:21:3c:4d:5e.",
                &[&node.document],
            );
        }
        if let Some(holder) = holders.insert(mac.to_ascii_lowercase(), &node.document) {
            let message =
                format!("{} and {} have the same boot MAC address, {mac}.", holder.name, node.name());
            findings.tell(
                severity,
                message,
                "Use a unique boot MAC address for each node.",
                &[&node.document, holder],
            );
        }
    }
}

fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split([':', '-']).collect();
    pairs.len() == 6
        && pairs.iter().all(|pair| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

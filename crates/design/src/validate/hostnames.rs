//! Full names are names by the rules of DNS.

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP3003", drydock_id: Some("DD3003"), title: "Hostname Validity", check };

const ADVICE: &str =
    "A name has at most 255 characters; its labels have 1 to 63 letters, digits and hyphens.";

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        let fqdn = &node.fqdn;
        if fqdn.chars().count() > 255 {
            findings.error(
                format!("FQDN {fqdn} is invalid, greater than 255 characters."),
                ADVICE,
                &[&node.document],
            );
        }
        for label in fqdn.split('.').filter(|label| !is_label(label)) {
            let message = format!("FQDN {fqdn} is invalid - label '{label}' is invalid.");
            findings.error(message, ADVICE, &[&node.document]);
        }
    }
}

fn is_label(label: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&label.len()) && label.bytes().all(is_allowed)
}

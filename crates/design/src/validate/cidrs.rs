//! Subnets are written without host bits.

use super::{
    finding::{Findings, Validator},
    subnet::subnet,
};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2006", drydock_id: Some("DD2006"), title: "CIDR Validity", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    if site.networks.is_empty() {
        let advice = "Site design likely incomplete without defined networks";
        findings.warning("No networks found.".to_owned(), advice, &[]);
    }
    for network in &site.networks {
        let Some(written) = subnet(&network.cidr.value) else { continue };
        let masked = written.trunc();
        if masked != written {
            let message = format!("The provided CIDR {} has host bits set", network.cidr.value);
            findings.error(message, &format!("Use {masked} for this network."), &[&network.document]);
        }
    }
}

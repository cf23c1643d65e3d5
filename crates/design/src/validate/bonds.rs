//! Up and down delay of an LACP bond are not shorter than its monitoring interval.

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{BondMode, Design},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1006", drydock_id: Some("DD1006"), title: "Network Bond Rationality", check };

fn check(design: &Design, _: &Site, findings: &mut Findings) {
    for link in design.network_links.iter().filter(|link| link.bonding.mode == BondMode::Lacp) {
        let bonding = &link.bonding;
        for (title, delay) in [("Up", bonding.up_delay), ("Down", bonding.down_delay)] {
            let (Some(delay), Some(rate)) = (delay, bonding.mon_rate) else { continue };
            if delay < rate {
                let message = format!("{title} delay {delay} is less than mon rate {rate}");
                let advice = "Link up and down delay must be equal or greater than the mon_rate";
                findings.error(message, advice, &[&link.document]);
            }
        }
    }
}

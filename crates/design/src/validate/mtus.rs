//! Packet sizes are possible, and a network's fits its link.

use std::sync::Arc;

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, NetworkLink, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2003", drydock_id: Some("DD2003"), title: "MTU Rationality", check };

const POSSIBLE: std::ops::RangeInclusive<i64> = 1280..=65536;
const ADVICE: &str = "Define an MTU between 1280 and 65536.";

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for link in &design.network_links {
        if is_impossible(link.mtu) {
            findings.error(out_of_range(link.mtu), ADVICE, &[&link.document]);
        }
    }
    for network in &site.networks {
        let Some(mtu) = network.mtu.as_ref().map(|mtu| mtu.value) else { continue };
        if is_impossible(mtu) {
            findings.error(out_of_range(mtu), ADVICE, &[&network.document]);
        }
        // A network is untagged on the link it is native to, so there the link's limit is its own. Of several links the
        // original looks at the last.
        let is_native = |link: &&Arc<NetworkLink>| text(&link.native_network) == Some(network.name());
        let native = design.network_links.iter().rev().find(is_native);
        if let Some(link) = native.filter(|link| link.mtu != 0 && mtu > link.mtu) {
            let message = format!(
                "MTU must be <= the parent Network Link; for Network {}: {mtu} > {} of {}",
                network.name(),
                link.mtu,
                link.document.name
            );
            findings.error(
                message,
                "Lower the MTU of the network or raise that of the link.",
                &[&network.document],
            );
        }
    }
}

/// Zero is the same as no MTU, as for the original.
fn is_impossible(mtu: i64) -> bool {
    mtu != 0 && !POSSIBLE.contains(&mtu)
}

fn out_of_range(mtu: i64) -> String {
    format!("MTU must be between 1280 and 65536, value is {mtu}")
}

//! Ranges of addresses lie in their network, begin before they end, and do not overlap.

use std::net::IpAddr;

use super::{
    finding::{Findings, Validator},
    subnet::subnet,
};
use crate::{
    compile::Site,
    model::{Design, Network, Range, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2007", drydock_id: None, title: "Address Ranges", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for network in &site.networks {
        check_network(network, findings);
    }
}

fn check_network(network: &Network, findings: &mut Findings) {
    let cidr = subnet(&network.cidr.value);
    let mut earlier: Vec<(IpAddr, IpAddr)> = Vec::new();
    for range in &network.ranges {
        let Some((start, end)) = bounds(range) else {
            let message = format!("A range of {} has no valid start and end address.", network.name());
            findings.error(message, "Set `start` and `end` to IP addresses.", &[&network.document]);
            continue;
        };
        if start > end {
            let message = format!("The range {start} to {end} of {} ends before it begins.", network.name());
            findings.error(message, "Swap `start` and `end`.", &[&network.document]);
        }
        if cidr.is_some_and(|cidr| !cidr.contains(&start) || !cidr.contains(&end)) {
            let message = format!("The range {start} to {end} is not within {}.", network.cidr.value);
            findings.error(message, "Use a range within the subnet.", &[&network.document]);
        }
        if earlier.iter().any(|(from, to)| start <= *to && *from <= end) {
            let message = format!("The range {start} to {end} of {} overlaps another.", network.name());
            findings.error(message, "Use ranges that do not overlap.", &[&network.document]);
        }
        earlier.push((start, end));
    }
}

/// The first and last address of a range.
pub(super) fn bounds(range: &Range) -> Option<(IpAddr, IpAddr)> {
    Some((text(&range.start)?.parse().ok()?, text(&range.end)?.parse().ok()?))
}

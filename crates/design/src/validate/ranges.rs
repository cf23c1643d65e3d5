//! Ranges of addresses lie in their network, begin before they end, and do not overlap.

use std::net::IpAddr;

use super::{
    finding::{Findings, Severity, Validator},
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
    let mut earlier: Vec<(IpAddr, IpAddr, Severity)> = Vec::new();
    for range in &network.ranges {
        let severity = weight(range);
        let mut tell = |severity: Severity, message: String, advice: &str| {
            findings.tell(severity, message, advice, &[&network.document]);
        };
        let Some((start, end)) = bounds(range) else {
            let message = format!("A range of {} has no valid start and end address.", network.name());
            tell(severity, message, "Set `start` and `end` to IP addresses.");
            continue;
        };
        if start > end {
            let message = format!("The range {start} to {end} of {} ends before it begins.", network.name());
            tell(severity, message, "Swap `start` and `end`.");
        }
        if cidr.is_some_and(|cidr| !cidr.contains(&start) || !cidr.contains(&end)) {
            let message = format!("The range {start} to {end} is not within {}.", network.cidr.value);
            tell(severity, message, "Use a range within the subnet.");
        }
        let overlapped = earlier.iter().filter(|(from, to, _)| start <= *to && *from <= end);
        if let Some(other) = overlapped.map(|(_, _, other)| *other).max() {
            let message = format!("The range {start} to {end} of {} overlaps another.", network.name());
            tell(severity.min(other), message, "Use ranges that do not overlap.");
        }
        earlier.push((start, end, severity));
    }
}

/// A provisioner creates DHCP and reserved ranges, and refuses wrong ones. Static ranges are for people.
fn weight(range: &Range) -> Severity {
    match text(&range.kind) {
        Some("dhcp" | "reserved") => Severity::Error,
        _ => Severity::Warning,
    }
}

/// The first and last address of a range.
pub(super) fn bounds(range: &Range) -> Option<(IpAddr, IpAddr)> {
    Some((text(&range.start)?.parse().ok()?, text(&range.end)?.parse().ok()?))
}

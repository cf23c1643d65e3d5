//! Networks do not overlap: an address belongs to one of them.

use ipnet::IpNet;

use super::{
    finding::{Findings, Validator},
    subnet::subnet,
};
use crate::{
    compile::Site,
    model::{Design, Network},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2013", drydock_id: None, title: "Overlapping Networks", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    let mut subnets: Vec<(IpNet, &Network)> = site
        .networks
        .iter()
        .filter_map(|network| Some((subnet(&network.cidr.value)?.trunc(), &**network)))
        .collect();
    // The wider first, so that one that holds the next is met just before it.
    subnets.sort_by_key(|(net, _)| (net.network(), net.prefix_len()));
    let mut widest: Option<(IpNet, &Network)> = None;
    for (net, network) in subnets {
        match widest {
            Some((outer, other)) if outer.contains(&net) => {
                let message = format!("{} ({net}) overlaps {} ({outer}).", network.name(), other.name());
                let advice =
                    "Use separate subnets, unless one network is meant to be routed inside the other.";
                findings.warning(message, advice, &[&network.document, &other.document]);
            }
            _ => widest = Some((net, network)),
        }
    }
}

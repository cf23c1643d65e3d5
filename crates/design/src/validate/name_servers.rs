//! Name servers are addresses, and the network a node is named by has some.

use super::{
    finding::{Findings, Validator},
    malformed_addresses::is_address,
};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP2010", drydock_id: None, title: "Name Servers", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for network in &site.networks {
        for server in network.name_servers().filter(|server| !is_address(server)) {
            let message = format!("The DNS server `{server}` of {} is not an IP address.", network.name());
            findings.error(message, "Use IP addresses, separated by commas.", &[&network.document]);
        }
    }
}

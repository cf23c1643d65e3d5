//! The addresses of one name.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::name::DnsName;

/// All addresses that a name resolves to, of both families. A family without addresses has no record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// The name that resolves.
    pub name: DnsName,
    /// Its addresses; their order means nothing.
    pub addresses: BTreeSet<IpAddr>,
}

impl Addresses {
    /// A name with its addresses.
    pub fn new(name: DnsName, addresses: impl IntoIterator<Item = IpAddr>) -> Addresses {
        Addresses { name, addresses: addresses.into_iter().collect() }
    }

    pub(crate) fn v4(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.addresses.iter().filter_map(|address| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        })
    }

    pub(crate) fn v6(&self) -> impl Iterator<Item = Ipv6Addr> + '_ {
        self.addresses.iter().filter_map(|address| match address {
            IpAddr::V6(address) => Some(*address),
            IpAddr::V4(_) => None,
        })
    }
}

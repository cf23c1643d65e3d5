//! Addresses and subnets as text, asked without failing: what cannot be read is left to the validator of subnets.

use std::net::IpAddr;

use ipnet::IpNet;

/// A subnet; an address alone is a subnet of one.
pub(super) fn subnet(cidr: &str) -> Option<IpNet> {
    cidr.parse().ok().or_else(|| cidr.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Whether an address lies in a subnet; an address that cannot be read lies in none.
pub(super) fn contains(subnet: &IpNet, address: &str) -> bool {
    address.parse::<IpAddr>().is_ok_and(|address| subnet.contains(&address))
}

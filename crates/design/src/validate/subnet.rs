//! Addresses and subnets as text, asked without failing: what cannot be read is left to the validator of subnets.

use std::net::IpAddr;

use ipnet::IpNet;

/// A subnet, its size given as bits or as a mask; an address alone is a subnet of one.
pub(super) fn subnet(cidr: &str) -> Option<IpNet> {
    cidr.parse().ok().or_else(|| cidr.parse::<IpAddr>().ok().map(IpNet::from)).or_else(|| masked(cidr))
}

fn masked(cidr: &str) -> Option<IpNet> {
    let (address, mask) = cidr.split_once('/')?;
    IpNet::with_netmask(address.parse().ok()?, mask.parse().ok()?).ok()
}

/// Whether an address lies in a subnet; an address that cannot be read lies in none.
pub(super) fn contains(subnet: &IpNet, address: &str) -> bool {
    address.parse::<IpAddr>().is_ok_and(|address| subnet.contains(&address))
}

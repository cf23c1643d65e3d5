//! Addresses and subnets as text, asked without failing: what cannot be read is left to the validator of subnets.

use std::net::IpAddr;

use ipnet::IpNet;

/// A subnet, its size given as bits or as a mask; an address alone is a subnet of one.
pub(super) fn subnet(cidr: &str) -> Option<IpNet> {
    let address = || cidr.parse::<IpAddr>().ok().map(IpNet::from);
    cidr.parse().ok().or_else(address).or_else(|| masked(cidr)).or_else(|| abbreviated(cidr))
}

/// `10.1/16` stands for `10.1.0.0/16`.
fn abbreviated(cidr: &str) -> Option<IpNet> {
    let (address, bits) = cidr.split_once('/')?;
    let missing = 3_usize.checked_sub(address.matches('.').count())?;
    format!("{address}{}/{bits}", ".0".repeat(missing)).parse().ok()
}

fn masked(cidr: &str) -> Option<IpNet> {
    let (address, mask) = cidr.split_once('/')?;
    IpNet::with_netmask(address.parse().ok()?, mask.parse().ok()?).ok()
}

/// Whether an address lies in a subnet; an address that cannot be read lies in none.
pub(super) fn contains(subnet: &IpNet, address: &str) -> bool {
    address.parse::<IpAddr>().is_ok_and(|address| subnet.contains(&address))
}

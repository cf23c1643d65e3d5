//! Networks: an address and how many of its first bits count.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address;

/// A network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cel) struct Cidr {
    pub address: IpAddr,
    pub bits: u8,
}

impl Cidr {
    /// A network such as `10.0.0.0/8`. Bits behind the prefix may be set.
    pub fn parse(text: &str) -> Result<Cidr, String> {
        let refused = |why: String| {
            let text = crate::field::quote(text);
            format!(
                "network address parse error during conversion from string: netip.ParsePrefix({text}): {why}"
            )
        };
        let (address, bits) = text.rsplit_once('/').ok_or_else(|| refused("no '/'".to_owned()))?;
        if address.contains('%') {
            return Err(refused("IPv6 zones cannot be present in a prefix".to_owned()));
        }
        let address = address::parse(address).map_err(refused)?;
        let bad = || refused(format!("bad bits after slash: {}", crate::field::quote(bits)));
        let plain = bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
        let number: u8 = if plain { bits.parse().map_err(|_| bad())? } else { return Err(bad()) };
        if number > width(address) {
            return Err(refused(format!("prefix length out of range: {}", crate::field::quote(bits))));
        }
        if is_mapped(address) {
            let text = crate::field::quote(text);
            return Err(format!("IPv4-mapped IPv6 address {text} is not allowed"));
        }
        Ok(Cidr { address, bits: number })
    }

    /// The same network without bits behind its prefix.
    pub fn masked(self) -> Cidr {
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Cidr { address, bits: self.bits }
    }

    pub fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && Cidr { address, bits: self.bits }.masked().address == self.masked().address
    }

    pub fn contains_network(self, other: Cidr) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Whether it is an IPv4 address in the clothes of an IPv6 one.
pub(super) fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

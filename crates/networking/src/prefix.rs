//! Prefixes: blocks of IPv4 or IPv6 addresses, as numbers that can be divided.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
pub enum IpFamily {
    /// IPv4, with addresses of 32 bits.
    #[default]
    IPv4,
    /// IPv6, with addresses of 128 bits.
    IPv6,
}

impl IpFamily {
    /// Bits of an address.
    pub fn width(self) -> u8 {
        match self {
            IpFamily::IPv4 => 32,
            IpFamily::IPv6 => 128,
        }
    }

    /// As fields name it.
    pub fn as_str(self) -> &'static str {
        match self {
            IpFamily::IPv4 => "IPv4",
            IpFamily::IPv6 => "IPv6",
        }
    }
}

/// A prefix: all addresses that begin with the same bits. Its address has no bits beyond its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    family: IpFamily,
    /// The first address, as a number.
    address: u128,
    length: u8,
}

impl Prefix {
    /// Reads a prefix in CIDR notation; nothing if it is none, or if its address has bits beyond its length.
    pub fn parse(text: &str) -> Option<Prefix> {
        let net: IpNet = text.parse().ok()?;
        Prefix::new(net.addr(), net.prefix_len())
    }

    /// The prefix of this length that begins at an address; nothing if none does.
    pub fn new(address: IpAddr, length: u8) -> Option<Prefix> {
        let (family, number) = match address {
            IpAddr::V4(address) => (IpFamily::IPv4, u128::from(address.to_bits())),
            IpAddr::V6(address) => (IpFamily::IPv6, address.to_bits()),
        };
        Prefix::at(family, number, length)
    }

    fn at(family: IpFamily, address: u128, length: u8) -> Option<Prefix> {
        let host = family.width().checked_sub(length)?;
        let is_first = address.trailing_zeros() >= u32::from(host) || address == 0;
        is_first.then_some(Prefix { family, address, length })
    }

    /// Its family.
    pub fn family(&self) -> IpFamily {
        self.family
    }

    /// Number of bits that all its addresses have in common.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Its first address.
    pub fn address(&self) -> IpAddr {
        match self.family {
            // The address of an IPv4 prefix was made from one, and parts of it lie within it.
            IpFamily::IPv4 => Ipv4Addr::from_bits(u32::try_from(self.address).unwrap_or(u32::MAX)).into(),
            IpFamily::IPv6 => Ipv6Addr::from_bits(self.address).into(),
        }
    }

    /// The digits of its first address, for names.
    pub fn digits(&self) -> String {
        let digits = usize::from(self.family.width() / 4);
        format!("{:0digits$x}", self.address)
    }

    /// Whether another prefix lies within it; every prefix lies within itself.
    pub fn contains(&self, other: &Prefix) -> bool {
        self.family == other.family
            && self.length <= other.length
            && other.widened(self.length) == Some(*self)
    }

    /// Whether they have an address in common.
    pub fn overlaps(&self, other: &Prefix) -> bool {
        self.contains(other) || other.contains(self)
    }

    /// The prefix of a smaller length that it lies within.
    pub fn widened(&self, length: u8) -> Option<Prefix> {
        if length > self.length {
            return None;
        }
        let host = u32::from(self.family.width() - length);
        let address =
            self.address.checked_shr(host).and_then(|network| network.checked_shl(host)).unwrap_or(0);
        Some(Prefix { family: self.family, address, length })
    }

    /// The part of this length with this number, counted from its beginning.
    pub fn part(&self, length: u8, number: u128) -> Option<Prefix> {
        let host = u32::from(self.family.width().checked_sub(length)?);
        let parts = u32::from(length.checked_sub(self.length)?);
        if parts < 128 && number >> parts != 0 {
            return None;
        }
        Some(Prefix {
            family: self.family,
            address: self.address | number.checked_shl(host).unwrap_or(0),
            length,
        })
    }

    /// Which part of this length `inner` begins in.
    pub fn number_of(&self, inner: &Prefix, length: u8) -> Option<u128> {
        if !self.contains(inner) || length < self.length {
            return None;
        }
        let host = u32::from(self.family.width().checked_sub(length)?);
        Some((inner.address - self.address).checked_shr(host).unwrap_or(0))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address(), self.length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).unwrap()
    }

    #[test]
    fn a_prefix_has_no_bits_beyond_its_length() {
        assert_eq!(prefix("10.128.0.0/9").to_string(), "10.128.0.0/9");
        assert_eq!(prefix("fd20::/20").to_string(), "fd20::/20");
        assert_eq!(prefix("0.0.0.0/0").length(), 0);
        for wrong in ["10.128.0.1/9", "10.0.0.0/33", "10.0.0.0", "x", "fd20::1/20", ""] {
            assert_eq!(Prefix::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn parts_are_counted_from_the_beginning() {
        let range = prefix("10.128.0.0/9");
        assert_eq!(range.part(17, 0), Some(prefix("10.128.0.0/17")));
        assert_eq!(range.part(17, 255), Some(prefix("10.255.128.0/17")));
        assert_eq!(range.part(17, 256), None);
        assert_eq!(range.part(8, 0), None);
        assert_eq!(range.number_of(&prefix("10.255.128.0/20"), 17), Some(255));
        assert_eq!(range.number_of(&prefix("10.0.0.0/20"), 17), None);
        assert_eq!(
            prefix("0.0.0.0/0").part(32, u128::from(u32::MAX)).unwrap().to_string(),
            "255.255.255.255/32"
        );
        assert_eq!(prefix("::/0").part(128, u128::MAX).unwrap().length(), 128);
    }

    proptest! {
        #[test]
        fn a_part_lies_within_and_is_found_again(number: u128, length in 48u8..=128, extra in 0u8..=8) {
            let range = prefix("fd20:1:2::/48");
            let number = number % (1u128 << (length - 48).min(127)).max(1);
            let part = range.part(length, number).unwrap();
            prop_assert!(range.contains(&part) && part.overlaps(&range));
            prop_assert_eq!(range.number_of(&part, length), Some(number));
            prop_assert_eq!(part.widened(48), Some(range));
            let inner = part.part((length + extra).min(128), 0).unwrap();
            prop_assert_eq!(range.number_of(&inner, length), Some(number));
            if let Some(next) = range.part(length, number + 1) {
                prop_assert!(!next.overlaps(&part));
            }
        }
    }
}

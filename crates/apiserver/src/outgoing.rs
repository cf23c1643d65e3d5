//! Which addresses the server calls for tenants.
//!
//! What a project's definition names is called from where the server stands: it must not become a way to loopback, to the
//! metadata service of a cloud, or to networks that only the server reaches. So nothing is called for projects unless its host
//! is listed, and the address that it resolves to is checked again when the connection is made.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;

/// Hosts and networks that may be called for projects. None unless they are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outgoing {
    allowed: Vec<Destination>,
}

/// A host or a network that may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A host by its name, or all below a domain where it begins with a dot.
    Host {
        /// The name, in lower case.
        name: String,
        /// The one port; any if there is none.
        port: Option<u16>,
    },
    /// All addresses of a network, whatever they are called.
    Network(IpNet),
}

/// A destination can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is neither a host such as hooks.example.com, hooks.example.com:8443 or *.example.com, nor a network such as 10.1.0.0/16"
)]
pub struct NoDestination(String);

impl FromStr for Destination {
    type Err = NoDestination;

    fn from_str(text: &str) -> Result<Destination, NoDestination> {
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Destination::Network(network));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Destination::Network(address.into()));
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| NoDestination(text.to_owned()))?)),
            None => (text, None),
        };
        let bare = name.strip_prefix("*.").unwrap_or(name);
        if !krm::names::name_is_dns_subdomain(&bare.to_lowercase(), false).is_empty() {
            return Err(NoDestination(text.to_owned()));
        }
        let name = name.strip_prefix('*').unwrap_or(name).to_lowercase();
        Ok(Destination::Host { name, port })
    }
}

impl Outgoing {
    /// These and no others.
    pub fn to(allowed: Vec<Destination>) -> Outgoing {
        Outgoing { allowed }
    }

    /// Whether a host may be called by its name at all. What it resolves to is another question.
    pub fn may_be_asked_for(&self, host: &str, port: u16) -> bool {
        let host = host.to_lowercase();
        self.allowed.iter().any(|destination| match destination {
            Destination::Network(_) => true,
            Destination::Host { name, port: only } => {
                let is_it = match name.strip_prefix('.') {
                    Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
                    None => host == *name,
                };
                is_it && only.is_none_or(|only| only == port)
            }
        })
    }

    /// Whether a connection to an address may be made for a host. Addresses that are not public must be listed as a network.
    pub fn may_connect(&self, host: &str, address: SocketAddr) -> bool {
        let ip = address.ip().to_canonical();
        let in_network = |destination: &Destination| matches!(destination, Destination::Network(network) if network.contains(&ip));
        let by_name = |destination: &Destination| match destination {
            Destination::Host { .. } => {
                Outgoing { allowed: vec![destination.clone()] }.may_be_asked_for(host, address.port())
            }
            Destination::Network(_) => false,
        };
        self.allowed.iter().any(in_network) || (is_public(ip) && self.allowed.iter().any(by_name))
    }
}

/// Whether an address is one of the internet: not of this machine, of a private network, or of a link.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, third, _] = v4.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            let is_benchmark = first == 198 && (18..20).contains(&second);
            let is_protocol = first == 192 && second == 0 && third == 0;
            !(v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_broadcast()
                || v4.is_documentation()
                || v4.is_multicast()
                || first == 0
                || first >= 240
                || is_shared
                || is_benchmark
                || is_protocol)
        }
        IpAddr::V6(v6) => {
            let segments = v6.segments();
            // 2000::/3 is all that is assigned; in it, 6to4, Teredo and NAT64 lead to addresses of IPv4.
            let is_global = segments[0] & 0xe000 == 0x2000;
            let leads_to_v4 = segments[0] == 0x2002 || (segments[0] == 0x2001 && segments[1] == 0);
            let is_documentation = segments[0] == 0x2001 && segments[1] == 0xdb8;
            is_global && !leads_to_v4 && !is_documentation && v6 != Ipv6Addr::UNSPECIFIED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(list: &[&str]) -> Outgoing {
        Outgoing::to(list.iter().map(|text| text.parse().unwrap()).collect())
    }

    fn at(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().unwrap(), 443)
    }

    #[test]
    fn nothing_is_called_unless_it_is_listed() {
        let none = Outgoing::default();
        assert!(
            !none.may_be_asked_for("example.com", 443)
                && !none.may_connect("example.com", at("93.184.216.34"))
        );
        let some = outgoing(&["hooks.example.com", "*.hooks.example.org:8443"]);
        assert!(some.may_be_asked_for("HOOKS.example.com", 9443));
        assert!(some.may_be_asked_for("a.b.hooks.example.org", 8443));
        for (host, port) in [
            ("example.com", 443),
            ("evil-hooks.example.com", 443),
            ("hooks.example.com.evil.com", 443),
            ("a.hooks.example.org", 443),
            ("hooks.example.org", 8443),
            ("evilhooks.example.org", 8443),
        ] {
            assert!(!some.may_be_asked_for(host, port), "{host}:{port}");
        }
        assert!(some.may_connect("hooks.example.com", at("93.184.216.34")));
    }

    #[test]
    fn a_name_that_is_listed_does_not_lead_inside() {
        let some = outgoing(&["hooks.example.com"]);
        for inside in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.9.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "ff02::1",
        ] {
            assert!(!some.may_connect("hooks.example.com", at(inside)), "{inside}");
        }
        let inside = outgoing(&["10.1.0.0/16", "::1"]);
        assert!(inside.may_be_asked_for("whatever", 1));
        assert!(inside.may_connect("whatever", at("10.1.2.3")) && inside.may_connect("whatever", at("::1")));
        assert!(inside.may_connect("whatever", at("::ffff:10.1.2.3")));
        assert!(
            !inside.may_connect("whatever", at("10.2.0.1")) && !inside.may_connect("x", at("93.184.216.34"))
        );
    }

    #[test]
    fn what_is_no_destination_is_told() {
        for wrong in ["", "a b", "http://x", "x:y", "*", "10.0.0.0/99"] {
            assert!(wrong.parse::<Destination>().is_err(), "{wrong:?}");
        }
    }
}

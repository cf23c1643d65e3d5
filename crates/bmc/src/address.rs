//! Addresses of BMCs, as URLs.

use std::fmt;
use std::str::FromStr;

use crate::error::{Cause, Error};

/// How a BMC is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Redfish over HTTPS, or HTTP where the address asks for it.
    Redfish,
    /// IPMI 2.0 over RMCP+.
    Ipmi,
    /// virsh over SSH.
    Libvirt,
    /// A person.
    Manual,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Redfish => "Redfish",
            Protocol::Ipmi => "IPMI",
            Protocol::Libvirt => "libvirt",
            Protocol::Manual => "manual",
        })
    }
}

/// Where a BMC is, and which of its systems is meant.
///
/// | URL | means |
/// | --- | --- |
/// | `redfish://HOST[:PORT][/redfish/v1/Systems/ID]` | Redfish over HTTPS; without a path the only system |
/// | `redfish+http://…` | Redfish without TLS |
/// | `redfish-virtualmedia://…`, `redfish-virtualmedia+http://…`, `idrac-virtualmedia://…` | the same, as other tools write it |
/// | `https://…`, `http://…` | the same |
/// | `ipmi://HOST[:PORT]` | IPMI 2.0, port 623 |
/// | `qemu+ssh://[USER@]HOST[:PORT]/system?domain=NAME` | libvirt |
/// | `manual://NAME` | a person |
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    protocol: Protocol,
    is_plain: bool,
    user: Option<String>,
    host: String,
    port: u16,
    path: String,
    query: String,
}

impl Address {
    /// The protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether HTTP is spoken without TLS.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Host name or IP address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// TCP or UDP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Path of the system; empty when none is named.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// User in the address, which only libvirt has.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// A parameter behind `?`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Host and port, as in a URL.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.protocol == Protocol::Manual {
            return write!(f, "manual://{}", self.host);
        }
        let scheme = match (self.protocol, self.is_plain) {
            (Protocol::Redfish, false) => "redfish",
            (Protocol::Redfish, true) => "redfish+http",
            (Protocol::Ipmi, _) => "ipmi",
            (Protocol::Libvirt | Protocol::Manual, _) => "qemu+ssh",
        };
        write!(f, "{scheme}://{}{}", self.authority(), self.path)
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Address, Error> {
        let wrong = |why: &str| {
            Error::about(text_without_secret(text), "read address", Cause::Invalid { why: why.to_owned() })
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("redfish", text));
        let (protocol, is_plain, port) = match scheme {
            "redfish"
            | "redfish+https"
            | "redfish-virtualmedia"
            | "redfish-virtualmedia+https"
            | "idrac-virtualmedia"
            | "idrac-virtualmedia+https"
            | "https" => (Protocol::Redfish, false, 443),
            "redfish+http" | "redfish-virtualmedia+http" | "idrac-virtualmedia+http" | "http" => {
                (Protocol::Redfish, true, 80)
            }
            "ipmi" => (Protocol::Ipmi, false, 623),
            "qemu+ssh" => (Protocol::Libvirt, false, 22),
            "manual" => (Protocol::Manual, false, 0),
            _ => {
                return Err(wrong("the scheme must be redfish, redfish+http, ipmi, qemu+ssh or manual"));
            }
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (user, authority) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, authority)) if protocol == Protocol::Libvirt && !user.contains(':') => {
                (Some(user.to_owned()), authority)
            }
            Some(_) => return Err(wrong("credentials do not belong into an address; give them apart")),
        };
        let (host, port) = split_port(authority, port).ok_or_else(|| wrong("the port is not a number"))?;
        if host.is_empty() || !host.bytes().all(is_host_byte) || host.starts_with('-') {
            return Err(wrong("the host must be a name or an IP address"));
        }
        let path = path.trim_end_matches('/').to_owned();
        Ok(Address { protocol, is_plain, user, host, port, path, query: query.to_owned() })
    }
}

fn split_port(authority: &str, default: u16) -> Option<(String, u16)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        let port = match after.strip_prefix(':') {
            None => default,
            Some(port) => port.parse().ok()?,
        };
        return Some((host.to_owned(), port));
    }
    match authority.split_once(':') {
        // More than one colon: an IPv6 address without brackets and port.
        Some((_, rest)) if rest.contains(':') => Some((authority.to_owned(), default)),
        Some((host, port)) => Some((host.to_owned(), port.parse().ok()?)),
        None => Some((authority.to_owned(), default)),
    }
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'_' | b'%')
}

/// A wrong address may hold a password before the `@`.
fn text_without_secret(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((before, after)) => {
            let scheme = before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
            format!("{scheme}…@{after}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_other_tools_write_them() {
        for (text, shown) in [
            (
                "redfish-virtualmedia://10.0.0.5/redfish/v1/Systems/1",
                "redfish://10.0.0.5:443/redfish/v1/Systems/1",
            ),
            ("redfish-virtualmedia+http://bmc:8000", "redfish+http://bmc:8000"),
            ("https://[fd00::1]:8443/", "redfish://[fd00::1]:8443"),
            ("bmc7.example", "redfish://bmc7.example:443"),
            ("ipmi://10.0.0.5", "ipmi://10.0.0.5:623"),
            ("qemu+ssh://root@kvm1/system?domain=node1", "qemu+ssh://kvm1:22/system"),
            ("manual://row-3", "manual://row-3"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), shown);
        }
        for text in ["ftp://bmc", "ipmi://", "ipmi://bmc:x", "redfish://-oProxy", "redfish://a b"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let error = "redfish://root:marker-77@bmc".parse::<Address>().unwrap_err().to_string();
        assert!(!error.contains("marker"), "{error}");
        assert!(error.contains("credentials"), "{error}");
    }
}

//! Where the server listens, as `--listen` names it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use tokio::net::TcpListener;

use crate::failure::Failure;

/// An address or a host name, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    host: Host,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// Every address of this machine, IPv4 and IPv6.
    Every,
    Address(IpAddr),
    Name(String),
}

/// Why a text names no place to listen at.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Wrong {
    /// A number alone.
    #[error(
        "there is no address: write 127.0.0.1:{0} for this machine alone, or :{0} for every address of this machine"
    )]
    PortAlone(String),
    /// No port.
    #[error("there is no port: write {0}:6443")]
    NoPort(String),
    /// An IPv6 address whose port can't be told from it.
    #[error("write an IPv6 address in brackets, as in [::1]:6443")]
    NoBrackets,
    /// Not a port.
    #[error("{0:?} is not a port: give a number from 0 to 65535")]
    Port(String),
}

impl FromStr for Listen {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Listen, Wrong> {
        if text.parse::<Ipv6Addr>().is_ok() {
            return Err(Wrong::NoBrackets);
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            return Err(match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                true => Wrong::PortAlone(text.to_owned()),
                false => Wrong::NoPort(text.to_owned()),
            });
        };
        let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match inner {
            Some(inner) => Host::Address(inner.parse::<Ipv6Addr>().map_err(|_| Wrong::NoBrackets)?.into()),
            None if host.starts_with('[') => return Err(Wrong::NoPort(text.to_owned())),
            None if host.contains(':') => return Err(Wrong::NoBrackets),
            None if host.is_empty() || host == "*" => Host::Every,
            None => host.parse().map_or_else(|_| Host::Name(host.to_owned()), Host::Address),
        };
        Ok(Listen { host, port: port.parse().map_err(|_| Wrong::Port(port.to_owned()))? })
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.host {
            Host::Every => write!(f, ":{}", self.port),
            Host::Address(address) => SocketAddr::new(*address, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

impl Listen {
    /// Listens there.
    pub async fn bind(&self) -> Result<TcpListener, Failure> {
        let every = |ip: IpAddr| TcpListener::bind(SocketAddr::new(ip, self.port));
        let bound = match &self.host {
            Host::Address(address) => every(*address).await,
            // A socket of IPv6 takes IPv4 too; a machine without IPv6 has none.
            Host::Every => match every(Ipv6Addr::UNSPECIFIED.into()).await {
                Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
                    every(Ipv4Addr::UNSPECIFIED.into()).await
                }
                bound => bound,
            },
            Host::Name(name) => TcpListener::bind((name.as_str(), self.port)).await,
        };
        bound.map_err(|error| {
            let next = match &self.host {
                Host::Name(_) => "give a name or an address of this machine, and a free port, with --listen",
                _ => "choose another address with --listen",
            };
            Failure::new(format_args!("listening on {self}"), format_args!("{error}; {next}"))
        })
    }

    /// What the serving certificate has to name besides the names of this host.
    pub fn certificate_name(&self) -> Option<String> {
        match &self.host {
            Host::Every => None,
            Host::Address(address) => (!address.is_unspecified()).then(|| address.to_string()),
            Host::Name(name) => Some(name.clone()),
        }
    }

    /// The URL by which clients on this machine reach a listener that was bound to `bound`.
    pub fn url(&self, bound: SocketAddr) -> String {
        let port = bound.port();
        match (&self.host, bound.ip()) {
            (Host::Name(name), _) => format!("https://{name}:{port}"),
            (_, IpAddr::V4(ip)) if ip.is_unspecified() => format!("https://127.0.0.1:{port}"),
            (_, IpAddr::V6(ip)) if ip.is_unspecified() => format!("https://localhost:{port}"),
            _ => format!("https://{bound}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Listen, Wrong> {
        text.parse()
    }

    #[test]
    fn addresses_names_and_every_address_are_told_apart() {
        for text in ["127.0.0.1:6443", "[::1]:6443", "[::]:6443", "localhost:7451", ":7451", "0.0.0.0:0"] {
            assert_eq!(parsed(text).unwrap().to_string(), text);
        }
        assert_eq!(parsed("*:7451"), parsed(":7451"));
        assert_eq!(parsed("localhost:7451").unwrap().certificate_name().as_deref(), Some("localhost"));
        assert_eq!(parsed("10.1.2.3:1").unwrap().certificate_name().as_deref(), Some("10.1.2.3"));
        for every in [":1", "0.0.0.0:1", "[::]:1"] {
            assert_eq!(parsed(every).unwrap().certificate_name(), None, "{every}");
        }
    }

    #[test]
    fn what_names_no_place_is_refused_with_what_to_write() {
        let said = |text: &str| parsed(text).unwrap_err().to_string();
        assert!(
            said("7451").contains("127.0.0.1:7451") && said("7451").contains(" :7451"),
            "{}",
            said("7451")
        );
        assert!(said("localhost").contains("localhost:6443"));
        for text in ["::1:6443", "::1", "::"] {
            assert!(said(text).contains("[::1]:6443"), "{text}: {}", said(text));
        }
        for text in ["localhost:http", "127.0.0.1:65536", "127.0.0.1:"] {
            assert!(said(text).contains("0 to 65535"), "{text}: {}", said(text));
        }
        assert!(parsed("nonsense").is_err() && parsed("").is_err() && parsed("[::1]").is_err());
    }

    #[test]
    fn clients_are_told_an_address_that_leads_here() {
        let url = |text: &str, bound: &str| parsed(text).unwrap().url(bound.parse().unwrap());
        assert_eq!(url("localhost:0", "127.0.0.1:7"), "https://localhost:7");
        assert_eq!(url("0.0.0.0:0", "0.0.0.0:7"), "https://127.0.0.1:7");
        assert_eq!(url(":0", "[::]:7"), "https://localhost:7");
        assert_eq!(url("[::1]:0", "[::1]:7"), "https://[::1]:7");
    }
}

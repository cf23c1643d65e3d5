//! Scanning addresses for Redfish services: limited in rate and concurrency, without credentials.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use crate::error::{Cause, Error, Result};
use crate::redfish::{self, Redfish};
use crate::trust::{Fingerprint, Trust};
use crate::{Address, Environment};

/// The most addresses of one scan: a /16.
pub const MOST: usize = 65_536;

/// Addresses to scan: single ones, ranges and subnets, separated by commas or spaces.
///
/// `10.0.0.5, 10.0.1.10-10.0.1.40, 10.0.2.0/24, bmc7.example`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets(Vec<String>);

impl Targets {
    /// All hosts, without repetition, in the order in which they are named.
    pub fn hosts(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for Targets {
    type Err = Error;

    fn from_str(text: &str) -> Result<Targets> {
        let wrong = |part: &str, why: &str| {
            let cause = Cause::Invalid { why: why.to_owned() };
            Err(Error::about(part.to_owned(), "read the addresses to scan", cause))
        };
        let mut hosts = Vec::new();
        for part in text.split([',', ' ', '\n', '\t']).filter(|part| !part.is_empty()) {
            let room = MOST - hosts.len();
            let found: Vec<String> = if let Ok(net) = part.parse::<IpNet>() {
                net.hosts().take(room + 1).map(|host| host.to_string()).collect()
            } else if let Some((first, last)) = ends(part) {
                match (first, last) {
                    (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => (u32::from(first)
                        ..=u32::from(last))
                        .take(room + 1)
                        .map(|ip| std::net::Ipv4Addr::from(ip).to_string())
                        .collect(),
                    (IpAddr::V6(first), IpAddr::V6(last)) if first <= last => (u128::from(first)
                        ..=u128::from(last))
                        .take(room + 1)
                        .map(|ip| std::net::Ipv6Addr::from(ip).to_string())
                        .collect(),
                    _ => return wrong(part, "the range ends before it begins, or mixes IPv4 and IPv6"),
                }
            } else if part.parse::<IpAddr>().is_ok() || is_name(part) {
                vec![part.to_owned()]
            } else {
                return wrong(part, "neither an address, a range FIRST-LAST, a subnet nor a host name");
            };
            if found.len() > room {
                return wrong(part, "a scan has at most 65,536 addresses; divide it");
            }
            hosts.extend(found);
        }
        let mut seen = std::collections::HashSet::new();
        hosts.retain(|host| seen.insert(host.clone()));
        match hosts.is_empty() {
            true => wrong(text, "no addresses"),
            false => Ok(Targets(hosts)),
        }
    }
}

fn ends(part: &str) -> Option<(IpAddr, IpAddr)> {
    let (first, last) = part.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

fn is_name(part: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    part.bytes().all(is_name_byte)
        && part.starts_with(|c: char| c.is_ascii_alphanumeric())
        && part.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// How fast to scan.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Addresses per second. Defaults to 50.
    pub rate: u32,
    /// Addresses at a time. Defaults to 64.
    pub concurrency: usize,
    /// Deadline of each address. Defaults to 5 seconds.
    pub deadline: Duration,
    /// TCP port. Defaults to 443.
    pub port: u16,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { rate: 50, concurrency: 64, deadline: Duration::from_secs(5), port: 443 }
    }
}

/// One address of a scan.
#[derive(Debug, Clone)]
pub struct Scanned {
    /// Host, as it was named.
    pub host: String,
    /// The service, or why there is none.
    pub service: Result<Found>,
}

/// A Redfish service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Address of the BMC.
    pub address: Address,
    /// Version of the protocol.
    pub version: Option<String>,
    /// Who made the BMC.
    pub vendor: Option<String>,
    /// Its product name.
    pub product: Option<String>,
    /// UUID of the service.
    pub uuid: Option<String>,
    /// Fingerprint of its certificate, to compare or to pin.
    pub fingerprint: Option<Fingerprint>,
}

/// Scans and yields addresses as they answer or time out. Dropping the receiver ends the scan.
pub fn scan(targets: Targets, pace: Pace, environment: Environment) -> mpsc::Receiver<Scanned> {
    let (sender, receiver) = mpsc::channel(pace.concurrency.max(1));
    tokio::spawn(async move {
        let slots = Arc::new(Semaphore::new(pace.concurrency.max(1)));
        let mut turns = interval(Duration::from_secs(1) / pace.rate.max(1));
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for host in targets.0 {
            turns.tick().await;
            let Ok(slot) = slots.clone().acquire_owned().await else { return };
            if sender.is_closed() {
                return;
            }
            let (sender, environment) = (sender.clone(), environment.clone());
            tokio::spawn(async move {
                let service = probe(&host, pace, &environment).await;
                // Whoever has stopped listening does not want to know.
                let _ = sender.send(Scanned { host, service }).await;
                drop(slot);
            });
        }
    });
    receiver
}

async fn probe(host: &str, pace: Pace, environment: &Environment) -> Result<Found> {
    let shown = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let address: Address = format!("redfish://{shown}:{}", pace.port).parse()?;
    let mut options = redfish::Options::new(Trust::FirstUse, None);
    options.limits.request = pace.deadline;
    options.limits.connect = pace.deadline;
    options.limits.body = 256 << 10;
    let bmc = Redfish::new(&address, options, environment)?;
    let root = bmc.root().await?;
    Ok(Found {
        version: root.text("RedfishVersion"),
        vendor: root.vendor(),
        product: root.text("Product"),
        uuid: root.text("UUID"),
        fingerprint: bmc.pin(),
        address,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_ranges_subnets_and_names_are_read() {
        let targets: Targets =
            "10.0.0.5, 10.0.1.254-10.0.2.1 10.0.3.0/30,bmc7.example,10.0.0.5".parse().unwrap();
        assert_eq!(
            targets.hosts(),
            [
                "10.0.0.5",
                "10.0.1.254",
                "10.0.1.255",
                "10.0.2.0",
                "10.0.2.1",
                "10.0.3.1",
                "10.0.3.2",
                "bmc7.example"
            ]
        );
    }

    #[test]
    fn what_is_not_an_address_or_too_much_is_refused() {
        for text in
            ["", "10.0.0.9-10.0.0.1", "10.0.0.1-fd00::1", "10.0.0.300", "a b$c", "10.0.0.0/8", "fd00::/64"]
        {
            assert!(text.parse::<Targets>().is_err(), "{text}");
        }
    }
}

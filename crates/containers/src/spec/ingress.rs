//! Who may connect to an instance.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Who may connect to an instance: what one of the rules admits is admitted. The machine itself is always admitted, for probes
/// and for connections that it forwards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingress(pub Vec<IngressRule>);

/// Connections that are admitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngressRule {
    /// Ports that may be connected to. Empty for all.
    pub ports: Vec<PortRange>,
    /// Who may connect. Empty for everybody.
    pub from: Vec<Source>,
}

/// Ports of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortRange {
    /// The protocol.
    pub protocol: Protocol,
    /// First port.
    pub first: u16,
    /// Last port, at least the first.
    pub last: u16,
}

/// A protocol with ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

impl Protocol {
    /// Its name in rules of nftables.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
            Protocol::Sctp => "sctp",
        }
    }
}

/// Addresses that may connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The range.
    pub range: IpNet,
    /// Ranges within it that are left out.
    pub except: Vec<IpNet>,
}

impl Ingress {
    /// Whether a TCP connection from an address to a port is admitted.
    pub fn admits(&self, from: IpAddr, port: u16) -> bool {
        self.0.iter().any(|rule| {
            let takes = |ports: &PortRange| {
                ports.protocol == Protocol::Tcp
                    && RangeInclusive::new(ports.first, ports.last).contains(&port)
            };
            let is_source = |source: &Source| {
                source.range.contains(&from) && !source.except.iter().any(|range| range.contains(&from))
            };
            (rule.ports.is_empty() || rule.ports.iter().any(takes))
                && (rule.from.is_empty() || rule.from.iter().any(is_source))
        })
    }

    /// The rules for nftables, in a table of the instance's network namespace.
    pub(crate) fn ruleset(&self, gateway: IpAddr) -> String {
        let mut rules = vec![
            "ct state established,related accept".to_owned(),
            "iif lo accept".to_owned(),
            "meta l4proto ipv6-icmp accept".to_owned(),
            format!("{} saddr {gateway} accept", family(gateway.is_ipv6())),
        ];
        rules.extend(self.0.iter().flat_map(IngressRule::lines));
        let rules: String = rules.iter().map(|rule| format!("    {rule}\n")).collect();
        format!(
            "table inet ingress {{\n  chain input {{\n    type filter hook input priority 0; policy drop;\n{rules}  }}\n}}\n"
        )
    }
}

impl IngressRule {
    fn lines(&self) -> Vec<String> {
        let ports: Vec<String> = match self.ports.as_slice() {
            [] => vec![String::new()],
            ports => ports
                .iter()
                .map(|ports| format!("{} dport {}-{} ", ports.protocol.name(), ports.first, ports.last))
                .collect(),
        };
        let sources: Vec<String> = match self.from.as_slice() {
            [] => vec![String::new()],
            sources => sources.iter().map(Source::expression).collect(),
        };
        let each = |source: &String| -> Vec<String> {
            ports.iter().map(|ports| format!("{source}{ports}accept")).collect()
        };
        sources.iter().flat_map(each).collect()
    }
}

impl Source {
    fn expression(&self) -> String {
        let family = family(self.range.network().is_ipv6());
        let mut text = format!("{family} saddr {} ", self.range.trunc());
        for left_out in &self.except {
            text += &format!("{family} saddr != {} ", left_out.trunc());
        }
        text
    }
}

fn family(is_ipv6: bool) -> &'static str {
    if is_ipv6 { "ip6" } else { "ip" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Ingress {
        let http = PortRange { protocol: Protocol::Tcp, first: 80, last: 90 };
        let office =
            Source { range: "10.0.0.0/8".parse().unwrap(), except: vec!["10.1.0.0/16".parse().unwrap()] };
        let dns = PortRange { protocol: Protocol::Udp, first: 53, last: 53 };
        Ingress(vec![
            IngressRule { ports: vec![http], from: vec![office] },
            IngressRule { ports: vec![dns], from: Vec::new() },
        ])
    }

    #[test]
    fn a_connection_is_admitted_by_one_rule_with_its_port_and_its_source() {
        let admits = |from: &str, port| policy().admits(from.parse().unwrap(), port);
        assert!(admits("10.2.0.1", 80) && admits("10.2.0.1", 90));
        assert!(!admits("10.2.0.1", 91), "another port");
        assert!(!admits("10.1.0.1", 80), "left out");
        assert!(!admits("192.0.2.1", 80), "another source");
        assert!(!admits("192.0.2.1", 53), "another protocol");
        assert!(!Ingress::default().admits("10.2.0.1".parse().unwrap(), 80), "nothing is admitted");
    }

    #[test]
    fn rules_are_written_as_nftables_reads_them() {
        let text = policy().ruleset("10.128.0.1".parse().unwrap());
        assert!(text.contains("ip saddr 10.128.0.1 accept\n"), "{text}");
        assert!(
            text.contains("ip saddr 10.0.0.0/8 ip saddr != 10.1.0.0/16 tcp dport 80-90 accept\n"),
            "{text}"
        );
        assert!(text.contains("    udp dport 53-53 accept\n"), "{text}");
    }
}

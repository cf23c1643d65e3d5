//! Who may connect to an instance, as the runtime enforces it.

use containers::{Ingress, IngressRule, PortRange, Protocol, Source};
use serde_json::Value;

use crate::template::list;

/// The ingress policy of an instance, with the names of ports resolved; none if it has none.
pub fn of(spec: &Value) -> Result<Option<Ingress>, String> {
    let policy = &spec["networkInterfaces"][0]["networkPolicy"];
    let mut rules = Vec::new();
    if policy.is_null() {
        return Ok(None);
    }
    for rule in list(&policy["ingress"]) {
        let mut ports = Vec::new();
        for port in list(&rule["ports"]) {
            ports.extend(port_ranges(port, spec)?);
        }
        let from: Result<Vec<Source>, String> = list(&rule["from"]).map(source).collect();
        rules.push(IngressRule { ports, from: from? });
    }
    Ok(Some(Ingress(rules)))
}

/// The ports that a rule names; a name that several containers use stands for all their ports.
fn port_ranges(port: &Value, spec: &Value) -> Result<Vec<PortRange>, String> {
    let protocol = protocol(port);
    let range = |first: u16, last: u16| PortRange { protocol, first, last };
    match &port["port"] {
        Value::Null => Ok(vec![range(1, u16::MAX)]),
        Value::String(name) => {
            let all = list(&spec["runtime"]["sandbox"]["containers"])
                .flat_map(|container| list(&container["ports"]))
                .filter(|found| found["name"] == **name && self::protocol(found) == protocol);
            let found: Vec<PortRange> =
                all.filter_map(|found| number(&found["port"])).map(|port| range(port, port)).collect();
            match found.is_empty() {
                true => Err(format!("networkPolicy names the port {name:?}, which no container has")),
                false => Ok(found),
            }
        }
        value => {
            let first = number(value).ok_or_else(|| format!("networkPolicy names the port {value}"))?;
            Ok(vec![range(first, number(&port["endPort"]).unwrap_or(first))])
        }
    }
}

fn number(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|port| u16::try_from(port).ok())
}

fn protocol(port: &Value) -> Protocol {
    match port["protocol"].as_str() {
        Some("UDP") => Protocol::Udp,
        Some("SCTP") => Protocol::Sctp,
        _ => Protocol::Tcp,
    }
}

fn source(peer: &Value) -> Result<Source, String> {
    let parse = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        text.parse().map_err(|_| format!("networkPolicy names {text:?}, which is no range of addresses"))
    };
    let block = &peer["ipBlock"];
    let except: Result<Vec<_>, String> = list(&block["except"]).map(parse).collect();
    Ok(Source { range: parse(&block["cidr"])?, except: except? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_ports_become_numbers_and_an_unknown_one_is_told() {
        let spec = |port: &str| {
            json!({
                "runtime": {"sandbox": {"containers": [{"ports": [{"name": "http", "port": 8080}]}]}},
                "networkInterfaces": [{"networkPolicy": {"ingress": [
                    {"ports": [{"port": port}], "from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]},
                ]}}],
            })
        };
        let policy = of(&spec("http")).unwrap().unwrap();
        assert!(policy.admits("10.2.0.1".parse().unwrap(), 8080));
        assert!(!policy.admits("10.1.0.1".parse().unwrap(), 8080));
        assert!(!policy.admits("10.2.0.1".parse().unwrap(), 80));
        assert!(of(&spec("grpc")).unwrap_err().contains("\"grpc\", which no container has"));
        assert_eq!(of(&json!({"networkInterfaces": [{}]})).unwrap(), None);
    }
}

//! Admission of network interfaces and who may connect to them.

use ipnet::IpNet;
use krm::field::{FieldError, Path};
use serde_json::{Value, json};

use super::dns_label;
use super::runtime::is_port_name;
use crate::kinds::Workload;
use crate::kinds::template::{IngressPort, IpBlock};

/// Checks the network interfaces of a workload.
pub fn check(workload: &Workload, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let interfaces = &workload.spec.template.spec.network_interfaces;
    if interfaces.is_empty() {
        errors.push(FieldError::required(at, "must define at least one network interface"));
    }
    for (index, interface) in interfaces.iter().enumerate() {
        let at = at.index(index);
        let network = at.field("network");
        dns_label(&interface.network.name, &network.field("name"), errors);
        let own = &workload.metadata.namespace;
        if let Some(namespace) = interface.network.namespace.as_ref().filter(|namespace| *namespace != own) {
            let why = format!("must be the namespace of the workload, {own:?}");
            errors.push(FieldError::invalid(&network.field("namespace"), &json!(namespace), why));
        }
        let policy = at.field("networkPolicy");
        let all = policy.field("ingress");
        if interface.network_policy.as_ref().is_some_and(|policy| policy.ingress.is_empty()) {
            let why = "must have at least one rule; leave networkPolicy out to let everybody connect";
            errors.push(FieldError::required(&all, why));
        }
        let rules = interface.network_policy.iter().flat_map(|policy| &policy.ingress);
        for (index, rule) in rules.enumerate() {
            let at = all.index(index);
            let ports = at.field("ports");
            for (index, port) in rule.ports.iter().enumerate() {
                ingress_port(port, &ports.index(index), errors);
            }
            let from = at.field("from");
            for (index, peer) in rule.from.iter().enumerate() {
                let at = from.index(index);
                match &peer.ip_block {
                    None => errors.push(FieldError::required(&at.field("ipBlock"), "")),
                    Some(block) => ip_block(block, &at.field("ipBlock"), errors),
                }
            }
        }
    }
}

fn ingress_port(port: &IngressPort, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let at_port = at.field("port");
    let number = match &port.port {
        None => None,
        Some(Value::String(name)) => {
            if !is_port_name(name) {
                let why = "must be the name of a port, or a number between 1 and 65535";
                errors.push(FieldError::invalid_text(&at_port, name, why));
            }
            None
        }
        Some(value) => {
            let number = value.as_i64().filter(|number| (1..=65535).contains(number));
            if number.is_none() {
                errors.push(FieldError::invalid(&at_port, value, "must be between 1 and 65535, inclusive"));
            }
            number
        }
    };
    let Some(end) = port.end_port else { return };
    let is_sound = number.is_some_and(|number| i64::from(end) >= number) && end <= 65535;
    if !is_sound {
        let why = "must be at least port, which must be a number, and at most 65535";
        errors.push(FieldError::invalid(&at.field("endPort"), &json!(end), why));
    }
}

fn ip_block(block: &IpBlock, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let why = "must be a range of addresses in CIDR notation, such as 10.0.0.0/8";
    let whole = block.cidr.parse::<IpNet>().ok();
    if whole.is_none() {
        errors.push(FieldError::invalid_text(&at.field("cidr"), &block.cidr, why));
    }
    let all = at.field("except");
    for (index, text) in block.except.iter().enumerate() {
        let at = all.index(index);
        match (text.parse::<IpNet>(), whole) {
            (Err(_), _) => errors.push(FieldError::invalid_text(&at, text, why)),
            (Ok(part), Some(whole)) if !whole.contains(&part) => {
                errors.push(FieldError::invalid_text(&at, text, format!("must lie within {whole}")));
            }
            _ => {}
        }
    }
}

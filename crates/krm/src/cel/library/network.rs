//! Addresses and networks.

use std::net::IpAddr;

use super::cidr::{Cidr, is_mapped};
use super::operators::text;
use super::{Run, address};
use crate::cel::value::{Fault, Outcome, Value};
use crate::field::quote;

pub(super) fn find(name: &str) -> Option<Run> {
    Some(match name {
        "ip" => |args| match &args[0] {
            Value::Cidr(cidr) => Ok(Value::Ip(cidr.address)),
            other => read(text(other)?).map(Value::Ip),
        },
        "isIP" => |args| Ok(Value::Bool(read(text(&args[0])?).is_ok())),
        "ip.isCanonical" => |args| {
            let text = text(&args[0])?;
            Ok(Value::Bool(read(text)?.to_string() == **text))
        },
        "family" => |args| Ok(Value::Int(if ip(&args[0])?.is_ipv4() { 4 } else { 6 })),
        "isUnspecified" => |args| Ok(Value::Bool(ip(&args[0])?.is_unspecified())),
        "isLoopback" => |args| Ok(Value::Bool(ip(&args[0])?.is_loopback())),
        "isLinkLocalMulticast" => |args| Ok(Value::Bool(is_link_local_multicast(ip(&args[0])?))),
        "isLinkLocalUnicast" => |args| Ok(Value::Bool(is_link_local_unicast(ip(&args[0])?))),
        "isGlobalUnicast" => |args| Ok(Value::Bool(is_global_unicast(ip(&args[0])?))),
        "cidr" => |args| Cidr::parse(text(&args[0])?).map(Value::Cidr).map_err(cidr_fault),
        "isCIDR" => |args| Ok(Value::Bool(Cidr::parse(text(&args[0])?).is_ok())),
        "containsIP" => contains_ip,
        "containsCIDR" => contains_cidr,
        "prefixLength" => |args| Ok(Value::Int(network(&args[0])?.bits.into())),
        "masked" => |args| Ok(Value::Cidr(network(&args[0])?.masked())),
        _ => return None,
    })
}

fn cidr_fault(why: String) -> Fault {
    Fault::Error(format!("network address parse error during conversion from string: {why}"))
}

fn read(text: &str) -> Result<IpAddr, Fault> {
    let shown = quote(text);
    let parsed = address::parse(text);
    if parsed.is_ok() && text.contains('%') {
        return Err(Fault::Error(format!("IP address {shown} with zone value is not allowed")));
    }
    let address = parsed.map_err(|why| {
        Fault::Error(format!("IP Address {shown} parse error during conversion from string: {why}"))
    })?;
    if is_mapped(address) {
        return Err(Fault::Error(format!("IPv4-mapped IPv6 address {shown} is not allowed")));
    }
    Ok(address)
}

fn ip(value: &Value<'_>) -> Result<IpAddr, Fault> {
    match value {
        Value::Ip(address) => Ok(*address),
        _ => Err(Fault::NoOverload),
    }
}

fn network(value: &Value<'_>) -> Result<Cidr, Fault> {
    match value {
        Value::Cidr(cidr) => Ok(*cidr),
        _ => Err(Fault::NoOverload),
    }
}

fn contains_ip<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let network = network(&args[0])?;
    let address = match &args[1] {
        Value::String(text) => read(text)?,
        other => ip(other)?,
    };
    Ok(Value::Bool(network.contains(address)))
}

fn contains_cidr<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let outer = network(&args[0])?;
    let inner = match &args[1] {
        Value::String(text) => Cidr::parse(text).map_err(cidr_fault)?,
        other => network(other)?,
    };
    Ok(Value::Bool(outer.contains_network(inner)))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !is_broadcast
        && !address.is_unspecified()
        && !address.is_loopback()
        && !address.is_multicast()
        && !is_link_local_unicast(address)
}

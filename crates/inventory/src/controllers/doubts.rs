//! Conditions for what is allowed but doubtful: they are set while they are False, and removed when all is well.

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Bucket, QueryContext};
use serde_json::Value;

use crate::kinds::port;
use crate::kinds::{Node, VirtualMachine};

/// Virtual CPUs per core from which on a host is overcommitted.
const MAX_VCPUS_PER_CORE: i64 = 16;

/// What is doubtful about an object: each condition that it may have, and whether it has it.
pub fn of(object: &Object, look: &dyn QueryContext) -> Vec<(&'static str, Option<Finding>)> {
    match object.kind() {
        "Port" => vec![("MACAddressUnique", same_mac(object, look)), ("NameUnique", same_name(object, look))],
        "Node" => vec![("WithinCapacity", of_node(object, look))],
        _ => Vec::new(),
    }
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// Another port in the same bucket.
fn other(object: &Object, bucket: Bucket, value: &str, look: &dyn QueryContext) -> Option<String> {
    let places = look.places(bucket, value).into_iter();
    places.map(|at| at.name).find(|name| name != object.name())
}

fn same_mac(object: &Object, look: &dyn QueryContext) -> Option<Finding> {
    let mac = Some(text(object, "spec.macAddress")).filter(|mac| !mac.is_empty())?;
    let other = other(object, port::MAC, &mac.to_lowercase(), look)?;
    let why = format!("Port {other} has the MAC address {mac} too");
    Some(Finding::fails("MACAddressUnique", "Duplicate", why))
}

fn same_name(object: &Object, look: &dyn QueryContext) -> Option<Finding> {
    let (kind, device) = (text(object, "spec.deviceRef.kind"), text(object, "spec.deviceRef.name"));
    let name = text(object, "spec.name");
    let other = other(object, port::LABEL, &format!("{kind}/{device}/{name}"), look)?;
    let why = format!("Port {other} of {kind} {device} is named {name} too");
    Some(Finding::fails("NameUnique", "Duplicate", why))
}

/// Whether the virtual machines of a node are more than it can host.
fn of_node(object: &Object, look: &dyn QueryContext) -> Option<Finding> {
    let machines = look.with::<VirtualMachine>("spec.hostRef.name", object.name());
    let first = machines.first()?;
    let node = look.find::<Node>(object.name())?;
    let fails = |reason: &'static str, why: String| Some(Finding::fails("WithinCapacity", reason, why));
    let (cores, memory) = (i64::from(node.spec.hardware.cpu_cores), node.spec.hardware.memory_bytes);
    let largest = machines.iter().max_by_key(|machine| machine.spec.allocation.vcpus).unwrap_or(first);
    if i64::from(largest.spec.allocation.vcpus) > cores {
        let (name, vcpus) = (&largest.metadata.name, largest.spec.allocation.vcpus);
        return fails(
            "CPUOvercommitted",
            format!("VirtualMachine {name} has {vcpus} vCPUs on {cores} cores"),
        );
    }
    let vcpus: i64 = machines.iter().map(|machine| i64::from(machine.spec.allocation.vcpus)).sum();
    if vcpus > cores.saturating_mul(MAX_VCPUS_PER_CORE) {
        let why = format!("{vcpus} vCPUs on {cores} cores, more than {MAX_VCPUS_PER_CORE} per core");
        return fails("CPUOvercommitted", why);
    }
    let bytes =
        machines.iter().map(|machine| machine.spec.allocation.memory_bytes).fold(0, i64::saturating_add);
    (bytes > memory).then(|| {
        let why = format!("{bytes} bytes of memory are allocated, the node has {memory}");
        Finding::fails("WithinCapacity", "MemoryOvercommitted", why)
    })
}

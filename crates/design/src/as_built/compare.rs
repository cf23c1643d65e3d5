//! The comparison of model, firmware, devices, disks, rack and addresses.

use super::{Built, Comparison, Verdict, lldp};
use crate::{
    compile::Node,
    model::{Field, HardwareProfile, Rack, Size, StorageDevice, text},
};

/// Compares one node, field by field, in the order of the design. The rack is the one it stands in, if that is designed.
pub fn compare(
    node: &Node,
    profile: &HardwareProfile,
    rack: Option<&Rack>,
    built: &Built,
) -> Vec<Comparison> {
    let mut fields = Vec::new();
    machine(profile, built, &mut fields);
    firmware(node, built, &mut fields);
    devices(profile, built, &mut fields);
    fields.extend(lldp::ports(node, rack, built.lldp.as_ref()));
    for device in &node.effective.settings.storage_devices {
        fields.extend(disk(device, node, profile, built));
    }
    place(node, built, &mut fields);
    fields
}

fn machine(profile: &HardwareProfile, built: &Built, fields: &mut Vec<Comparison>) {
    let system = built.lshw.as_ref().and_then(|lshw| lshw.system());
    let bios = built.lshw.as_ref().and_then(|lshw| lshw.firmware());
    let mut field =
        |name: &str, designed: &Field<String>, found: Option<&str>, is_same: fn(&str, &str) -> bool| {
            if let Some(designed) = text(designed) {
                fields.push(judge(format!("hardware_profile.{name}"), designed, found, is_same));
            }
        };
    field("vendor", &profile.vendor, system.and_then(|one| one.vendor.as_deref()), is_vendor);
    field("bios_version", &profile.bios_version, bios.and_then(|one| one.version.as_deref()), |a, b| a == b);
    let mode = bios
        .filter(|bios| !bios.capabilities.is_empty())
        .map(|bios| if bios.capabilities.iter().any(|one| one == "uefi") { "uefi" } else { "bios" });
    field("boot_mode", &profile.boot_mode, mode, |a, b| a == b);
}

/// Of the components lshw tells the BIOS only; the others wait for who can ask a BMC.
fn firmware(node: &Node, built: &Built, fields: &mut Vec<Comparison>) {
    for (component, level) in &node.machine.firmware {
        let bios = built.lshw.as_ref().and_then(|lshw| lshw.firmware());
        let found = bios.filter(|_| component == "bios").and_then(|bios| bios.version.as_deref());
        fields.push(judge(format!("firmware.{component}"), &level.value, found, is_level));
    }
}

fn devices(profile: &HardwareProfile, built: &Built, fields: &mut Vec<Comparison>) {
    for alias in &profile.aliases {
        let field = format!("device_aliases.{}", alias.alias.value);
        let designed = text(&alias.dev_type).or(text(&alias.address)).unwrap_or("a device").to_owned();
        let Some(lshw) = &built.lshw else {
            fields.push(Comparison { field, designed, built: None, verdict: Verdict::NotSeen });
            continue;
        };
        let found = lshw.device(alias).and_then(|found| Some((found, found.name()?)));
        let Some((found, name)) = found else {
            fields.push(Comparison { field, designed, built: None, verdict: Verdict::Missing });
            continue;
        };
        let product = found.device.product.as_deref().or(found.used.product.as_deref());
        fields.push(match (text(&alias.dev_type), product) {
            (Some(kind), Some(_)) => judge(field, kind, product, is_product),
            _ => Comparison { field, designed, built: Some(name.to_owned()), verdict: Verdict::Same },
        });
    }
}

/// Whether the partitions of a disk fit on it.
fn disk(device: &StorageDevice, node: &Node, profile: &HardwareProfile, built: &Built) -> Option<Comparison> {
    let sizes =
        device.partitions.iter().flatten().filter_map(|partition| Size::parse(text(&partition.size)?).ok());
    let needed: u64 = sizes.filter_map(|size| size.minimum()).fold(0, u64::saturating_add);
    if needed == 0 {
        return None;
    }
    let name = &device.name.value;
    let alias = profile.aliases.iter().find(|alias| alias.alias.value == *name);
    let seen = built.lshw.as_ref().and_then(|lshw| match alias {
        Some(alias) => lshw.device(alias),
        None => lshw.disk(name),
    });
    let listed = || {
        let disks = &built.inventory.as_ref()?.disks;
        disks.iter().find(|(disk, _)| disk == node.logical_name(name)).map(|(_, bytes)| *bytes)
    };
    let bytes = seen.and_then(|found| found.used.bytes.or(found.device.bytes)).or_else(listed);
    Some(Comparison {
        field: format!("storage.physical_devices.{name}"),
        designed: format!("at least {needed} bytes"),
        built: bytes.map(|bytes| format!("{bytes} bytes")),
        verdict: match bytes {
            Some(bytes) if bytes >= needed => Verdict::Same,
            Some(_) => Verdict::Differs,
            None => Verdict::NotSeen,
        },
    })
}

/// Where it stands and how it is reached.
fn place(node: &Node, built: &Built, fields: &mut Vec<Comparison>) {
    let Some(inventory) = &built.inventory else { return };
    if let Some(rack) = text(&node.effective.settings.rack) {
        fields.push(judge("metadata.rack".to_owned(), rack, inventory.rack.as_deref(), |a, b| a == b));
    }
    if inventory.addresses.is_empty() {
        return;
    }
    for (network, address) in node.static_addresses() {
        let is_there = inventory.addresses.iter().any(|one| one == address);
        fields.push(Comparison {
            field: format!("addressing.{network}"),
            designed: address.to_owned(),
            built: is_there.then(|| address.to_owned()),
            verdict: if is_there { Verdict::Same } else { Verdict::Missing },
        });
    }
}

fn judge(field: String, designed: &str, found: Option<&str>, is_same: fn(&str, &str) -> bool) -> Comparison {
    let verdict = match found {
        None => Verdict::NotSeen,
        Some(found) if is_same(designed, found) => Verdict::Same,
        Some(_) => Verdict::Differs,
    };
    Comparison { field, designed: designed.to_owned(), built: found.map(str::to_owned), verdict }
}

/// `HP` was `Hewlett-Packard` and is `HPE`; `Dell` is `Dell Inc.`.
fn is_vendor(designed: &str, found: &str) -> bool {
    let (designed, found) = (designed.to_lowercase(), found.to_lowercase());
    let is_hp = |name: &str| ["hp", "hpe"].contains(&name) || name.starts_with("hewlett");
    found.contains(&designed) || designed.contains(&found) || (is_hp(&designed) && is_hp(&found))
}

fn is_product(designed: &str, found: &str) -> bool {
    let (designed, found) = (designed.to_lowercase(), found.to_lowercase());
    found.contains(&designed) || designed.contains(&found)
}

/// A version, or `>=` and the lowest that will do. Versions are compared number by number.
fn is_level(designed: &str, found: &str) -> bool {
    let Some(lowest) = designed.strip_prefix(">=") else { return designed.trim() == found };
    let numbers = |version: &str| -> Vec<u64> {
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    numbers(found) >= numbers(lowest)
}

//! Host profiles and nodes as the original printed them. Defaults are filled in here, after all merging.

use serde_json::{Value, json};

use super::fields::{Object, strings, texts};
use crate::{
    compile::{Node, Selector, command_line},
    model::{
        Address, Addressing, BaremetalNode, Field, FileSystem, HostSettings, Interface, LogicalVolume,
        Partition, StorageDevice, VolumeGroup,
    },
};

pub(super) fn profile(name: &str, parent: &Field<String>, settings: &HostSettings) -> Value {
    host(name, parent, settings).done()
}

pub(super) fn designed_node(node: &BaremetalNode) -> Value {
    host(&node.document.name, &node.parent, &node.settings)
        .with("addressing", node.addressing.iter().map(addressing).collect::<Value>())
        .with_field("boot_mac", &node.boot_mac)
        .done()
}

pub(super) fn node(node: &Node) -> Value {
    let settings = &node.effective.settings;
    let interfaces = settings.interfaces.iter().zip(&node.selectors);
    let interfaces = interfaces.map(|(one, selectors)| {
        let printed = interface(one);
        let found = selectors.iter().map(selector).collect::<Value>();
        if selectors.is_empty() { printed.done() } else { printed.with("slave_selectors", found).done() }
    });
    let line = command_line(&node.kernel_params).unwrap_or_else(|error| format!("ERR {error}"));
    host(node.name(), &node.parent, settings)
        .with("addressing", node.addressing.iter().map(addressing).collect::<Value>())
        .with_field("boot_mac", &node.boot_mac)
        .with("interfaces", interfaces.collect::<Value>())
        .with("kernel_params", texts(&node.kernel_params))
        .with("_fqdn", node.fqdn.clone())
        .with("_kernel_param_string", line)
        .with(
            "_logicalnames",
            node.logical_names.iter().map(|(k, v)| (k.clone(), json!(v))).collect::<Value>(),
        )
        .done()
}

fn host(name: &str, parent: &Field<String>, settings: &HostSettings) -> Object {
    Object::default()
        .with("name", name)
        .with_field("parent_profile", parent)
        .with_field("hardware_profile", &settings.hardware_profile)
        .with_field("primary_network", &settings.primary_network)
        .with_field("oob_type", &settings.oob_type)
        .with("oob_parameters", texts(&settings.oob_parameters))
        .with_field("image", &settings.image)
        .with_field("kernel", &settings.kernel)
        .with("kernel_params", texts(&settings.kernel_params))
        .with("tags", strings(&settings.tags))
        .with("owner_data", texts(&settings.owner_data))
        .with_field("rack", &settings.rack)
        .with("interfaces", settings.interfaces.iter().map(|one| interface(one).done()).collect::<Value>())
        .with("storage_devices", settings.storage_devices.iter().map(device).collect::<Value>())
        .with("volume_groups", settings.volume_groups.iter().map(group).collect::<Value>())
}

fn addressing(entry: &Addressing) -> Value {
    let printed = Object::default().with_field("network", &entry.network);
    match &entry.address {
        Address::Dhcp => printed.with("type", "dhcp").done(),
        Address::Static(address) => {
            printed.with("type", "static").with("address", address.value.clone()).done()
        }
    }
}

fn interface(interface: &Interface) -> Object {
    let printed = Object::default()
        .with("device_name", interface.name.value.clone())
        .with_field("network_link", &interface.link)
        .with("hardware_slaves", strings(&interface.slaves))
        .with("networks", strings(&interface.networks));
    let Some(sriov) = &interface.sriov else { return printed };
    printed
        .with("sriov", true)
        .with("vf_count", sriov.vf_count.as_ref().map_or(0, |count| count.value))
        .with("trustedmode", sriov.trustedmode.as_ref().is_some_and(|mode| mode.value))
}

fn selector(selector: &Selector) -> Value {
    match selector {
        Selector::Address { address, device_type } => Object::default()
            .with("selector_type", "address")
            .with("address", address.clone())
            .with("device_type", device_type.clone())
            .done(),
        Selector::Mac(mac) => json!({ "selector_type": "mac", "address": mac }),
        Selector::Serial(serial) => json!({ "selector_type": "serial", "address": serial }),
        Selector::Name(name) => json!({ "selector_type": "name", "address": name }),
    }
}

fn device(device: &StorageDevice) -> Value {
    let partitions = device.partitions.as_ref();
    Object::default()
        .with("name", device.name.value.clone())
        .with("labels", device.labels.as_ref().map(texts))
        .with_field("volume_group", &device.volume_group)
        .with("partitions", partitions.map(|all| all.iter().map(partition).collect::<Value>()))
        .done()
}

fn partition(partition: &Partition) -> Value {
    let printed = Object::default()
        .with("name", partition.name.value.clone())
        .with_field("size", &partition.size)
        .with_field("part_uuid", &partition.part_uuid)
        .with_field("volume_group", &partition.volume_group)
        .with_field("bootable", &partition.bootable);
    filesystem(printed, &partition.filesystem).done()
}

fn group(group: &VolumeGroup) -> Value {
    Object::default()
        .with("name", group.name.value.clone())
        .with_field("vg_uuid", &group.vg_uuid)
        .with("logical_volumes", group.logical_volumes.iter().map(volume).collect::<Value>())
        .done()
}

fn volume(volume: &LogicalVolume) -> Value {
    let printed = Object::default()
        .with("name", volume.name.value.clone())
        .with_field("size", &volume.size)
        .with_field("lv_uuid", &volume.lv_uuid);
    filesystem(printed, &volume.filesystem).done()
}

fn filesystem(printed: Object, filesystem: &Option<FileSystem>) -> Object {
    let Some(filesystem) = filesystem else { return printed };
    let or = |field, default: &str| crate::model::text(field).unwrap_or(default).to_owned();
    printed
        .with_field("mountpoint", &filesystem.mountpoint)
        .with("fstype", or(&filesystem.fstype, FileSystem::FSTYPE))
        .with("mount_options", or(&filesystem.mount_options, FileSystem::MOUNT_OPTIONS))
        .with_field("fs_uuid", &filesystem.fs_uuid)
        .with_field("fs_label", &filesystem.fs_label)
}

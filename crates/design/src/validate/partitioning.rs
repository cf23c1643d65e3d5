//! A disk is partitioned or gives all its space to a volume group, and every volume group has a disk.

use std::collections::HashSet;

use super::finding::{Findings, Severity, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, Partition, StorageDevice, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1002", drydock_id: Some("DD2002"), title: "Storage Partitioning", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    let mut given_before = HashSet::new();
    for node in &site.nodes {
        for device in &node.effective.settings.storage_devices {
            check_device(device, node, findings);
        }
        let devices = node.effective.settings.storage_devices.iter();
        given_before.extend(devices.filter_map(|device| text(&device.volume_group)));
        check_groups(node, &given_before, findings);
    }
}

fn check_device(device: &StorageDevice, node: &Node, findings: &mut Findings) {
    let name = &device.name.value;
    let partitions = device.partitions.as_deref().unwrap_or_default();
    let gives_all = text(&device.volume_group).is_some_and(|group| !group.is_empty());
    if partitions.is_empty() != gives_all {
        let message =
            format!("Storage device {name} must have either partitions or a volume group, and not both");
        findings.error(message, "Specify one of the two for the device.", &[&node.document]);
    }
    let is_both = |partition: &&Partition| partition.filesystem.is_some() && partition.volume_group.is_some();
    for partition in partitions.iter().filter(is_both) {
        let message = format!(
            "Partition {} of device {name} has both a file system and a volume group",
            partition.name.value
        );
        findings.error(message, "Specify one of the two for the partition.", &[&node.document]);
    }
}

/// The original took a group for given if any node before had a disk for it; its sites must not be refused for that.
fn check_groups(node: &Node, given_before: &HashSet<&str>, findings: &mut Findings) {
    let settings = &node.effective.settings;
    let devices = settings.storage_devices.iter().filter_map(|device| text(&device.volume_group));
    let partitions = settings.storage_devices.iter().flat_map(|device| device.partitions.iter().flatten());
    let partitions = partitions.filter_map(|partition| text(&partition.volume_group));
    let given: HashSet<&str> = devices.chain(partitions).collect();
    for group in settings.volume_groups.iter().filter(|group| !given.contains(group.name.value.as_str())) {
        let message = format!("Volume group {} not assigned any physical volumes", group.name.value);
        let is_elsewhere = given_before.contains(group.name.value.as_str());
        let severity = if is_elsewhere { Severity::Warning } else { Severity::Error };
        let advice = "Assign a disk or partition to the volume group.";
        findings.tell(severity, message, advice, &[&node.document]);
    }
}

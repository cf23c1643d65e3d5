//! Shares of a disk or volume group are possible and leave some room.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, Field, StorageDevice, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1003", drydock_id: Some("DD2003"), title: "Storage Sizing", check };

const ADVICE: &str = "Use positive sizes that add up to at most 99%.";

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for device in &node.effective.settings.storage_devices {
            check_partitions(device, node, findings);
            // Diagnostic once per device, as readers of the original's messages count them.
            check_volumes(node, findings);
        }
    }
}

/// From the partition on that goes over, each is told.
fn check_partitions(device: &StorageDevice, node: &Node, findings: &mut Findings) {
    let mut sum: i64 = 0;
    for partition in device.partitions.iter().flatten() {
        let share = share(&partition.size);
        if share < 0 {
            let message = format!(
                "Storage partition {} on device {} size is < 0",
                partition.name.value, device.name.value
            );
            findings.error(message, ADVICE, &[&node.document]);
        }
        sum = sum.saturating_add(share);
        if sum > 99 {
            let message =
                format!("Cumulative partition sizes on device {} is greater than 99%.", device.name.value);
            findings.error(message, ADVICE, &[&node.document]);
        }
    }
}

/// From the group on that goes over, each is told; all groups are summed together.
fn check_volumes(node: &Node, findings: &mut Findings) {
    let mut sum: i64 = 0;
    for group in &node.effective.settings.volume_groups {
        for volume in &group.logical_volumes {
            let share = share(&volume.size);
            if share < 0 {
                let message = format!("Logical Volume {} size is < 0", volume.name.value);
                findings.error(message, ADVICE, &[&node.document]);
            }
            sum = sum.saturating_add(share);
        }
        if sum > 99 {
            let message = format!(
                "Cumulative logical volume size is greater than 99% in volume group {}",
                group.name.value
            );
            findings.error(message, ADVICE, &[&node.document]);
        }
    }
}

/// The percentage of a size that is one; nothing of any other.
fn share(size: &Field<String>) -> i64 {
    let percent = text(size).and_then(|size| size.split_once('%')).filter(|(_, rest)| !rest.contains('%'));
    percent.and_then(|(number, _)| number.trim_start_matches('>').trim().parse().ok()).unwrap_or(0)
}

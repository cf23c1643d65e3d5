//! No two file systems of a node are mounted in one place. The first clash ends the search.

use std::collections::HashSet;

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1004", drydock_id: Some("DD2004"), title: "Storage Mountpoint", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    let clash = site.nodes.iter().find_map(|node| Some((node, first_clash(node)?)));
    if let Some((node, mountpoint)) = clash {
        let message = format!("Mountpoint \"{mountpoint}\" already exists");
        findings.error(message, "Use a unique mount point for each file system.", &[&node.document]);
    }
}

/// Among partitions, and the volumes of groups that have a whole disk; a group on two disks is looked at once.
fn first_clash(node: &Node) -> Option<&str> {
    let settings = &node.effective.settings;
    let partitions = settings.storage_devices.iter().flat_map(|device| device.partitions.iter().flatten());
    let on_disks: HashSet<&str> =
        settings.storage_devices.iter().filter_map(|device| text(&device.volume_group)).collect();
    let groups = settings.volume_groups.iter().filter(|group| on_disks.contains(group.name.value.as_str()));
    let volumes = groups.flat_map(|group| &group.logical_volumes);
    let filesystems = partitions
        .filter_map(|partition| partition.filesystem.as_ref())
        .chain(volumes.filter_map(|volume| volume.filesystem.as_ref()));
    let mut taken = HashSet::new();
    filesystems
        .filter_map(|filesystem| text(&filesystem.mountpoint))
        .find(|mountpoint| !taken.insert(*mountpoint))
}

//! Devices, partitions, volume groups, volumes and file systems merged field by field.

use super::{dicts, field_path::FieldPath, keyed, keyed::Member, ledger::Ledger, scalars};
use crate::model::{FileSystem, LogicalVolume, Partition, Set, StorageDevice, Texts, VolumeGroup};

impl Member for StorageDevice {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        StorageDevice::bare(name)
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        let volume_group = FieldPath::In(path, "volume_group");
        Self {
            name: parent.name.clone(),
            labels: merge_labels(ledger, &FieldPath::In(path, "labels"), &parent.labels, &child.labels),
            volume_group: scalars::merge(ledger, &volume_group, &parent.volume_group, &child.volume_group),
            partitions: merge_partitions(ledger, &FieldPath::In(path, "partitions"), parent, child),
        }
    }
}

fn merge_labels(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &Option<Texts>,
    child: &Option<Texts>,
) -> Option<Texts> {
    let Some(child) = child else { return parent.clone() };
    let nothing = Texts::new();
    Some(dicts::merge(ledger, path, parent.as_ref().unwrap_or(&nothing), child))
}

fn merge_partitions(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &StorageDevice,
    child: &StorageDevice,
) -> Option<Vec<Partition>> {
    let Some(own) = &child.partitions else { return parent.partitions.clone() };
    Some(keyed::merge(ledger, path, parent.partitions.as_deref().unwrap_or_default(), own))
}

impl Member for Partition {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        Self { name, size: None, part_uuid: None, volume_group: None, bootable: None, filesystem: None }
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        let at = |field: &'static str| FieldPath::In(path, field);
        Self {
            name: parent.name.clone(),
            size: scalars::merge(ledger, &at("size"), &parent.size, &child.size),
            part_uuid: scalars::merge(ledger, &at("part_uuid"), &parent.part_uuid, &child.part_uuid),
            volume_group: scalars::merge(
                ledger,
                &at("volume_group"),
                &parent.volume_group,
                &child.volume_group,
            ),
            bootable: scalars::merge(ledger, &at("bootable"), &parent.bootable, &child.bootable),
            filesystem: merge_filesystem(ledger, &at("filesystem"), &parent.filesystem, &child.filesystem),
        }
    }
}

impl Member for VolumeGroup {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        Self { name, vg_uuid: None, logical_volumes: Vec::new() }
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        let volumes = FieldPath::In(path, "logical_volumes");
        Self {
            name: parent.name.clone(),
            vg_uuid: scalars::merge(ledger, &FieldPath::In(path, "vg_uuid"), &parent.vg_uuid, &child.vg_uuid),
            logical_volumes: keyed::merge(ledger, &volumes, &parent.logical_volumes, &child.logical_volumes),
        }
    }
}

impl Member for LogicalVolume {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        Self { name, size: None, lv_uuid: None, filesystem: None }
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        let at = |field: &'static str| FieldPath::In(path, field);
        Self {
            name: parent.name.clone(),
            size: scalars::merge(ledger, &at("size"), &parent.size, &child.size),
            lv_uuid: scalars::merge(ledger, &at("lv_uuid"), &parent.lv_uuid, &child.lv_uuid),
            filesystem: merge_filesystem(ledger, &at("filesystem"), &parent.filesystem, &child.filesystem),
        }
    }
}

/// The stanza is there if any level has it. Its defaults come after all merging, so a level that repeats the stanza does
/// not reset what it is silent about.
fn merge_filesystem(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &Option<FileSystem>,
    child: &Option<FileSystem>,
) -> Option<FileSystem> {
    let Some(child) = child else { return parent.clone() };
    let nothing = FileSystem::default();
    let parent = parent.as_ref().unwrap_or(&nothing);
    let at = |field: &'static str| FieldPath::In(path, field);
    Some(FileSystem {
        mountpoint: scalars::merge(ledger, &at("mountpoint"), &parent.mountpoint, &child.mountpoint),
        fstype: scalars::merge(ledger, &at("fstype"), &parent.fstype, &child.fstype),
        mount_options: scalars::merge(
            ledger,
            &at("mount_options"),
            &parent.mount_options,
            &child.mount_options,
        ),
        fs_uuid: scalars::merge(ledger, &at("fs_uuid"), &parent.fs_uuid, &child.fs_uuid),
        fs_label: scalars::merge(ledger, &at("fs_label"), &parent.fs_label, &child.fs_label),
    })
}

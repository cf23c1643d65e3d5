//! Storage of a host: devices with their partitions, volume groups with their volumes.

use super::{
    Field, Set, Texts,
    section::{Reading, Section},
};

/// A disk. A name that begins with `!` takes it away.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageDevice {
    /// Alias of the hardware profile, or device name.
    pub name: Set<String>,
    /// Labels.
    pub labels: Option<Texts>,
    /// The volume group it gives its space to.
    pub volume_group: Field<String>,
    /// Its partitions, in order.
    pub partitions: Option<Vec<Partition>>,
}

/// A partition of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name, by which levels of inheritance meet.
    pub name: Set<String>,
    /// Its size, such as `20g`, `>20g` or `50%`.
    pub size: Field<String>,
    /// Its identifier.
    pub part_uuid: Field<String>,
    /// The volume group it gives its space to.
    pub volume_group: Field<String>,
    /// Whether the machine boots from it.
    pub bootable: Field<bool>,
    /// File system.
    pub filesystem: Option<FileSystem>,
}

/// A volume group.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeGroup {
    /// Its name.
    pub name: Set<String>,
    /// Its identifier.
    pub vg_uuid: Field<String>,
    /// Its volumes, in order.
    pub logical_volumes: Vec<LogicalVolume>,
}

/// A logical volume.
#[derive(Clone, Debug, PartialEq)]
pub struct LogicalVolume {
    /// Its name.
    pub name: Set<String>,
    /// Its size.
    pub size: Field<String>,
    /// Its identifier.
    pub lv_uuid: Field<String>,
    /// File system.
    pub filesystem: Option<FileSystem>,
}

/// How space is formatted and where it is mounted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSystem {
    /// Where it is mounted.
    pub mountpoint: Field<String>,
    /// Type. Defaults to `ext4`.
    pub fstype: Field<String>,
    /// Mount options. Default to `defaults`.
    pub mount_options: Field<String>,
    /// Its identifier.
    pub fs_uuid: Field<String>,
    /// Its label.
    pub fs_label: Field<String>,
}

impl FileSystem {
    /// Default type of a file system.
    pub const FSTYPE: &'static str = "ext4";
    /// How it is mounted when no level says.
    pub const MOUNT_OPTIONS: &'static str = "defaults";

    /// That of a partition has no other fields; that of a volume may, as the schema forgot to say so.
    fn read(reading: &mut Reading, owner: &Section, is_closed: bool) -> Option<Self> {
        let section = owner.section(reading, "filesystem")?;
        if is_closed {
            section.only(reading, &["mountpoint", "fstype", "mount_options", "fs_uuid", "fs_label"]);
        }
        Some(Self {
            mountpoint: section.text(reading, "mountpoint"),
            fstype: section.text(reading, "fstype"),
            mount_options: section.text(reading, "mount_options"),
            fs_uuid: section.text(reading, "fs_uuid"),
            fs_label: section.text(reading, "fs_label"),
        })
    }
}

impl StorageDevice {
    pub(super) fn read_all(reading: &mut Reading, storage: &Section) -> Vec<Self> {
        let Some(section) = storage.section(reading, "physical_devices") else { return Vec::new() };
        let mut devices = Vec::new();
        for (name, node) in section.things(reading) {
            let path = section.path_of(&name.value);
            if !reading.is_strict() && node.value.as_str().is_some() {
                reading.ignored(
                    &node.at,
                    &path,
                    "a disk must be a map, found a string; it is ignored".to_owned(),
                );
                devices.push(Self::bare(name));
            } else if let Some(device) = Section::of(reading, node, path) {
                devices.push(Self::read(reading, name, &device));
            }
        }
        devices
    }

    /// A disk of which nothing is known but the name.
    pub fn bare(name: Set<String>) -> Self {
        Self { name, labels: None, volume_group: None, partitions: None }
    }

    fn read(reading: &mut Reading, name: Set<String>, device: &Section) -> Self {
        let volume_group = device.text(reading, "volume_group");
        let sections = device.sections(reading, "partitions");
        let partitions: Option<Vec<Partition>> = sections.map(|sections| {
            sections.iter().filter_map(|section| Partition::read(reading, section)).collect()
        });
        // A disk that gives all its space away has no partitions, whatever the same document says of them.
        let partitions = if volume_group.is_some() { None } else { partitions };
        Self { name, labels: device.text_map(reading, "labels", Reading::text), volume_group, partitions }
    }
}

impl Partition {
    fn read(reading: &mut Reading, partition: &Section) -> Option<Self> {
        partition.only(
            reading,
            &["name", "size", "part_uuid", "volume_group", "labels", "bootable", "filesystem"],
        );
        partition.text_map(reading, "labels", Reading::text);
        let (size, part_uuid) = (partition.text(reading, "size"), partition.text(reading, "part_uuid"));
        let volume_group = partition.text(reading, "volume_group");
        let bootable = partition.flag(reading, "bootable");
        let filesystem = FileSystem::read(reading, partition, true);
        let name = named(reading, partition)?;
        Some(Self { name, size, part_uuid, volume_group, bootable, filesystem })
    }
}

impl VolumeGroup {
    pub(super) fn read_all(reading: &mut Reading, storage: &Section) -> Vec<Self> {
        let groups = storage.named_sections(reading, "volume_groups");
        groups.into_iter().map(|(name, group)| Self::read(reading, name, &group)).collect()
    }

    fn read(reading: &mut Reading, name: Set<String>, group: &Section) -> Self {
        let vg_uuid = group.text(reading, "vg_uuid");
        let volumes = group.sections(reading, "logical_volumes").unwrap_or_default();
        let logical_volumes =
            volumes.iter().filter_map(|volume| LogicalVolume::read(reading, volume)).collect();
        Self { name, vg_uuid, logical_volumes }
    }
}

impl LogicalVolume {
    fn read(reading: &mut Reading, volume: &Section) -> Option<Self> {
        let (size, lv_uuid) = (volume.text(reading, "size"), volume.text(reading, "lv_uuid"));
        let filesystem = FileSystem::read(reading, volume, false);
        let name = named(reading, volume)?;
        Some(Self { name, size, lv_uuid, filesystem })
    }
}

/// The name of a member of a list, by which levels of inheritance meet.
fn named(reading: &mut Reading, member: &Section) -> Option<Set<String>> {
    if !member.has("name") {
        reading.invalid(&member.at, &member.path, "`name` is required".to_owned());
        return None;
    }
    member.text(reading, "name")
}

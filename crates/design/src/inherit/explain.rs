//! Every effective value with its path, the document that set it and what it overrides.

use std::{collections::HashMap, fmt};

use super::{
    chain::Effective,
    ledger::{Change, Ledger},
};
use crate::{
    model::{
        Field, FileSystem, HostSettings, Interface, MachineSettings, Origin, Set, StorageDevice, Texts,
        VolumeGroup,
    },
    secrets,
};

/// One effective value and how it came to be.
#[derive(Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The path of the field, such as `storage.physical_devices.sda.partitions.root.size`.
    pub path: String,
    /// The value.
    pub value: String,
    /// Who set it; nobody did if it is a default.
    pub by: Option<Origin>,
    /// The values it took the place of, the latest first.
    pub overrode: Vec<Change>,
}

impl Explanation {
    /// A value that somebody set.
    pub fn set<T: ToString>(path: impl Into<String>, set: &Set<T>) -> Self {
        Self {
            path: path.into(),
            value: set.value.to_string(),
            by: Some(set.by.clone()),
            overrode: Vec::new(),
        }
    }

    /// The value for people to see: a secret is not shown.
    pub fn shown(&self) -> &str {
        secrets::shown(&self.path, &self.value, self.by.as_ref())
    }
}

/// As it is told to people, so that no secret is in it.
impl fmt::Debug for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explanation")
            .field("path", &self.path)
            .field("value", &self.shown())
            .field("by", &self.by)
            .field("overrode", &self.overrode)
            .finish()
    }
}

/// Explains every effective value, in the order of the fields.
pub fn explain(effective: &Effective) -> Vec<Explanation> {
    explain_with(&effective.settings, &effective.settings.machine, &effective.ledger)
}

/// The same, with what the hardware profile says of the machine under it.
pub(crate) fn explain_with(
    settings: &HostSettings,
    machine: &MachineSettings,
    ledger: &Ledger,
) -> Vec<Explanation> {
    let mut leaves = Leaves::default();
    PARTS.iter().for_each(|part| (part.tell)(&mut leaves, settings));
    leaves.machine(machine);
    let mut changes: HashMap<&str, Vec<&Change>> = HashMap::new();
    for change in ledger.levels().flat_map(Ledger::changes) {
        changes.entry(&change.path).or_default().push(change);
    }
    for explanation in &mut leaves.found {
        let lost = changes.get(explanation.path.as_str()).into_iter().flatten();
        explanation.overrode = lost.map(|change| (*change).clone()).collect();
    }
    leaves.found
}

/// The values of the parts in which two nodes differ, of the one and of the other. What is the same in both is not put into
/// words: in a large site that is nearly all.
pub(crate) fn differing(
    before: (&HostSettings, &MachineSettings),
    after: (&HostSettings, &MachineSettings),
) -> (Vec<Explanation>, Vec<Explanation>) {
    let (mut old, mut new) = (Leaves::default(), Leaves::default());
    for part in PARTS.iter().filter(|part| !(part.is_same)(before.0, after.0)) {
        (part.tell)(&mut old, before.0);
        (part.tell)(&mut new, after.0);
    }
    if before.1 != after.1 {
        old.machine(before.1);
        new.machine(after.1);
    }
    (old.found, new.found)
}

/// A part of the settings: whether two have it the same, and its values.
struct Part {
    is_same: fn(&HostSettings, &HostSettings) -> bool,
    tell: fn(&mut Leaves, &HostSettings),
}

const PARTS: [Part; 12] = [
    Part {
        is_same: |a, b| a.hardware_profile == b.hardware_profile,
        tell: |leaves, all| leaves.scalar("hardware_profile", &all.hardware_profile),
    },
    Part {
        is_same: |a, b| a.primary_network == b.primary_network,
        tell: |leaves, all| leaves.scalar("primary_network", &all.primary_network),
    },
    Part {
        is_same: |a, b| a.oob_type == b.oob_type && a.oob_parameters == b.oob_parameters,
        tell: |leaves, all| {
            leaves.scalar("oob.type", &all.oob_type);
            leaves.dict("oob", &all.oob_parameters);
        },
    },
    Part {
        is_same: |a, b| a.image == b.image,
        tell: |leaves, all| leaves.scalar("platform.image", &all.image),
    },
    Part {
        is_same: |a, b| a.kernel == b.kernel,
        tell: |leaves, all| leaves.scalar("platform.kernel", &all.kernel),
    },
    Part {
        is_same: |a, b| a.kernel_params == b.kernel_params,
        tell: |leaves, all| leaves.dict("platform.kernel_params", &all.kernel_params),
    },
    Part { is_same: |a, b| a.tags == b.tags, tell: |leaves, all| leaves.list("metadata.tags", &all.tags) },
    Part {
        is_same: |a, b| a.owner_data == b.owner_data,
        tell: |leaves, all| leaves.dict("metadata.owner_data", &all.owner_data),
    },
    Part { is_same: |a, b| a.rack == b.rack, tell: |leaves, all| leaves.scalar("metadata.rack", &all.rack) },
    Part {
        is_same: |a, b| a.interfaces == b.interfaces,
        tell: |leaves, all| all.interfaces.iter().for_each(|one| leaves.interface(one)),
    },
    Part {
        is_same: |a, b| a.storage_devices == b.storage_devices,
        tell: |leaves, all| all.storage_devices.iter().for_each(|one| leaves.device(one)),
    },
    Part {
        is_same: |a, b| a.volume_groups == b.volume_groups,
        tell: |leaves, all| all.volume_groups.iter().for_each(|one| leaves.group(one)),
    },
];

#[derive(Default)]
struct Leaves {
    found: Vec<Explanation>,
}

impl Leaves {
    fn leaf(&mut self, path: String, value: impl ToString, by: Option<&Origin>) {
        self.found.push(Explanation {
            path,
            value: value.to_string(),
            by: by.cloned(),
            overrode: Vec::new(),
        });
    }

    fn scalar<T: ToString>(&mut self, path: &str, field: &Field<T>) {
        if let Some(set) = field {
            self.leaf(path.to_owned(), set.value.to_string(), Some(&set.by));
        }
    }

    fn scalar_or<T: ToString>(&mut self, path: &str, field: &Field<T>, default: &str) {
        match field {
            Some(_) => self.scalar(path, field),
            None => self.leaf(path.to_owned(), default, None),
        }
    }

    fn list(&mut self, path: &str, list: &[Set<String>]) {
        for entry in list {
            self.leaf(format!("{path}[{}]", entry.value), &entry.value, Some(&entry.by));
        }
    }

    fn dict(&mut self, path: &str, texts: &Texts) {
        for (key, set) in texts {
            self.leaf(format!("{path}.{key}"), &set.value, Some(&set.by));
        }
    }

    fn machine(&mut self, machine: &MachineSettings) {
        self.scalar("storage.boot_device", &machine.boot_device);
        self.scalar("storage.wipe", &machine.wipe);
        self.dict("firmware", &machine.firmware);
        self.dict("bios_settings", &machine.bios_settings);
        self.list("drivers", &machine.drivers);
        for volume in &machine.raid {
            let path = format!("raid.{}", volume.name.value);
            self.leaf(path.clone(), &volume.name.value, Some(&volume.name.by));
            self.scalar(&format!("{path}.level"), &volume.level);
            self.list(&format!("{path}.disks"), &volume.disks);
            self.list(&format!("{path}.spares"), &volume.spares);
            self.scalar(&format!("{path}.size"), &volume.size);
        }
    }

    fn interface(&mut self, interface: &Interface) {
        let path = format!("interfaces.{}", interface.name.value);
        self.leaf(path.clone(), &interface.name.value, Some(&interface.name.by));
        self.scalar(&format!("{path}.device_link"), &interface.link);
        self.list(&format!("{path}.slaves"), &interface.slaves);
        self.list(&format!("{path}.networks"), &interface.networks);
        if let Some(sriov) = &interface.sriov {
            self.scalar_or(&format!("{path}.sriov.vf_count"), &sriov.vf_count, "0");
            self.scalar_or(&format!("{path}.sriov.trustedmode"), &sriov.trustedmode, "false");
        }
    }

    fn device(&mut self, device: &StorageDevice) {
        let path = format!("storage.physical_devices.{}", device.name.value);
        self.leaf(path.clone(), &device.name.value, Some(&device.name.by));
        if let Some(labels) = &device.labels {
            self.dict(&format!("{path}.labels"), labels);
        }
        self.scalar(&format!("{path}.volume_group"), &device.volume_group);
        for partition in device.partitions.iter().flatten() {
            let path = format!("{path}.partitions.{}", partition.name.value);
            self.leaf(path.clone(), &partition.name.value, Some(&partition.name.by));
            self.scalar(&format!("{path}.size"), &partition.size);
            self.scalar(&format!("{path}.part_uuid"), &partition.part_uuid);
            self.scalar(&format!("{path}.volume_group"), &partition.volume_group);
            self.scalar(&format!("{path}.bootable"), &partition.bootable);
            self.filesystem(&path, &partition.filesystem);
        }
    }

    fn group(&mut self, group: &VolumeGroup) {
        let path = format!("storage.volume_groups.{}", group.name.value);
        self.leaf(path.clone(), &group.name.value, Some(&group.name.by));
        self.scalar(&format!("{path}.vg_uuid"), &group.vg_uuid);
        for volume in &group.logical_volumes {
            let path = format!("{path}.logical_volumes.{}", volume.name.value);
            self.leaf(path.clone(), &volume.name.value, Some(&volume.name.by));
            self.scalar(&format!("{path}.size"), &volume.size);
            self.scalar(&format!("{path}.lv_uuid"), &volume.lv_uuid);
            self.filesystem(&path, &volume.filesystem);
        }
    }

    fn filesystem(&mut self, owner: &str, filesystem: &Option<FileSystem>) {
        let Some(filesystem) = filesystem else { return };
        let path = format!("{owner}.filesystem");
        self.scalar(&format!("{path}.mountpoint"), &filesystem.mountpoint);
        self.scalar_or(&format!("{path}.fstype"), &filesystem.fstype, FileSystem::FSTYPE);
        self.scalar_or(
            &format!("{path}.mount_options"),
            &filesystem.mount_options,
            FileSystem::MOUNT_OPTIONS,
        );
        self.scalar(&format!("{path}.fs_uuid"), &filesystem.fs_uuid);
        self.scalar(&format!("{path}.fs_label"), &filesystem.fs_label);
    }
}

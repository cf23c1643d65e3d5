//! Settings below the operating system merged, each field by its rule.

use super::{dicts, field_path::FieldPath, keyed, keyed::Member, ledger::Ledger, lists, scalars};
use crate::model::{MachineSettings, RaidVolume, Set};

pub(crate) fn merge(
    ledger: &mut Ledger,
    parent: &MachineSettings,
    child: &MachineSettings,
) -> MachineSettings {
    MachineSettings {
        firmware: dicts::merge(ledger, &FieldPath::Top("firmware"), &parent.firmware, &child.firmware),
        bios_settings: dicts::merge(
            ledger,
            &FieldPath::Top("bios_settings"),
            &parent.bios_settings,
            &child.bios_settings,
        ),
        raid: keyed::merge(ledger, &FieldPath::Top("raid"), &parent.raid, &child.raid),
        drivers: lists::merge(ledger, &FieldPath::Top("drivers"), &parent.drivers, &child.drivers),
        boot_device: scalars::merge(
            ledger,
            &FieldPath::Top("storage.boot_device"),
            &parent.boot_device,
            &child.boot_device,
        ),
        wipe: scalars::merge(ledger, &FieldPath::Top("storage.wipe"), &parent.wipe, &child.wipe),
    }
}

impl Member for RaidVolume {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        RaidVolume::bare(name)
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        Self {
            name: parent.name.clone(),
            level: scalars::merge(ledger, &FieldPath::In(path, "level"), &parent.level, &child.level),
            disks: lists::merge(ledger, &FieldPath::In(path, "disks"), &parent.disks, &child.disks),
            spares: lists::merge(ledger, &FieldPath::In(path, "spares"), &parent.spares, &child.spares),
            size: scalars::merge(ledger, &FieldPath::In(path, "size"), &parent.size, &child.size),
        }
    }
}

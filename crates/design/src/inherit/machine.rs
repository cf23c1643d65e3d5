//! Settings below the operating system merged, each field by its rule.

use super::{dicts, keyed, keyed::Member, ledger::Ledger, lists, scalars};
use crate::model::{MachineSettings, RaidVolume, Set};

pub(crate) fn merge(
    ledger: &mut Ledger,
    parent: &MachineSettings,
    child: &MachineSettings,
) -> MachineSettings {
    MachineSettings {
        firmware: dicts::merge(ledger, "firmware", &parent.firmware, &child.firmware),
        bios_settings: dicts::merge(ledger, "bios_settings", &parent.bios_settings, &child.bios_settings),
        raid: keyed::merge(ledger, "raid", &parent.raid, &child.raid),
        drivers: lists::merge(ledger, "drivers", &parent.drivers, &child.drivers),
        boot_device: scalars::merge(ledger, "storage.boot_device", &parent.boot_device, &child.boot_device),
        wipe: scalars::merge(ledger, "storage.wipe", &parent.wipe, &child.wipe),
    }
}

impl Member for RaidVolume {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        RaidVolume::bare(name)
    }

    fn merge(ledger: &mut Ledger, path: &str, parent: &Self, child: &Self) -> Self {
        Self {
            name: parent.name.clone(),
            level: scalars::merge(ledger, &format!("{path}.level"), &parent.level, &child.level),
            disks: lists::merge(ledger, &format!("{path}.disks"), &parent.disks, &child.disks),
            spares: lists::merge(ledger, &format!("{path}.spares"), &parent.spares, &child.spares),
            size: scalars::merge(ledger, &format!("{path}.size"), &parent.size, &child.size),
        }
    }
}

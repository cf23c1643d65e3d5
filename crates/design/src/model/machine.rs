//! Machine settings below the operating system: firmware, BIOS, RAID, drivers, boot device and disk wiping.
//!
//! Not in Drydock: only documents of `design.groundplane.dev` have these fields. Host profiles and nodes override the
//! hardware profile.

use super::{
    Field, Set, Texts,
    section::{Reading, Section},
};

/// The settings of a machine below its operating system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineSettings {
    /// The level of each component's firmware: a version, or `>=` and the lowest that will do.
    pub firmware: Texts,
    /// BIOS settings by the names the vendor gives them.
    pub bios_settings: Texts,
    /// Volumes that a RAID controller makes, in order.
    pub raid: Vec<RaidVolume>,
    /// The driver packages it needs, by name.
    pub drivers: Vec<Set<String>>,
    /// Boot disk: an alias, a RAID volume or a device name.
    pub boot_device: Field<String>,
    /// How disks are wiped when the host is released.
    pub wipe: Field<String>,
}

/// A volume that a RAID controller makes of several disks. A name that begins with `!` takes it away.
#[derive(Clone, Debug, PartialEq)]
pub struct RaidVolume {
    /// Its name, by which levels of inheritance meet and disks are named.
    pub name: Set<String>,
    /// `0`, `1`, `5`, `6`, `10`, `50` or `60`.
    pub level: Field<String>,
    /// The disks it is made of.
    pub disks: Vec<Set<String>>,
    /// Disks that take over when one fails.
    pub spares: Vec<Set<String>>,
    /// Size. Defaults to all available space.
    pub size: Field<String>,
}

/// The fields of a hardware profile, host profile or node that hold these settings.
pub(super) const FIELDS: [&str; 4] = ["firmware", "bios_settings", "raid", "drivers"];

/// What may become of the content of disks.
pub(super) const WIPES: [&str; 4] = ["none", "quick", "full", "secure"];

/// The RAID levels there are, and how many disks each needs.
pub(crate) const RAID_LEVELS: [(&str, usize); 7] =
    [("0", 1), ("1", 2), ("5", 3), ("6", 4), ("10", 4), ("50", 6), ("60", 8)];

impl MachineSettings {
    /// Documents of other dialects have none.
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        if !reading.is_extended() {
            return Self::default();
        }
        let volumes = data.named_sections(reading, "raid");
        let storage = data.raw("storage").and_then(|node| node.value.as_map()).is_some();
        let storage = storage.then(|| data.section(reading, "storage")).flatten();
        Self {
            firmware: data.text_map(reading, "firmware", Reading::coerced).unwrap_or_default(),
            bios_settings: data.text_map(reading, "bios_settings", Reading::coerced).unwrap_or_default(),
            raid: volumes.into_iter().map(|(name, one)| RaidVolume::read(reading, name, &one)).collect(),
            drivers: data.texts(reading, "drivers").unwrap_or_default(),
            boot_device: storage.as_ref().and_then(|storage| storage.text(reading, "boot_device")),
            wipe: storage.and_then(|storage| storage.one_of(reading, "wipe", &WIPES_AND_UNSET)),
        }
    }
}

const WIPES_AND_UNSET: [&str; 5] = [WIPES[0], WIPES[1], WIPES[2], WIPES[3], "!"];

impl RaidVolume {
    /// A volume of which nothing is known but the name.
    pub fn bare(name: Set<String>) -> Self {
        Self { name, level: None, disks: Vec::new(), spares: Vec::new(), size: None }
    }

    fn read(reading: &mut Reading, name: Set<String>, volume: &Section) -> Self {
        volume.only(reading, &["level", "disks", "spares", "size"]);
        Self {
            name,
            level: volume.loose_text(reading, "level"),
            disks: volume.texts(reading, "disks").unwrap_or_default(),
            spares: volume.texts(reading, "spares").unwrap_or_default(),
            size: volume.text(reading, "size"),
        }
    }
}

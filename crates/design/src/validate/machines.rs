//! RAID volumes have a level and the disks it needs, and a machine boots from a disk it has.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, RAID_LEVELS, RaidVolume, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1011", drydock_id: None, title: "RAID and Boot Device", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for volume in &node.machine.raid {
            check_volume(volume, node, findings);
        }
        check_boot_device(node, design, findings);
    }
}

fn check_volume(volume: &RaidVolume, node: &Node, findings: &mut Findings) {
    let name = &volume.name.value;
    let level = text(&volume.level).unwrap_or_default();
    let Some((_, needed)) = RAID_LEVELS.iter().find(|(known, _)| *known == level) else {
        let known: Vec<&str> = RAID_LEVELS.iter().map(|(level, _)| *level).collect();
        let message = format!("RAID volume {name} has an invalid level: `{level}`.");
        findings.error(message, &format!("Use one of {}.", known.join(", ")), &[&node.document]);
        return;
    };
    if volume.disks.len() < *needed {
        let message = format!(
            "RAID volume {name} has {} disks; level {level} needs at least {needed}.",
            volume.disks.len()
        );
        findings.error(message, "Add disks, or use another level.", &[&node.document]);
    }
    for (i, disk) in volume.disks.iter().chain(&volume.spares).enumerate() {
        if volume.disks.iter().chain(&volume.spares).take(i).any(|earlier| earlier.value == disk.value) {
            let message = format!("RAID volume {name} lists disk {} twice.", disk.value);
            findings.error(message, "List each disk once.", &[&node.document]);
        }
    }
}

/// An alias, a RAID volume or a disk of the storage plan; another name is one the system gives, and cannot be judged.
fn check_boot_device(node: &Node, design: &Design, findings: &mut Findings) {
    let Some(boot) = text(&node.machine.boot_device) else { return };
    let consumed = node.machine.raid.iter().find(|volume| volume.disks.iter().any(|disk| disk.value == boot));
    if let Some(volume) = consumed {
        let message = format!(
            "{} boots from {boot}, which is a disk of RAID volume {}.",
            node.name(),
            volume.name.value
        );
        findings.error(message, "Boot from the RAID volume.", &[&node.document]);
    }
    let settings = &node.effective.settings;
    let is_planned = settings.storage_devices.iter().any(|device| device.name.value == boot);
    let is_volume = node.machine.raid.iter().any(|volume| volume.name.value == boot);
    let hardware =
        design.hardware_profiles.iter().find(|one| Some(one.name()) == text(&settings.hardware_profile));
    let is_alias = hardware.is_some_and(|profile| profile.aliases.iter().any(|one| one.alias.value == boot));
    if !is_planned && !is_volume && !is_alias {
        let message = format!(
            "{} boots from {boot}, which is not an alias, RAID volume or disk of its storage layout.",
            node.name()
        );
        findings.warning(message, "Use an alias of the hardware profile as boot device.", &[&node.document]);
    }
}

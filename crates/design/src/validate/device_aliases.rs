//! A device that is neither an alias nor looks like a device name is probably a typing mistake.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, values},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1009", drydock_id: None, title: "Device Aliases", check };

fn check(design: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        let Some(profile) = hardware_of(node, design) else { continue };
        let known: Vec<&str> = profile.aliases.iter().map(|alias| alias.alias.value.as_str()).collect();
        let settings = &node.effective.settings;
        let slaves = settings.interfaces.iter().flat_map(|interface| values(&interface.slaves));
        let disks = settings.storage_devices.iter().map(|device| device.name.value.as_str());
        for device in slaves.chain(disks).filter(|device| !known.contains(device)) {
            if let Some(meant) = known.iter().find(|alias| is_slip(alias, device)) {
                let message =
                    format!("Device {device} of {} is not an alias; did you mean {meant}?", node.document);
                let advice = "Correct the name, or define it as an alias of the hardware profile.";
                findings.warning(message, advice, &[&node.document, &profile.document]);
            }
        }
    }
}

fn hardware_of<'d>(node: &Node, design: &'d Design) -> Option<&'d crate::model::HardwareProfile> {
    let name = node.effective.settings.hardware_profile.as_ref()?;
    design.hardware_profiles.iter().find(|profile| profile.name() == name.value).map(AsRef::as_ref)
}

/// Whether one letter was changed, added, left out or written in another case.
fn is_slip(alias: &str, written: &str) -> bool {
    if alias.eq_ignore_ascii_case(written) {
        return true;
    }
    let (short, long) = if alias.len() <= written.len() { (alias, written) } else { (written, alias) };
    if short.len() < 6 || long.len() - short.len() > 1 {
        return false;
    }
    // Numbers tell devices apart, so a changed digit is another device and not a slip.
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let head = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let tail = short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count();
    let differs = long.get(head).is_some_and(|letter| !letter.is_ascii_digit());
    differs && head + tail + 1 >= long.len()
}

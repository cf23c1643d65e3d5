//! Every node has a partition named `root` that is large enough, and a `boot` after it is too.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, LogicalVolume, Size, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1001", drydock_id: Some("DD1001"), title: "Rational Boot Storage", check };

const ROOT: u64 = 20_000_000_000;
const BOOT: u64 = 1_000_000_000;

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        check_node(node, findings);
    }
}

fn check_node(node: &Node, findings: &mut Findings) {
    let devices = &node.effective.settings.storage_devices;
    let mut has_root = false;
    for partition in devices.iter().flat_map(|device| device.partitions.iter().flatten()) {
        let volume = match partition.name.value.as_str() {
            "root" => Volume { title: "Root", at_least: ROOT, in_words: "20GB" },
            "boot" if has_root => Volume { title: "Boot", at_least: BOOT, in_words: "1GB" },
            _ => continue,
        };
        let size = text(&partition.size).and_then(Size::absolute_decimal);
        has_root |= volume.title == "Root" && size.is_some();
        volume.check(size, node, findings);
    }
    if !has_root && !has_volume_for_root(node, findings) {
        let message =
            format!("Root volume has to be set and must be > 20GB on BaremetalNode {}", node.name());
        let advice = "All nodes require a defined root volume at least 20GB in size.";
        findings.error(message, advice, &[&node.document]);
    }
}

/// A root on a logical volume counts where the design also says what the machine boots from; the original knows none.
fn has_volume_for_root(node: &Node, findings: &mut Findings) -> bool {
    if node.machine.boot_device.is_none() {
        return false;
    }
    let groups = node.effective.settings.volume_groups.iter();
    let mut volumes = groups.flat_map(|group| &group.logical_volumes);
    let is_root = |volume: &&LogicalVolume| {
        volume.filesystem.as_ref().is_some_and(|filesystem| text(&filesystem.mountpoint) == Some("/"))
    };
    let Some(root) = volumes.find(is_root) else { return false };
    // A share or what is left can be judged only beside the hardware.
    let size = text(&root.size).and_then(|size| Size::parse(size).ok()).map(|size| size.bytes(None));
    if let Some(Ok(bytes)) = size {
        Volume { title: "Root", at_least: ROOT, in_words: "20GB" }.check(Some(bytes), node, findings);
    }
    true
}

struct Volume {
    title: &'static str,
    at_least: u64,
    in_words: &'static str,
}

impl Volume {
    fn check(&self, size: Option<u64>, node: &Node, findings: &mut Findings) {
        let Self { title, at_least, in_words } = self;
        match size {
            None => {
                let message =
                    format!("{title} volume has an invalid size format on BaremetalNode {}.", node.name());
                let advice = "Use a number and a unit, such as 20g, for this volume.";
                findings.error(message, advice, &[&node.document]);
            }
            Some(size) if size < *at_least => {
                let message = format!("{title} volume must be > {in_words} on BaremetalNode {}", node.name());
                let advice = format!("Configure a larger volume, at least {in_words}.");
                findings.error(message, &advice, &[&node.document]);
            }
            Some(_) => {}
        }
    }
}

//! Shares of a disk or volume group are possible and leave some room.

use super::finding::{Findings, Validator};
use crate::{
    compile::{Node, Site},
    model::{Design, Field, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1003", drydock_id: Some("DD2003"), title: "Storage Sizing", check };

const ADVICE: &str = "Make the shares positive, together no more than 99 percent.";

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        for device in &node.effective.settings.storage_devices {
            let partitions = device.partitions.iter().flatten();
            let shares = Shares { what: "Partition", of: format!("device {}", device.name.value) };
            let sizes = partitions.map(|partition| (partition.name.value.as_str(), &partition.size));
            shares.check(sizes, node, findings);
            // Told once per device, as readers of the original's messages count them.
            let groups = node.effective.settings.volume_groups.iter();
            let volumes = groups.flat_map(|group| &group.logical_volumes);
            let shares = Shares { what: "Logical Volume", of: "all volume groups".to_owned() };
            shares.check(volumes.map(|volume| (volume.name.value.as_str(), &volume.size)), node, findings);
        }
    }
}

struct Shares {
    what: &'static str,
    of: String,
}

impl Shares {
    fn check<'s>(
        &self,
        sizes: impl Iterator<Item = (&'s str, &'s Field<String>)>,
        node: &Node,
        findings: &mut Findings,
    ) {
        let mut sum: i64 = 0;
        for (name, size) in sizes {
            let share = text(size).and_then(percent);
            if share.is_some_and(|share| share < 0) {
                findings.error(format!("{} {name} size is < 0", self.what), ADVICE, &[&node.document]);
            }
            sum = sum.saturating_add(share.unwrap_or(0));
            if sum > 99 {
                let message = format!("Cumulative {} sizes on {} is greater than 99%.", self.what, self.of);
                findings.error(message, ADVICE, &[&node.document]);
            }
        }
    }
}

fn percent(size: &str) -> Option<i64> {
    size.strip_suffix('%')?.trim_start_matches('>').parse().ok()
}

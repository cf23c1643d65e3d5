//! The plan of a task before it is created: what is done on each node, and what is lost.

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::action::{Action, Step};
use crate::work::NodeWork;

/// What a task would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPlan {
    /// The action.
    pub action: Action,
    /// Name of the design.
    pub design: String,
    /// Number of the revision.
    pub revision: i64,
    /// Name of the provisioner.
    pub provisioner: String,
    /// Steps of the site, if the action is about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The nodes, in the order of the design.
    pub nodes: Vec<NodePlan>,
    /// What keeps the task from beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Digest of all of the above. A task that carries it does exactly this, or nothing.
    #[serde(default)]
    pub digest: String,
}

/// What a task would do on a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlan {
    /// Name of the node.
    pub node: String,
    /// What is done, in order.
    pub does: Vec<String>,
    /// What is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loses: Vec<String>,
}

impl TaskPlan {
    /// The plan of an action on nodes.
    pub fn of(
        action: Action,
        (design, revision): (&str, i64),
        provisioner: &str,
        nodes: &[NodeWork],
        problems: Vec<String>,
    ) -> TaskPlan {
        let is_site = action.is_about_the_site();
        let mut plan = TaskPlan {
            action,
            design: design.to_owned(),
            revision,
            provisioner: provisioner.to_owned(),
            steps: if is_site { action.steps().to_vec() } else { Vec::new() },
            nodes: nodes.iter().filter(|_| !is_site).map(|node| node_plan(action, node)).collect(),
            problems,
            digest: String::new(),
        };
        let bytes = serde_json::to_vec(&plan).unwrap_or_default();
        let hash = digest(&SHA256, &bytes);
        let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        plan.digest = format!("sha256:{hex}");
        plan
    }
}

fn node_plan(action: Action, node: &NodeWork) -> NodePlan {
    let does = action.steps().iter().filter_map(|step| told(*step, node)).collect();
    NodePlan { node: node.name.clone(), does, loses: losses(action, node) }
}

/// What a step does on a node; nothing for steps that only look.
fn told(step: Step, node: &NodeWork) -> Option<String> {
    let or = |text: &Option<String>, default: &str| text.clone().unwrap_or_else(|| default.to_owned());
    Some(match step {
        Step::ClaimHost => "claim the host".to_owned(),
        Step::InterrogateOob => "read the power state from the BMC".to_owned(),
        Step::SetNodeBoot => {
            "set the BMC to boot from the network, unless the provisioner knows the node".to_owned()
        }
        Step::PowerCycleNode => "power-cycle".to_owned(),
        Step::ConfigureHardware => {
            let mut parts = vec!["inspect the hardware".to_owned()];
            if !node.machine.firmware.is_empty() {
                let levels: Vec<String> =
                    node.machine.firmware.iter().map(|(part, level)| format!("{part} {level}")).collect();
                parts.push(format!("bring firmware to {}", levels.join(", ")));
            }
            if !node.machine.bios_settings.is_empty() {
                parts.push(format!("set {} BIOS settings", node.machine.bios_settings.len()));
            }
            for raid in &node.machine.raid {
                parts.push(format!("make RAID {} volume {}", or(&raid.level, "?"), raid.name));
            }
            parts.join(", ")
        }
        Step::CompareHardware => "compare the hardware with the design".to_owned(),
        Step::ConfigPortProvisioning | Step::ConfigPortProduction => {
            let ports = crate::drivers::network::intended(node, step);
            format!("record the intended state of {} switch ports", ports.len())
        }
        Step::ApplyNodeNetworking => {
            let all = node.interfaces.iter().filter(|one| !one.is_untouched);
            let all = all.map(|one| {
                let networks: Vec<&str> = one.networks.iter().map(|network| network.name.as_str()).collect();
                format!("{} ({})", one.name, networks.join(", "))
            });
            format!("configure interfaces: {}", all.collect::<Vec<_>>().join("; "))
        }
        Step::ApplyNodeStorage => {
            let disks: Vec<&str> = node.storage.disks.iter().map(|disk| disk.device.as_str()).collect();
            format!("partition {}", if disks.is_empty() { "no disk".to_owned() } else { disks.join(", ") })
        }
        Step::ApplyNodePlatform => {
            format!("set the kernel command line {:?} and {} tags", node.kernel_parameters, node.tags.len())
        }
        Step::DeployNode => {
            format!(
                "install {} with kernel {}",
                or(&node.image, "the default image"),
                or(&node.kernel, "of the image")
            )
        }
        Step::BootactionReport if node.boot_actions.is_empty() => return None,
        Step::BootactionReport => {
            let names: Vec<&str> = node.boot_actions.iter().map(|one| one.name.as_str()).collect();
            format!("wait for boot actions {}", names.join(", "))
        }
        Step::DestroyNode => "release the node".to_owned(),
        Step::RelabelNode => format!("set {} labels in Kubernetes", node.labels.len()),
        _ => return None,
    })
}

/// What is lost on a node.
fn losses(action: Action, node: &NodeWork) -> Vec<String> {
    match action {
        Action::DeployNodes if node.storage.disks.is_empty() => {
            vec!["the content of the boot disk".to_owned(), "the running operating system".to_owned()]
        }
        Action::DeployNodes => {
            let disks = node.storage.disks.iter().map(|disk| {
                let alias =
                    if disk.name == disk.device { String::new() } else { format!(" ({})", disk.name) };
                format!("the content of disk {}{alias}", disk.device)
            });
            disks.chain(["the running operating system".to_owned()]).collect()
        }
        Action::DestroyNodes => {
            let wipe = node.storage.wipe.as_deref().unwrap_or("quick");
            match wipe {
                "none" => vec!["the running operating system; disks are not wiped".to_owned()],
                wipe => vec![
                    format!("the content of all disks ({wipe} wipe)"),
                    "the running operating system".to_owned(),
                ],
            }
        }
        Action::PrepareNodes if !node.machine.raid.is_empty() => {
            let disks: Vec<&str> =
                node.machine.raid.iter().flat_map(|raid| raid.disks.iter().map(String::as_str)).collect();
            vec![format!("the content of disks that become RAID volumes: {}", disks.join(", "))]
        }
        Action::PrepareNodes => {
            vec!["what runs on a node that the provisioner does not know: it is power-cycled".to_owned()]
        }
        Action::RebootNodes => vec!["what runs on the node: it is power-cycled".to_owned()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::{Disk, StorageWork};

    fn node(name: &str) -> NodeWork {
        let disk = Disk {
            name: "bootdisk".to_owned(),
            device: "sda".to_owned(),
            volume_group: None,
            partitions: Vec::new(),
        };
        let storage = StorageWork { disks: vec![disk], ..StorageWork::default() };
        NodeWork { name: name.to_owned(), image: Some("jammy".to_owned()), storage, ..NodeWork::default() }
    }

    #[test]
    fn a_plan_says_which_disks_are_lost_and_its_digest_follows_from_what_it_does() {
        let plan = TaskPlan::of(Action::DeployNodes, ("site", 3), "default", &[node("n1")], Vec::new());
        assert!(plan.nodes[0].loses.contains(&"the content of disk sda (bootdisk)".to_owned()), "{plan:?}");
        assert!(plan.nodes[0].does.iter().any(|what| what.contains("install jammy")), "{plan:?}");
        let same = TaskPlan::of(Action::DeployNodes, ("site", 3), "default", &[node("n1")], Vec::new());
        assert_eq!(plan.digest, same.digest);
        let other = TaskPlan::of(Action::DeployNodes, ("site", 4), "default", &[node("n1")], Vec::new());
        assert_ne!(plan.digest, other.digest);
    }
}

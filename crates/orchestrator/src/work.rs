//! What a driver gets to know of a design: the effective settings of a node, and what all nodes of a site share.
//!
//! These are plain values, in the order of the design, without references to its documents. Secrets are not in them.

mod node;
mod site;

pub use node::{
    Address, Bond, BootActionWork, Disk, Filesystem, InterfaceWork, LogicalVolumeWork, MachineWork,
    NetworkOnInterface, NodeWork, PartitionWork, RaidWork, Slave, StorageWork, VolumeGroupWork,
};
pub use site::{LinkWork, NetworkWork, RangeWork, RepositoryWork, RouteWork, SiteWork, SwitchWork};

/// Pairs in the order of the design.
pub type Pairs = Vec<(String, String)>;

fn owned(field: &design::model::Field<String>) -> Option<String> {
    design::model::text(field).map(str::to_owned)
}

fn pairs(texts: &design::model::Texts) -> Pairs {
    texts.iter().map(|(key, set)| (key.clone(), set.value.clone())).collect()
}

fn list(values: &[design::model::Set<String>]) -> Vec<String> {
    design::model::values(values).map(str::to_owned).collect()
}

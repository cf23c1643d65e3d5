//! The kinds of a site design as types: one file per kind, read strictly, every value with its origin.
//!
//! Documents of the current formats are validated against the schema of their kind: unknown fields and wrong types are
//! reported with file and line, all of them. Documents of the legacy format are read leniently.

mod baremetal_node;
mod boot_action;
mod design;
mod driver_package;
mod hardware_profile;
mod host_profile;
mod host_settings;
mod interface;
mod loose;
mod machine;
mod network;
mod network_link;
mod node_filter;
mod origin;
mod problem;
mod rack;
mod region;
mod section;
mod size;
mod storage;

pub use baremetal_node::{Address, Addressing, BaremetalNode};
pub use boot_action::{Asset, BootAction};
pub(crate) use design::ReadDocument;
pub use design::{Design, Outcome};
pub use driver_package::DriverPackage;
pub use hardware_profile::{DeviceAlias, HardwareProfile, Hugepages};
pub use host_profile::HostProfile;
pub use host_settings::HostSettings;
pub use interface::{Interface, Sriov};
pub(crate) use machine::RAID_LEVELS;
pub use machine::{MachineSettings, RaidVolume};
pub use network::{DhcpRelay, Labels, Network, Range, Route};
pub use network_link::{BondMode, Bonding, NetworkLink, TrunkMode};
pub use node_filter::{Criteria, NodeFilter};
pub use origin::{DocumentRef, Field, Origin, Set, Texts, text, values};
pub use problem::{Fault, Problem};
pub use rack::{Rack, TorSwitch};
pub use region::{Region, Repositories, Repository, TagDefinition};
pub use size::{Size, SizeError, Space, Unit};
pub use storage::{FileSystem, LogicalVolume, Partition, StorageDevice, VolumeGroup};

//! The effective settings of one node.

use design::compile::{Lshw, Node, Selector, Site, command_line};
use design::model::{self, BondMode, Design, NetworkLink};
use serde::{Deserialize, Serialize};

use super::{Pairs, list, owned, pairs};

/// The effective settings of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeWork {
    /// Name of the node, which is its hostname.
    pub name: String,
    /// Domain of the node.
    pub domain: String,
    /// MAC address that it boots from.
    pub boot_mac: Option<String>,
    /// How its BMC is spoken to: `redfish`, `ipmi`, `libvirt` or `manual`.
    pub oob_type: Option<String>,
    /// Address of its BMC.
    pub oob_address: Option<String>,
    /// Account at the BMC.
    pub oob_account: Option<String>,
    /// URI of libvirt.
    pub libvirt_uri: Option<String>,
    /// Image of the operating system.
    pub image: Option<String>,
    /// Kernel.
    pub kernel: Option<String>,
    /// Kernel command line.
    pub kernel_parameters: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Labels.
    pub labels: Pairs,
    /// Rack.
    pub rack: Option<String>,
    /// Name of the primary network.
    pub primary_network: Option<String>,
    /// DNS servers.
    pub dns_servers: Vec<String>,
    /// DNS search domains.
    pub dns_search: Vec<String>,
    /// Interfaces.
    pub interfaces: Vec<InterfaceWork>,
    /// Disks and volumes.
    pub storage: StorageWork,
    /// Settings below the operating system.
    pub machine: MachineWork,
    /// Packages that boot actions install, with a version or none.
    pub packages: Vec<(String, Option<String>)>,
    /// Boot actions that target the node.
    pub boot_actions: Vec<BootActionWork>,
}

/// A boot action that targets a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BootActionWork {
    /// Its name.
    pub name: String,
    /// Whether the node reports about it.
    pub signaling: bool,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterfaceWork {
    /// Its name.
    pub name: String,
    /// Name of the link.
    pub link: Option<String>,
    /// Largest packet of the link.
    pub mtu: i64,
    /// Whether drivers keep away from the link.
    pub is_untouched: bool,
    /// How its ports are bonded; `None` if they are not.
    pub bond: Option<Bond>,
    /// Its ports.
    pub slaves: Vec<Slave>,
    /// Networks on it.
    pub networks: Vec<NetworkOnInterface>,
    /// Number of virtual functions; 0 if there are none.
    pub virtual_functions: i64,
}

/// How ports are bonded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bond {
    /// Mode: `802.3ad`, `balance-rr` or `active-backup`.
    pub mode: String,
    /// Link monitoring interval in milliseconds.
    pub mon_rate: Option<i64>,
    /// Delay before a port is used, in milliseconds.
    pub up_delay: Option<i64>,
    /// Delay before a port is given up, in milliseconds.
    pub down_delay: Option<i64>,
    /// Hash policy.
    pub hash: Option<String>,
    /// LACP rate.
    pub peer_rate: Option<String>,
}

/// A port of an interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slave {
    /// Alias or device name, as the design has it.
    pub name: String,
    /// What the system calls it, as far as it is known.
    pub device: String,
    /// How it is found, for people.
    pub found_by: String,
}

/// A network on an interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkOnInterface {
    /// Its name.
    pub name: String,
    /// Subnet.
    pub cidr: String,
    /// VLAN id; 0 is untagged.
    pub vlan: i64,
    /// Largest packet.
    pub mtu: Option<i64>,
    /// Whether it is carried untagged on the link.
    pub is_native: bool,
    /// Whether it has the default route.
    pub is_primary: bool,
    /// The address of the node.
    pub address: Address,
    /// Default gateway of the network.
    pub gateway: Option<String>,
}

/// The address of a node on a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Address {
    /// By DHCP.
    Dhcp,
    /// This one.
    Static(String),
    /// None: the link is up.
    None,
}

/// Disks and volumes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageWork {
    /// Disks, in order.
    pub disks: Vec<Disk>,
    /// Volume groups, in order.
    pub volume_groups: Vec<VolumeGroupWork>,
    /// Boot disk, as the system calls it.
    pub boot_device: Option<String>,
    /// How disks are wiped: `none`, `quick`, `full` or `secure`.
    pub wipe: Option<String>,
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Alias or device name, as the design has it.
    pub name: String,
    /// What the system calls it.
    pub device: String,
    /// Volume group that it gives its space to.
    pub volume_group: Option<String>,
    /// Partitions, in order.
    pub partitions: Vec<PartitionWork>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartitionWork {
    /// Its name.
    pub name: String,
    /// Its size, as the design has it.
    pub size: Option<String>,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Volume group that it gives its space to.
    pub volume_group: Option<String>,
    /// Whether the machine boots from it.
    pub is_bootable: bool,
    /// File system.
    pub filesystem: Option<Filesystem>,
}

/// A file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Where it is mounted.
    pub mountpoint: Option<String>,
    /// Its type.
    pub fstype: String,
    /// Mount options.
    pub mount_options: String,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Its label.
    pub label: Option<String>,
}

/// A volume group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeGroupWork {
    /// Its name.
    pub name: String,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Logical volumes, in order.
    pub volumes: Vec<LogicalVolumeWork>,
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogicalVolumeWork {
    /// Its name.
    pub name: String,
    /// Its size, as the design has it.
    pub size: Option<String>,
    /// Its identifier.
    pub uuid: Option<String>,
    /// File system.
    pub filesystem: Option<Filesystem>,
}

/// Settings below the operating system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineWork {
    /// Firmware levels by component.
    pub firmware: Pairs,
    /// BIOS settings.
    pub bios_settings: Pairs,
    /// RAID volumes.
    pub raid: Vec<RaidWork>,
    /// Driver packages.
    pub drivers: Vec<String>,
}

impl MachineWork {
    /// Whether commissioning has something to set.
    pub fn needs_commissioning(&self) -> bool {
        !self.firmware.is_empty() || !self.bios_settings.is_empty() || !self.raid.is_empty()
    }
}

/// A RAID volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RaidWork {
    /// Its name.
    pub name: String,
    /// Level.
    pub level: Option<String>,
    /// Disks.
    pub disks: Vec<String>,
    /// Spare disks.
    pub spares: Vec<String>,
    /// Size.
    pub size: Option<String>,
}

impl NodeWork {
    /// What a driver gets to know of a node. `lshw` is what was seen on it, and tells how the system calls its devices.
    pub fn of(node: &Node, site: &Site, design: &Design, lshw: Option<&Lshw>) -> NodeWork {
        let settings = &node.effective.settings;
        let profile = model::text(&settings.hardware_profile)
            .and_then(|name| design.hardware_profiles.iter().find(|profile| profile.name() == name));
        let names = lshw.zip(profile).map(|(lshw, profile)| lshw.logical_names(profile)).unwrap_or_default();
        let device = |alias: &str| -> String {
            names.get(alias).map_or_else(|| node.logical_name(alias).to_owned(), String::clone)
        };
        let oob = |key: &str| settings.oob_parameters.get(key).map(|set| set.value.clone());
        let links = &design.network_links;
        let find = |name: Option<&str>| links.iter().find(|link| Some(link.document.name.as_str()) == name);
        let interfaces = settings.interfaces.iter().enumerate().map(|(at, interface)| {
            let link = find(model::text(&interface.link)).map(|link| &**link);
            let found = node.selectors.get(at).map(Vec::as_slice).unwrap_or_default();
            interface_work(node, site, interface, link, found, &device)
        });
        let reached = site.boot_actions.iter().filter(|one| one.nodes.iter().any(|name| name == node.name()));
        let actions: Vec<_> = reached.collect();
        let packages = actions
            .iter()
            .flat_map(|one| one.action.assets.iter())
            .flat_map(|asset| asset.packages.iter().flatten())
            .map(|(name, version)| (name.clone(), version.clone()))
            .collect();
        NodeWork {
            name: node.name().to_owned(),
            domain: node.fqdn.split_once('.').map_or("local", |(_, domain)| domain).to_owned(),
            boot_mac: owned(&node.boot_mac),
            oob_type: owned(&settings.oob_type),
            oob_address: oob("network").and_then(|network| node.address_on(&network).map(str::to_owned)),
            oob_account: oob("account"),
            libvirt_uri: oob("libvirt_uri"),
            image: owned(&settings.image),
            kernel: owned(&settings.kernel),
            kernel_parameters: command_line(&node.kernel_params).unwrap_or_default().trim().to_owned(),
            tags: list(&settings.tags),
            labels: pairs(&settings.owner_data),
            rack: owned(&settings.rack),
            primary_network: owned(&settings.primary_network),
            dns_servers: node.name_servers.clone(),
            dns_search: node.search_domains.clone(),
            interfaces: interfaces.collect(),
            storage: storage(node, &device),
            machine: machine(node),
            packages,
            boot_actions: actions
                .iter()
                .map(|one| BootActionWork {
                    name: one.action.document.name.clone(),
                    signaling: one.action.signaling,
                })
                .collect(),
        }
    }
}

fn interface_work(
    node: &Node,
    site: &Site,
    interface: &model::Interface,
    link: Option<&NetworkLink>,
    found: &[Selector],
    device: &dyn Fn(&str) -> String,
) -> InterfaceWork {
    let primary = model::text(&node.effective.settings.primary_network);
    let native = link.and_then(|link| model::text(&link.native_network));
    let networks = model::values(&interface.networks).filter_map(|name| {
        let network = site.network(name)?;
        let entry = node.addressing.iter().find(|entry| model::text(&entry.network) == Some(name));
        let address = match entry.map(|entry| &entry.address) {
            Some(model::Address::Static(address)) => Address::Static(address.value.clone()),
            Some(model::Address::Dhcp) => Address::Dhcp,
            None => Address::None,
        };
        Some(NetworkOnInterface {
            name: name.to_owned(),
            cidr: network.cidr.value.clone(),
            vlan: model::text(&network.vlan).and_then(|vlan| vlan.parse().ok()).unwrap_or(0),
            mtu: network.mtu.as_ref().map(|mtu| mtu.value),
            is_native: native == Some(name),
            is_primary: primary == Some(name),
            address,
            gateway: super::site::gateway(network),
        })
    });
    let bond = link.map(|link| &link.bonding).filter(|bonding| bonding.mode != BondMode::Disabled);
    InterfaceWork {
        name: interface.name.value.clone(),
        link: owned(&interface.link),
        mtu: link.map_or(1500, |link| link.mtu),
        is_untouched: link.is_some_and(|link| link.labels.contains_key("noconfig")),
        bond: bond.map(|bonding| Bond {
            mode: bonding.mode.as_str().to_owned(),
            mon_rate: bonding.mon_rate,
            up_delay: bonding.up_delay,
            down_delay: bonding.down_delay,
            hash: bonding.hash.clone(),
            peer_rate: bonding.peer_rate.clone(),
        }),
        slaves: model::values(&interface.slaves)
            .enumerate()
            .map(|(at, slave)| Slave {
                name: slave.to_owned(),
                device: device(slave),
                found_by: found.get(at).map(Selector::to_string).unwrap_or_default(),
            })
            .collect(),
        networks: networks.collect(),
        virtual_functions: interface
            .sriov
            .as_ref()
            .and_then(|sriov| sriov.vf_count.as_ref())
            .map_or(0, |it| it.value),
    }
}

fn storage(node: &Node, device: &dyn Fn(&str) -> String) -> StorageWork {
    let settings = &node.effective.settings;
    let disks = settings.storage_devices.iter().map(|disk| Disk {
        name: disk.name.value.clone(),
        device: device(&disk.name.value),
        volume_group: owned(&disk.volume_group),
        partitions: disk.partitions.iter().flatten().map(partition).collect(),
    });
    let groups = settings.volume_groups.iter().map(|group| VolumeGroupWork {
        name: group.name.value.clone(),
        uuid: owned(&group.vg_uuid),
        volumes: group
            .logical_volumes
            .iter()
            .map(|volume| LogicalVolumeWork {
                name: volume.name.value.clone(),
                size: owned(&volume.size),
                uuid: owned(&volume.lv_uuid),
                filesystem: volume.filesystem.as_ref().map(filesystem),
            })
            .collect(),
    });
    StorageWork {
        disks: disks.collect(),
        volume_groups: groups.collect(),
        boot_device: model::text(&node.machine.boot_device).map(device),
        wipe: owned(&node.machine.wipe),
    }
}

fn partition(partition: &model::Partition) -> PartitionWork {
    PartitionWork {
        name: partition.name.value.clone(),
        size: owned(&partition.size),
        uuid: owned(&partition.part_uuid),
        volume_group: owned(&partition.volume_group),
        is_bootable: partition.bootable.as_ref().is_some_and(|bootable| bootable.value),
        filesystem: partition.filesystem.as_ref().map(filesystem),
    }
}

fn filesystem(filesystem: &model::FileSystem) -> Filesystem {
    let or = |field, default: &str| owned(field).unwrap_or_else(|| default.to_owned());
    Filesystem {
        mountpoint: owned(&filesystem.mountpoint),
        fstype: or(&filesystem.fstype, model::FileSystem::FSTYPE),
        mount_options: or(&filesystem.mount_options, model::FileSystem::MOUNT_OPTIONS),
        uuid: owned(&filesystem.fs_uuid),
        label: owned(&filesystem.fs_label),
    }
}

fn machine(node: &Node) -> MachineWork {
    let machine = &node.machine;
    let raid = machine.raid.iter().map(|volume| RaidWork {
        name: volume.name.value.clone(),
        level: owned(&volume.level),
        disks: list(&volume.disks),
        spares: list(&volume.spares),
        size: owned(&volume.size),
    });
    MachineWork {
        firmware: pairs(&machine.firmware),
        bios_settings: pairs(&machine.bios_settings),
        raid: raid.collect(),
        drivers: list(&machine.drivers),
    }
}

//! The documents of a large site.

use std::fmt::Write as _;

/// A site as Airship's are: a chain of three profiles, bonds, partitions, a volume group, eight networks.
pub fn site(nodes: usize, image: &str) -> String {
    let mut text = String::from(
        "---\n{schema: drydock/Region/v1, metadata: {name: site}, data: {authorized_keys: [ssh-rsa AAAA]}}\n",
    );
    for network in 0..8 {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "---\n{{schema: drydock/Network/v1, metadata: {{name: net{network}}}, data: {{cidr: 10.{network}.0.0/16, mtu: 1500, \
             vlan: '{}', dns: {{domain: example.com, servers: '10.0.0.2'}}, ranges: [{{type: static, start: 10.{network}.0.1, \
             end: 10.{network}.250.254}}]}}}}\n",
            100 + network
        );
    }
    text.push_str(&SHARED.replace("IMAGE", image));
    for node in 0..nodes {
        let (high, low) = (node / 250, node % 250 + 1);
        let _ = write!(
            text,
            "---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: node{node}}}, data: {{host_profile: compute, \
             metadata: {{rack: rack{}, tags: [t{}, '!general']}}, interfaces: {{bond0: {{networks: [net7, '!net6']}}}}, addressing: [",
            node / 40,
            node % 7
        );
        for network in 0..4 {
            let _ = write!(text, "{{network: net{network}, address: 10.{network}.{high}.{low}}},");
        }
        text.push_str("]}}\n");
    }
    text
}

const SHARED: &str = "
---
{schema: drydock/NetworkLink/v1, metadata: {name: gp}, data: {bonding: {mode: 802.3ad}, mtu: 9100, trunking: {mode: 802.1q},
  allowed_networks: [net0, net1, net2, net3, net4, net5, net6, net7]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {vendor: Dell, boot_mode: uefi, device_aliases: {
  nic1: {address: '0000:01:00.0', bus_type: pci, dev_type: X710}, nic2: {address: '0000:01:00.1', bus_type: pci, dev_type: X710},
  boot: {address: '2:0.0.0', bus_type: scsi, dev_type: PERC}}, cpu_sets: {kvm: '4-43'}, hugepages: {dpdk: {size: 1G, count: 300}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: base}, data: {hardware_profile: hw, primary_network: net0,
  oob: {type: ipmi, network: net3, account: root, credential: secret},
  storage: {physical_devices: {boot: {labels: {bootdrive: 'true'}, partitions: [
    {name: root, size: 30g, bootable: true, filesystem: {mountpoint: /, fstype: ext4, mount_options: defaults}},
    {name: boot, size: 1g, filesystem: {mountpoint: /boot}}, {name: var_log, size: 100g, filesystem: {mountpoint: /var/log}},
    {name: var, size: '>100g', filesystem: {mountpoint: /var}}]}, sdb: {volume_group: ceph}},
    volume_groups: {ceph: {logical_volumes: [{name: journal, size: 50%, filesystem: {mountpoint: /var/lib/ceph}}]}}},
  platform: {image: IMAGE, kernel: ga, kernel_params: {quiet: true, console: ttyS2, intel_iommu: 'on', cgroup_disable: hugetlb}},
  metadata: {tags: [general, linux], owner_data: {site: s1, role: base}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: bonded}, data: {host_profile: base, interfaces: {
  bond0: {device_link: gp, slaves: [nic1, nic2], networks: [net0, net1, net2, net6], sriov: {vf_count: 32}}},
  metadata: {owner_data: {role: bonded, net: bond}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: compute}, data: {host_profile: bonded, platform: {kernel_params: {
  isolcpus: 'hardwareprofile:cpuset.kvm', hugepagesz: 'hardwareprofile:hugepages.dpdk.size',
  hugepages: 'hardwareprofile:hugepages.dpdk.count', '!quiet': ''}}, metadata: {tags: [compute], owner_data: {role: compute}}}}
---
{schema: drydock/BootAction/v1, metadata: {name: join}, data: {assets: [{type: file, path: /opt/join.sh, data: hi, data_pipeline: [template]}],
  node_filter: {filter_set_type: union, filter_set: [{filter_type: union, node_labels: {role: compute}}]}}}
";

//! Typing a command, and a small site to type it at.

use std::fs;

use clap::Parser;
use design_cli::{Arguments, Ended, Streams, run};

/// What a command printed and how it ended.
pub struct Said {
    pub out: String,
    pub err: String,
    pub ended: Ended,
}

#[derive(Parser)]
struct Typed {
    #[command(flatten)]
    arguments: Arguments,
}

/// Types `groundplane design …`.
pub fn design(arguments: &[&str]) -> Said {
    let typed = Typed::try_parse_from([&["design"], arguments].concat()).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ended = run(&typed.arguments, &mut Streams::new(&mut out, &mut err, cli::Global::default()));
    Said { out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap(), ended }
}

/// Files in a folder that is gone afterwards.
pub fn in_folder<T>(files: &[(&str, &str)], work: impl FnOnce(&str) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    work(folder.path().to_str().unwrap())
}

/// A site with one node and two profiles.
pub const SITE: &str = "---
{schema: drydock/Network/v1, metadata: {name: oob}, data: {cidr: 10.0.0.0/24, dns: {domain: example.com, servers: '10.0.0.2'}}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: oob}, data: {trunking: {default_network: oob}, allowed_networks: [oob]}}
---
{schema: drydock/Rack/v1, metadata: {name: r1}, data: {}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {vendor: Dell, bios_version: '1.0', boot_mode: uefi,
  device_aliases: {nic1: {address: '0000:00:03.0', bus_type: pci, dev_type: X710}, nic2: {address: '0000:00:04.0', bus_type: pci, dev_type: X710}}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: parent}, data: {hardware_profile: hw, primary_network: oob,
  oob: {type: ipmi, network: oob, account: root, credential: s3cret}, platform: {image: bionic},
  storage: {physical_devices: {sda: {partitions: [{name: root, size: 30g, filesystem: {mountpoint: /}}]}}},
  metadata: {tags: [old], rack: r1}}}
---
{schema: drydock/HostProfile/v1, metadata: {name: child}, data: {host_profile: parent, platform: {image: jammy},
  metadata: {tags: ['!old', new]}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n1}, data: {host_profile: child,
  interfaces: {oob: {device_link: oob, slaves: [nic1], networks: [oob]}}, addressing: [{network: oob, address: 10.0.0.5}]}}
";

//! What lshw prints of real and virtual machines, and the devices that aliases find in it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    as_built::{Built, Verdict, compare},
    compile::{Lshw, LshwInputs, compile},
    document::parse,
};

/// A machine with virtio cards, an NVMe disk, a RAID controller with two disks, and a USB stick.
const XML: &str = r#"<?xml version="1.0"?>
<list><node id="vm" class="system"><vendor>QEMU</vendor><node id="core" class="bus">
  <node id="firmware" class="memory"><version>1.0</version></node>
  <node id="pci" class="bridge"><businfo>pci@0000:00:00.0</businfo>
    <node id="network" class="network"><product>Virtio network device</product><businfo>pci@0000:00:03.0</businfo>
      <node id="virtio0" class="network"><businfo>virtio@0</businfo><logicalname>ens3</logicalname><serial>52:54:00:00:00:01</serial></node></node>
    <node id="scsi:0" class="storage"><product>Virtio block device</product><businfo>pci@0000:00:05.0</businfo>
      <node id="virtio2" class="disk"><businfo>virtio@2</businfo><logicalname>/dev/vda</logicalname><size units="bytes">64424509440</size>
        <node id="volume" class="volume"><logicalname>/dev/vda1</logicalname></node></node></node>
    <node id="nvme" class="storage"><product>PM983</product><businfo>pci@0000:3b:00.0</businfo><logicalname>/dev/nvme0</logicalname>
      <node id="namespace:0" class="disk"><businfo>nvme@0:0</businfo><logicalname>hwmon1</logicalname></node>
      <node id="namespace:2" class="disk"><businfo>nvme@0:1</businfo><logicalname>/dev/nvme0n1</logicalname><size units="bytes">960197124096</size></node></node>
    <node id="raid" class="storage"><product>MegaRAID</product><businfo>pci@0000:18:00.0</businfo><logicalname>scsi0</logicalname>
      <node id="disk:0" class="disk"><businfo>scsi@0:2.0.0</businfo><logicalname>/dev/sda</logicalname></node>
      <node id="disk:1" class="disk"><businfo>scsi@0:2.1.0</businfo><logicalname>/dev/sdb</logicalname></node></node>
    <node id="usb" class="bus"><businfo>usb@1</businfo>
      <node id="disk" class="disk"><businfo>usb@1:2</businfo><logicalname>/dev/sdc</logicalname></node></node>
  </node></node></node></list>"#;

/// The same machine as `lshw -json` prints it, in part.
const JSON: &str = r#"[{"id": "vm", "class": "system", "vendor": "QEMU", "children": [
  {"id": "network", "class": "network", "product": "Virtio network device", "businfo": "pci@0000:00:03.0", "children": [
    {"id": "virtio0", "class": "network", "businfo": "virtio@0", "logicalname": "ens3", "serial": "52:54:00:00:00:01"}]},
  {"id": "scsi:0", "class": "storage", "businfo": "pci@0000:00:05.0", "children": [
    {"id": "virtio2", "class": "disk", "businfo": "virtio@2", "logicalname": ["/dev/vda", "/mnt"], "units": "bytes", "size": 64424509440}]}]}]"#;

fn site(aliases: &str) -> String {
    format!(
        "---\n{{schema: drydock/HardwareProfile/v1, metadata: {{name: hw}}, data: {{device_aliases: {{{aliases}}}}}}}\n\
         ---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: n1}}, data: {{hardware_profile: hw, addressing: [{{network: a, address: dhcp}}],\n  \
         storage: {{physical_devices: {{a: {{partitions: [{{name: root, size: 50g}}]}}}}}}}}}}\n"
    )
}

/// What the system calls the device of an alias; nothing if there is none.
fn name_of(output: &str, alias: &str) -> Option<String> {
    let documents = parse("s.yaml", site(&format!("a: {{{alias}}}")).as_bytes()).unwrap().documents;
    let lshw = LshwInputs::from([("n1".to_owned(), Lshw::parse(output).unwrap())]);
    let compiled = compile(&documents, &lshw);
    let node = compiled.site().unwrap().node("n1").unwrap().clone();
    node.unresolved.is_empty().then(|| node.logical_name("a").to_owned())
}

#[test]
fn a_virtio_device_is_named_by_the_child_of_its_pci_device() {
    for output in [XML, JSON] {
        let name = |alias| name_of(output, alias);
        assert_eq!(name("address: '0000:00:03.0', bus_type: pci").as_deref(), Some("ens3"));
        assert_eq!(name("address: '0000:00:05.0', bus_type: pci").as_deref(), Some("vda"));
        assert_eq!(name("address: '0', bus_type: virtio").as_deref(), Some("ens3"));
        assert_eq!(name("address: '2', bus_type: virtio").as_deref(), Some("vda"));
        assert_eq!(name("address: 'regexp:0000:00:03', bus_type: pci").as_deref(), Some("ens3"));
        assert_eq!(name("address: '0000:00:09.0', bus_type: pci"), None);
    }
}

#[test]
fn disks_are_found_on_every_bus() {
    let name = |alias| name_of(XML, alias);
    assert_eq!(name("address: '0000:3B:00.0', bus_type: pci").as_deref(), Some("nvme0n1"));
    assert_eq!(name("address: '0:1', bus_type: nvme").as_deref(), Some("nvme0n1"));
    assert_eq!(name("address: '0:2.1.0', bus_type: scsi").as_deref(), Some("sdb"));
    assert_eq!(name("address: 'scsi@0:2.0.0', bus_type: scsi").as_deref(), Some("sda"));
    assert_eq!(name("address: '1:2', bus_type: usb").as_deref(), Some("sdc"));
    // A controller with several disks stands for itself.
    assert_eq!(name("address: '0000:18:00.0', bus_type: pci").as_deref(), Some("scsi0"));
    // A bridge has no name, and what hangs below it is not meant.
    assert_eq!(name_of(JSON, "address: '0000:00:00.0', bus_type: pci"), None);
}

#[test]
fn a_virtual_machine_matches_its_design() {
    let aliases = "nic: {address: '0000:00:03.0', bus_type: pci, dev_type: Virtio network}, a: {address: '0000:00:05.0', bus_type: pci}";
    let documents = parse("s.yaml", site(aliases).as_bytes()).unwrap().documents;
    for output in [XML, JSON] {
        let lshw = Lshw::parse(output).unwrap();
        let compiled = compile(&documents, &LshwInputs::from([("n1".to_owned(), lshw.clone())]));
        let node = compiled.site().unwrap().node("n1").unwrap();
        let built = Built { lshw: Some(lshw), ..Built::default() };
        let found = compare(node, &compiled.design.hardware_profiles[0], None, &built);
        assert!(found.len() > 2 && found.iter().all(|one| one.verdict == Verdict::Same), "{found:?}");
    }
}

#[test]
fn what_is_not_of_lshw_is_refused() {
    assert!(Lshw::parse("hello").is_err());
    assert!(Lshw::parse("[{\"id\": ").is_err());
    assert!(
        Lshw::parse("{\"id\": \"a\"}\n{\"id\": \"b\"}").is_ok(),
        "older versions print one after another"
    );
}

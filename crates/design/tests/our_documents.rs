//! What our own documents say beyond Drydock's, and that Drydock's do not.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    compile::{Compiled, LshwInputs, Selector, compile},
    document::parse,
    validate::{Severity, diagnose},
};

const PAGE: &str = include_str!("../../../docs/design/our-documents.md");

fn compiled(text: &str) -> Compiled {
    compile(&parse("site.yaml", text.as_bytes()).unwrap().documents, &LshwInputs::new()).validated()
}

/// The documents of the page, and a node that uses them.
fn site(node: &str) -> Compiled {
    let documents = PAGE.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let page: String = documents.map(|document| format!("---\n{document}")).collect();
    compiled(&format!(
        "{page}---
apiVersion: design.groundplane.dev/v1alpha1
kind: Network
metadata: {{name: mgmt}}
spec: {{cidr: 10.0.0.0/24, dns: {{domain: example.com, servers: [10.0.0.2, 10.0.0.3], search: [corp.example.com]}}}}
---
apiVersion: design.groundplane.dev/v1alpha1
kind: BaremetalNode
metadata: {{name: n1}}
spec: {{host_profile: on-lvm, primary_network: mgmt, addressing: [{{network: mgmt, address: 10.0.0.5}}], {node}}}
"
    ))
}

fn errors(compiled: &Compiled) -> Vec<String> {
    let told = diagnose(compiled).into_iter().filter(|one| one.severity == Severity::Error);
    told.map(|one| format!("{} {}", one.code, one.message)).collect()
}

#[test]
fn the_documents_of_the_page_are_good_but_for_the_repository_that_nobody_lists() {
    let compiled = site("");
    assert!(compiled.design.is_whole(), "{:?}", compiled.design.outcomes);
    let errors = errors(&compiled);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].starts_with("GP6001 repository of DriverPackage/mellanox"), "{errors:?}");
}

#[test]
fn a_node_stands_over_its_profiles_and_those_over_the_hardware() {
    let compiled =
        site("firmware: {bmc: '7.0', '!bios': ''}, storage: {wipe: secure}, drivers: ['!mellanox']");
    let machine = &compiled.site().unwrap().node("n1").unwrap().machine;
    assert_eq!(
        machine.firmware.iter().map(|(k, v)| format!("{k}={}", v.value)).collect::<Vec<_>>(),
        ["bmc=7.0"]
    );
    assert_eq!(machine.wipe.as_ref().unwrap().value, "secure");
    assert_eq!(machine.boot_device.as_ref().unwrap().value, "os");
    assert_eq!(machine.raid[0].disks.len(), 2);
    assert!(machine.drivers.is_empty());
    assert_eq!(machine.bios_settings["LogicalProc"].by.document.to_string(), "HardwareProfile/r750");
}

#[test]
fn names_are_asked_of_the_servers_of_the_primary_network() {
    let compiled = site("");
    let node = compiled.site().unwrap().node("n1").unwrap();
    assert_eq!(node.fqdn, "n1.example.com");
    assert_eq!(node.name_servers, ["10.0.0.2", "10.0.0.3"]);
    assert_eq!(node.search_domains, ["example.com", "corp.example.com"]);
    let elsewhere = site("metadata: {tags: [a]}, platform: {image: jammy}");
    assert_eq!(elsewhere.site().unwrap().node("n1").unwrap().name_servers.len(), 2);
}

#[test]
fn a_device_is_found_by_what_it_is() {
    let compiled = site("interfaces: {a: {slaves: [uplink, spare, eno9]}}");
    let node = compiled.site().unwrap().node("n1").unwrap();
    let expected = [
        Selector::Mac("b8:ca:3a:65:7d:d8".to_owned()),
        Selector::Serial("S4EVNX0M".to_owned()),
        Selector::Name("eno9".to_owned()),
    ];
    assert_eq!(node.selectors, [expected]);
}

#[test]
fn a_volume_that_cannot_be_is_told() {
    let wrong = |node: &str| -> Vec<String> {
        errors(&site(node)).into_iter().filter(|error| error.starts_with("GP1011")).collect()
    };
    assert_eq!(wrong("raid: {os: {disks: ['!disk1']}}").len(), 1);
    assert_eq!(wrong("raid: {os: {level: 7}}").len(), 1);
    assert_eq!(wrong("storage: {boot_device: disk0}").len(), 1);
    assert_eq!(wrong("raid: {os: {spares: [disk0]}}").len(), 1);
}

#[test]
fn a_root_on_a_logical_volume_needs_a_boot_device() {
    let codes = |node: &str| -> Vec<String> {
        errors(&site(node)).into_iter().filter(|error| error.starts_with("GP1001")).collect()
    };
    assert_eq!(codes("").len(), 0);
    let small = "storage: {volume_groups: {system: {logical_volumes: [{name: root, size: 5g}]}}}";
    assert_eq!(codes(small).len(), 1);
}

#[test]
fn drydocks_documents_stay_as_strict_as_they_were() {
    for (kind, data) in [
        ("HardwareProfile", "{firmware: {bios: '1'}}"),
        ("HostProfile", "{drivers: [a]}"),
        ("Network", "{cidr: 10.0.0.0/24, dns: {search: [a]}}"),
        ("DriverPackage", "{}"),
    ] {
        let text = format!("{{schema: drydock/{kind}/v1, metadata: {{name: x}}, data: {data}}}");
        assert!(!compiled(&text).design.is_whole(), "{kind}");
    }
}

//! What validators find, through the whole of a small site.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use design::{
    compile::{LshwInputs, compile},
    document::parse,
    validate::{Severity, VALIDATORS},
};

const SITE: &str = "
---
{schema: drydock/Network/v1, metadata: {name: oob}, data: {
  cidr: 10.0.0.0/24, ranges: [{type: dhcp, start: 10.0.0.100, end: 10.0.0.200}]}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: oob}, data: {
  trunking: {mode: disabled, default_network: oob}, allowed_networks: [oob]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {
  device_aliases: {prim_nic01: {address: '0000:00:03.0', bus_type: pci, dev_type: X710}}}}
";

/// The codes of what is found wrong with a node in the small site.
fn found(node: &str) -> Vec<&'static str> {
    found_in(&format!(
        "{SITE}---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: n1}}, data: {{
  hardware_profile: hw,
  storage: {{physical_devices: {{sda: {{partitions: [{{name: root, size: 30g}}]}}}}}}, {node}}}}}\n"
    ))
}

fn found_in(site: &str) -> Vec<&'static str> {
    let documents = parse("site.yaml", site.as_bytes()).unwrap().documents;
    let compiled = compile(&documents, &LshwInputs::new()).validated();
    assert!(compiled.design.is_whole(), "{:?}", compiled.design.outcomes);
    let findings = compiled.report.unwrap();
    let wrong = findings.findings().iter().filter(|finding| {
        // Without a provisioner and boot actions these two always have something to say.
        finding.severity > Severity::Info && !["GP3001", "GP5001"].contains(&finding.validator.code)
    });
    wrong.map(|finding| finding.validator.code).collect()
}

const ADDRESS: &str = "addressing: [{network: oob, address: 10.0.0.5}]";

#[test]
fn every_validator_has_a_code_of_its_own() {
    let codes: HashSet<&str> = VALIDATORS.iter().map(|validator| validator.code).collect();
    assert_eq!(codes.len(), VALIDATORS.len());
}

#[test]
fn a_good_node_has_nothing_wrong() {
    let oob = "oob: {type: ipmi, network: oob, account: a, credential: c}, primary_network: oob";
    assert_eq!(found(&format!("{ADDRESS}, {oob}")), Vec::<&str>::new());
}

#[test]
fn each_parameter_that_ipmi_needs_is_asked_for() {
    assert_eq!(found(&format!("{ADDRESS}, oob: {{type: ipmi, network: oob, account: a}}")), ["GP4001"]);
    assert_eq!(found(&format!("{ADDRESS}, oob: {{type: ipmi}}")), ["GP4001"; 4]);
}

#[test]
fn redfish_needs_what_ipmi_needs() {
    assert_eq!(found(&format!("{ADDRESS}, oob: {{type: redfish, network: oob, account: a}}")), ["GP4003"]);
}

#[test]
fn a_name_of_no_network_is_a_dangling_reference() {
    assert_eq!(found(&format!("{ADDRESS}, primary_network: none")), ["GP6001"]);
}

#[test]
fn a_static_address_where_dhcp_gives_them_out_is_told() {
    assert_eq!(found("addressing: [{network: oob, address: 10.0.0.150}]"), ["GP2008"]);
}

#[test]
fn an_alias_written_wrong_is_told() {
    let interface = |nic: &str| {
        format!("{ADDRESS}, interfaces: {{oob: {{device_link: oob, slaves: [{nic}], networks: [oob]}}}}")
    };
    assert_eq!(found(&interface("prim_nic01")), Vec::<&str>::new());
    assert_eq!(found(&interface("prim_nik01")), ["GP1009"]);
    assert_eq!(found(&interface("eno1")), Vec::<&str>::new());
}

#[test]
fn ranges_lie_in_their_network_and_do_not_overlap() {
    let network = |ranges: &str| {
        let data = format!("{{cidr: 10.0.0.0/24, ranges: [{ranges}]}}");
        found_in(&format!("{{schema: drydock/Network/v1, metadata: {{name: n}}, data: {data}}}"))
    };
    let wrong = |ranges| network(ranges).into_iter().filter(|code| *code == "GP2007").count();
    assert_eq!(wrong("{type: static, start: 10.0.0.5, end: 10.0.0.9}"), 0);
    assert_eq!(wrong("{type: static, start: 10.0.0.5, end: 10.0.1.9}"), 1);
    assert_eq!(wrong("{type: static, start: 10.0.0.9, end: 10.0.0.5}"), 1);
    assert_eq!(
        wrong(
            "{type: static, start: 10.0.0.5, end: 10.0.0.9}, {type: dhcp, start: 10.0.0.9, end: 10.0.0.10}"
        ),
        1
    );
}

/// A link and networks whose tags are given.
fn trunk(tags: &[&str]) -> String {
    let networks = tags.iter().enumerate().map(|(i, tag)| {
        format!("---\n{{schema: drydock/Network/v1, metadata: {{name: net{i}}}, data: {{cidr: 10.{i}.0.0/24, vlan: '{tag}'}}}}\n")
    });
    let names: Vec<String> = (0..tags.len()).map(|i| format!("net{i}")).collect();
    let link = format!(
        "---\n{{schema: drydock/NetworkLink/v1, metadata: {{name: gp}}, data: {{trunking: {{mode: 802.1q, default_network: net0}}, allowed_networks: [{}]}}}}\n",
        names.join(", ")
    );
    networks.chain([link]).collect()
}

fn errors_in(site: &str) -> Vec<&'static str> {
    let documents = parse("site.yaml", site.as_bytes()).unwrap().documents;
    let report = compile(&documents, &LshwInputs::new()).validated().report.unwrap();
    report.findings().iter().filter(|one| one.is_error()).map(|one| one.validator.code).collect()
}

#[test]
fn an_interface_without_networks_needs_no_link() {
    for port in
        ["{slaves: [nic1], sriov: {vf_count: 32}}", "{device_link: none, slaves: [nic1]}", "{networks: []}"]
    {
        assert_eq!(found(&format!("{ADDRESS}, interfaces: {{p1p1: {port}}}")), Vec::<&str>::new(), "{port}");
    }
    // With networks it does, and each is told.
    let wired = "interfaces: {p1p1: {device_link: none, networks: [oob, oob]}}";
    assert_eq!(found(&format!("{ADDRESS}, {wired}")), ["GP1007", "GP1007"]);
}

#[test]
fn a_vlan_tag_of_zero_is_an_untagged_network() {
    assert_eq!(errors_in(&trunk(&["0", "100", "0", "4094"])), Vec::<&str>::new());
    assert_eq!(found_in(&trunk(&["0", "100", "0"])).iter().filter(|code| **code == "GP2011").count(), 0);
    for tag in ["4095", "-1", "x", "1.5"] {
        assert_eq!(errors_in(&trunk(&[tag])), ["GP2011"], "{tag}");
    }
    // Two subnets in one VLAN are possible, and worth a look.
    assert_eq!(errors_in(&trunk(&["100", "100"])), Vec::<&str>::new());
    assert!(found_in(&trunk(&["100", "100"])).contains(&"GP2011"));
}

#[test]
fn what_the_original_lets_pass_is_at_most_a_warning() {
    // A profile that no node uses.
    let unused = "---\n{schema: drydock/HostProfile/v1, metadata: {name: old}, data: {host_profile: gone}}\n";
    assert_eq!(errors_in(&format!("{SITE}{unused}")), Vec::<&str>::new());
    assert!(found_in(&format!("{SITE}{unused}")).contains(&"GP6001"));
    // Ranges that only people read.
    let ranges = |kind: &str| {
        format!(
            "---\n{{schema: drydock/Network/v1, metadata: {{name: n}}, data: {{cidr: 10.0.0.0/24, ranges: [\
             {{type: reserved, start: 10.0.0.1, end: 10.0.0.20}}, {{type: {kind}, start: 10.0.0.10, end: 10.0.0.30}}]}}}}\n"
        )
    };
    assert_eq!(errors_in(&ranges("static")), Vec::<&str>::new());
    assert_eq!(errors_in(&ranges("dhcp")), ["GP2007"]);
    // An MTU of zero is none.
    let link = "---\n{schema: drydock/NetworkLink/v1, metadata: {name: l}, data: {mtu: 0, trunking: {default_network: n}, allowed_networks: [n]}}\n";
    assert_eq!(errors_in(&format!("{}{link}", ranges("static"))), Vec::<&str>::new());
    // A MAC address that nothing depends on.
    assert_eq!(found(&format!("{ADDRESS}, metadata: {{boot_mac: later}}")), ["GP2012"]);
    let node = format!("{ADDRESS}, metadata: {{boot_mac: later}}");
    let bare = format!(
        "{SITE}---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: n1}}, data: {{hardware_profile: hw, storage: {{physical_devices: {{sda: {{partitions: [{{name: root, size: 30g}}]}}}}}}, {node}}}}}\n"
    );
    assert_eq!(errors_in(&bare), Vec::<&str>::new());
}

#[test]
fn of_two_regions_a_warning_names_the_one_that_is_used() {
    let region =
        |name: &str| format!("---\n{{schema: drydock/Region/v1, metadata: {{name: {name}}}, data: {{}}}}\n");
    let text = format!("{}{}", region("first"), region("second"));
    let documents = parse("site.yaml", text.as_bytes()).unwrap().documents;
    let compiled = compile(&documents, &LshwInputs::new()).validated();
    let told: Vec<String> = design::validate::diagnose(&compiled)
        .iter()
        .filter(|one| one.code == "GP6003")
        .map(|one| one.message.clone())
        .collect();
    assert_eq!(
        told,
        ["Region/first has no effect: Region/second (site.yaml:4:1) is the Region that is used."]
    );
    assert!(!found_in(&region("only")).contains(&"GP6003"));
}

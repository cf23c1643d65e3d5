//! What the original's schemas refuse (`DD001`, one message each) and what only its models refuse (`DD000`, one for the
//! document), kind by kind.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    compile::{LshwInputs, compile},
    document::parse,
};

/// The names of the messages about one document; none if it is accepted.
fn told(kind: &str, data: &str) -> Vec<String> {
    let text = format!("{{schema: drydock/{kind}/v1, metadata: {{name: x}}, data: {data}}}");
    told_of(&text)
}

fn told_of(text: &str) -> Vec<String> {
    let documents = parse("a.yaml", text.as_bytes()).unwrap().documents;
    let printed = compile(&documents, &LshwInputs::new()).to_drydock_json();
    let messages = printed["messages"].as_array().unwrap();
    messages.iter().map(|message| message["name"].as_str().unwrap().to_owned()).collect()
}

const SHAPE: &str = "DD001";
const VALUE: &str = "DD000";

fn all(kind: &str, cases: &[(&str, &[&str])]) {
    for (data, expected) in cases {
        assert_eq!(told(kind, data), *expected, "{kind} {data}");
    }
}

#[test]
fn regions() {
    all(
        "Region",
        &[
            ("{}", &[]),
            ("~", &[SHAPE]),
            ("[]", &[SHAPE]),
            ("{a: 1, b: 2}", &[SHAPE]),
            ("{authorized_keys: [1, 2]}", &[SHAPE, SHAPE]),
            ("{tag_definitions: [{tag: t, definition_type: lshw_xpath, definition: d}]}", &[]),
            ("{tag_definitions: [{tag: t, definition_type: other}]}", &[SHAPE]),
            ("{tag_definitions: [{tag: t, definition_type: 5}]}", &[SHAPE, SHAPE]),
            ("{tag_definitions: [{tag: t}]}", &[VALUE]),
            ("{repositories: {remove_unlisted: 5}}", &[SHAPE]),
            ("{repositories: {main: {repo_type: apt, url: u, arches: [amd64], options: {a: 1}}}}", &[]),
            ("{repositories: {main: {url: 5}}}", &[]),
            ("{repositories: {main: {colour: red, size: big}}}", &[VALUE]),
            ("{repositories: {main: ~}}", &[VALUE]),
            ("{repositories: {main: {arches: amd64}}}", &[VALUE]),
        ],
    );
}

#[test]
fn racks() {
    all(
        "Rack",
        &[
            ("{}", &[]),
            (
                "{tor_switches: {s: {mgmt_ip: 1.1.1.1, sdn_api_uri: u}}, location: {clli: c, grid: g, floor: 3}, labels: {a: 1}}",
                &[],
            ),
            ("{tor_switches: {s: ~}}", &[VALUE]),
            ("{tor_switches: {s: {mgmt_ip: 5}}}", &[]),
            ("{tor_switches: ~}", &[SHAPE]),
            ("{location: {clli: 5}}", &[SHAPE]),
            ("{location: {floor: ~}}", &[VALUE]),
            ("{local_networks: [1]}", &[SHAPE]),
        ],
    );
}

#[test]
fn links_and_networks() {
    all(
        "NetworkLink",
        &[
            ("{allowed_networks: [a]}", &[]),
            ("{}", &[VALUE]),
            ("{allowed_networks: ~}", &[SHAPE]),
            ("{allowed_networks: [a], bonding: {mode: balanced-rr}}", &[VALUE]),
            ("{allowed_networks: [a], trunking: {mode: qinq}}", &[VALUE]),
            ("{allowed_networks: [a], bonding: {mon_rate: '100', colour: red}}", &[SHAPE, SHAPE]),
            ("{allowed_networks: [a], labels: {noconfig: ~, other: true}}", &[]),
            ("{allowed_networks: [a], labels: {5: x}}", &[VALUE]),
        ],
    );
    all(
        "Network",
        &[
            ("{cidr: 10.0.0.0/8}", &[]),
            ("{}", &[VALUE]),
            ("{cidr: ~}", &[SHAPE]),
            ("{cidr: c, vlan: 100}", &[SHAPE]),
            ("{cidr: c, mtu: true}", &[SHAPE]),
            ("{cidr: c, mtu: 1500.5}", &[]),
            ("{cidr: c, routes: [{metric: '1'}, {metric: 1, colour: red}]}", &[SHAPE, SHAPE]),
            ("{cidr: c, dns: {search: [a]}}", &[SHAPE]),
            ("{cidr: c, dns: {servers: [a]}}", &[SHAPE]),
        ],
    );
}

#[test]
fn hardware_profiles() {
    all(
        "HardwareProfile",
        &[
            ("{}", &[]),
            ("{boot_mode: efi}", &[SHAPE]),
            ("{boot_mode: 5}", &[SHAPE, SHAPE]),
            ("{boot_mode: ~}", &[SHAPE, SHAPE]),
            ("{device_aliases: {}}", &[]),
            ("{device_aliases: ~}", &[SHAPE]),
            ("{device_aliases: {a: ~}}", &[VALUE]),
            ("{device_aliases: {a: {address: 5, bus_type: pci, extra: 1}}}", &[]),
            ("{device_aliases: {a: {bus_type: pci}}}", &[VALUE]),
            ("{device_aliases: {a: {mac: m}}}", &[VALUE]),
            ("{cpu_sets: {a: 5}}", &[SHAPE]),
            ("{hugepages: {a: {size: 1G, count: 5, extra: 1}}}", &[]),
            ("{hugepages: {a: {size: 1G, count: '5'}}}", &[]),
            ("{hugepages: {a: {size: 1G, count: -1}}}", &[VALUE]),
            ("{hugepages: {a: {size: 1G}}}", &[VALUE]),
            ("{hugepages: {a: ~}}", &[SHAPE]),
            ("{firmware: {bios: '1'}}", &[SHAPE]),
        ],
    );
}

#[test]
fn host_profiles_and_nodes() {
    all(
        "HostProfile",
        &[
            ("{}", &[]),
            ("{platform: {kernel_params: {a: ~}}}", &[VALUE]),
            ("{platform: {kernel_params: {5: a}}}", &[VALUE]),
            ("{platform: {colour: red}, metadata: {colour: red}}", &[SHAPE, SHAPE]),
            ("{metadata: {owner_data: {a: 5, b: 6}}}", &[SHAPE, SHAPE]),
            ("{oob: {type: 5}}", &[SHAPE]),
            ("{oob: {port: 5}}", &[]),
            ("{oob: {port: ~}}", &[VALUE]),
            ("{storage: {physical_devices: {sda: ~}}}", &[SHAPE]),
            ("{storage: {physical_devices: {sda: {partitions: [{size: 5g}]}}}}", &[VALUE]),
            (
                "{storage: {physical_devices: {sda: {partitions: [{name: a, labels: {b: 5}, colour: red}]}}}}",
                &[SHAPE, SHAPE],
            ),
            (
                "{storage: {volume_groups: {v: {logical_volumes: [{name: a, filesystem: {colour: red}}]}}}}",
                &[],
            ),
            ("{storage: {boot_device: sda}}", &[]),
            ("{interfaces: {a: ~}}", &[]),
            ("{interfaces: {a: {sriov: {vf_count: '2'}}}}", &[SHAPE]),
            ("{interfaces: {a: {sriov: {trustmode: x}}}}", &[SHAPE]),
            ("{interfaces: {a: {sriov: ~}}}", &[SHAPE]),
            ("{interfaces: {5: {}}}", &[]),
            ("{addressing: []}", &[SHAPE]),
        ],
    );
    let node =
        |data: &str| format!("{{hardware_profile: hw, addressing: [{{network: a, address: dhcp}}], {data}}}");
    let cases: [(&str, &[&str]); 4] = [
        ("interfaces: {a: {sriov: {vf_count: x}}}", &[VALUE]),
        ("interfaces: {a: {sriov: ~}}", &[VALUE]),
        ("metadata: {boot_mac: 5}", &[SHAPE]),
        ("raid: {}", &[SHAPE]),
    ];
    for (data, expected) in cases {
        assert_eq!(told("BaremetalNode", &node(data)), expected, "{data}");
    }
    all(
        "BaremetalNode",
        &[
            ("{}", &[VALUE]),
            ("{addressing: []}", &[VALUE]),
            ("{addressing: [{address: 10.0.0.1}]}", &[VALUE]),
            ("{addressing: [{network: a, address: 5}]}", &[SHAPE]),
        ],
    );
}

#[test]
fn boot_actions() {
    all(
        "BootAction",
        &[
            ("{assets: []}", &[]),
            ("{}", &[VALUE]),
            ("{assets: [{}]}", &[SHAPE]),
            ("{assets: [{type: 5}]}", &[SHAPE, SHAPE]),
            ("{assets: [{type: file, path: relative}]}", &[SHAPE]),
            ("{assets: [{type: file, permissions: '64'}]}", &[SHAPE]),
            ("{assets: [{type: file, permissions: '888'}]}", &[VALUE]),
            ("{assets: [{type: file, data: {a: b}}]}", &[VALUE]),
            ("{assets: [{type: pkg_list, data: {a: 5}}]}", &[SHAPE]),
            ("{assets: [{type: pkg_list, data: text}]}", &[VALUE]),
            ("{assets: [{type: pkg_list, data: {a: , b: '1-1'}}]}", &[]),
            ("{assets: [{type: pkg_list, location: ''}]}", &[VALUE]),
            ("{assets: [{type: file, data_pipeline: [template, 5, zip]}]}", &[SHAPE, SHAPE, SHAPE]),
            ("{assets: [], node_filter: {filter_set_type: both}}", &[SHAPE]),
        ],
    );
}

#[test]
fn envelopes() {
    assert_eq!(told("Planet", "{}"), [VALUE]);
    assert_eq!(told_of("{schema: drydock/Network/v2, metadata: {name: x}, data: {cidr: c}}"), [VALUE]);
    assert_eq!(told_of("{schema: drydock/Network/v1, data: {cidr: c}}"), [VALUE]);
    assert_eq!(told_of("{schema: drydock/Network, metadata: {name: x}}"), [""; 0]);
    assert_eq!(told_of("{schema: other/Network/v1, metadata: {name: x}}"), [""; 0]);
    assert_eq!(told_of("{a: 1}"), [""; 0]);
}

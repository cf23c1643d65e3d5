//! Whom a boot action reaches, by the examples of the original (spec 3.7).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    compile::{LshwInputs, compile},
    document::parse,
};

const NODES: &str = "
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {}}
---
{schema: drydock/HostProfile/v1, metadata: {name: p}, data: {hardware_profile: hw, metadata: {tags: [test]}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: controller01}, data: {host_profile: p,
  addressing: [{network: pxe, address: dhcp}], metadata: {rack: rack1, owner_data: {foo: bar}}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: compute01}, data: {host_profile: p,
  addressing: [{network: pxe, address: dhcp}], metadata: {rack: rack2, owner_data: {foo: bar}}}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: compute02}, data: {host_profile: p,
  addressing: [{network: pxe, address: dhcp}], metadata: {rack: rack3, owner_data: {foo: baz}}}}
---
";

fn reached(filter: &str) -> Vec<String> {
    let action =
        format!("{{schema: drydock/BootAction/v1, metadata: {{name: a}}, data: {{assets: [], {filter}}}}}");
    let documents = parse("site.yaml", format!("{NODES}{action}").as_bytes()).unwrap().documents;
    let compiled = compile(&documents, &LshwInputs::new());
    compiled.site().unwrap().boot_actions[0].nodes.clone()
}

fn by(join: &str, criteria: &str) -> Vec<String> {
    reached(&format!("node_filter: {{filter_set_type: {join}, filter_set: [{criteria}]}}"))
}

#[test]
fn without_a_filter_all_nodes_are_reached() {
    assert_eq!(reached("signaling: true"), ["controller01", "compute01", "compute02"]);
}

#[test]
fn criteria_are_joined_as_their_filter_says() {
    let names = "node_names: [compute01, compute02]";
    assert_eq!(by("union", &format!("{{filter_type: union, {names}}}")), ["compute01", "compute02"]);
    let both = format!("{{filter_type: intersection, {names}, node_labels: {{foo: baz}}}}");
    assert_eq!(by("union", &both), ["compute02"]);
    let either = "{filter_type: union, node_names: [compute01], node_labels: {foo: baz}}";
    assert_eq!(by("union", either), ["compute01", "compute02"]);
    let one_label_of_two = "{filter_type: intersection, node_labels: {foo: baz, zip: zap}}";
    assert_eq!(by("union", one_label_of_two), ["compute02"]);
    assert_eq!(by("union", "{filter_type: union, node_tags: [test, nope]}").len(), 3);
}

#[test]
fn filters_are_joined_as_the_set_says() {
    let two = "{filter_type: union, node_names: [compute01]}, {filter_type: union, rack_names: [rack1]}";
    assert_eq!(by("union", two), ["controller01", "compute01"]);
    assert_eq!(by("intersection", two), Vec::<String>::new());
}

#[test]
fn a_filter_that_asks_nothing_reaches_nobody() {
    for criteria in ["", "{filter_type: union}", "{filter_type: intersection}", "{node_names: [compute01]}"] {
        assert_eq!(by("intersection", criteria), Vec::<String>::new(), "{criteria}");
    }
}

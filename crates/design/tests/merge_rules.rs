//! The merge rules in small examples: a parent profile, a child profile, a node; what the node comes to.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod family;

use design::inherit::{Manner, explain};
use family::Family;
use serde_json::json;

#[test]
fn a_scalar_is_inherited_overridden_or_unset() {
    let parent = json!({ "primary_network": "mgmt", "platform": { "image": "bionic" } });
    let child = |network: &str| json!({ "primary_network": network });
    let network = |child| Family::of(&parent, &child, &json!({})).node()["primary_network"].clone();
    assert_eq!(network(json!({})), json!("mgmt"));
    assert_eq!(network(child("oam")), json!("oam"));
    assert_eq!(network(child("")), json!(""));
    assert_eq!(network(child("!")), json!(null));
}

#[test]
fn out_of_band_settings_merge_key_by_key() {
    let parent = json!({ "oob": { "type": "ipmi", "network": "oob", "account": "a", "credential": "c" } });
    let child = json!({ "oob": { "account": "b", "!credential": "" } });
    let node = Family::of(&parent, &child, &json!({ "oob": { "type": "redfish" } })).node();
    assert_eq!(node["oob_type"], json!("redfish"));
    assert_eq!(node["oob_parameters"], json!({ "network": "oob", "account": "b" }));
}

#[test]
fn a_list_has_the_childs_entries_first() {
    let tags = |list: &[&str]| json!({ "metadata": { "tags": list } });
    let node = Family::of(&tags(&["a", "b"]), &tags(&["c"]), &tags(&["d", "a"])).node();
    assert_eq!(node["tags"], json!(["d", "a", "c", "b"]));
    let node = Family::of(&tags(&["a", "b"]), &tags(&[]), &json!({})).node();
    assert_eq!(node["tags"], json!(["a", "b"]));
}

#[test]
fn a_key_that_is_removed_and_written_again_goes_last() {
    let params = |params| json!({ "platform": { "kernel_params": params } });
    let parent = params(json!({ "a": "1", "b": "2" }));
    let node = Family::of(&parent, &params(json!({ "!a": "", "a": "9" })), &json!({})).node();
    assert_eq!(node["_kernel_param_string"], json!(" b=2 a=9"));
}

#[test]
fn a_reference_that_leads_nowhere_stays_as_written() {
    let references = json!({
        "a": "hardwareprofile:cpuset.none", "b": "hardwareprofile:hugepages.none.size",
        "c": "hardwareprofile:nothing.at.all", "d": "hardwareprofile:", "e": "hardwareprofile:hugepages.dpdk",
    });
    let params = json!({ "platform": { "kernel_params": references } });
    assert_eq!(Family::of(&params, &json!({}), &json!({})).node()["kernel_params"], references);
}

#[test]
fn an_interface_given_as_null_is_taken_away() {
    let parent =
        json!({ "interfaces": { "pxe": { "device_link": "pxe" }, "bond0": { "device_link": "gp" } } });
    let node = Family::of(&parent, &json!({ "interfaces": { "pxe": null } }), &json!({})).node();
    assert_eq!(node["interfaces"].as_array().unwrap().len(), 1);
    assert_eq!(node["interfaces"][0]["device_name"], json!("bond0"));
}

#[test]
fn an_interface_removed_at_one_level_is_new_at_the_next() {
    let bond =
        |network: &str| json!({ "interfaces": { "bond0": { "device_link": "gp", "networks": [network] } } });
    let child = json!({ "interfaces": { "!bond0": {} } });
    let node = Family::of(&bond("mgmt"), &child, &bond("storage")).node();
    assert_eq!(node["interfaces"][0]["networks"], json!(["storage"]));
}

#[test]
fn devices_and_partitions_keep_the_parents_order() {
    let device = |name: &str, size: &str| {
        let partition = json!({ "name": "root", "size": size });
        json!({ "storage": { "physical_devices": { name: { "partitions": [partition] } } } })
    };
    let mut parent = device("sda", "1g");
    let devices = parent["storage"]["physical_devices"].as_object_mut().unwrap();
    let first = devices["sda"].clone();
    devices.insert("sdb".to_owned(), first.clone());
    devices.insert("sdc".to_owned(), first);
    let sizes = |child| {
        let node = Family::of(&parent, &child, &json!({})).node();
        let devices = node["storage_devices"].as_array().unwrap().clone();
        let told =
            devices.iter().map(|device| format!("{} {}", device["name"], device["partitions"][0]["size"]));
        told.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    assert_eq!(sizes(device("sdc", "2g")), "sda 1g, sdb 1g, sdc 2g");
    assert_eq!(sizes(device("sdd", "2g")), "sda 1g, sdb 1g, sdc 1g, sdd 2g");
    assert_eq!(sizes(json!({ "storage": { "physical_devices": { "!sdc": {} } } })), "sda 1g, sdb 1g");
}

#[test]
fn volume_groups_merge_their_volumes() {
    let volumes = |list| json!({ "storage": { "volume_groups": { "vg": { "logical_volumes": list } } } });
    let parent = volumes(json!([{ "name": "one", "size": "1g" }, { "name": "two", "size": "1g" }]));
    let child = volumes(json!([{ "name": "two", "size": "2g" }, { "name": "three", "size": "3g" }]));
    let node = Family::of(&parent, &child, &json!({})).node();
    let expected = json!([
        { "name": "one", "size": "1g" }, { "name": "two", "size": "2g" }, { "name": "three", "size": "3g" },
    ]);
    assert_eq!(node["volume_groups"][0]["logical_volumes"], expected);
}

#[test]
fn a_partition_may_name_both_a_volume_group_and_a_file_system() {
    let partition = json!({ "name": "p", "volume_group": "vg", "filesystem": { "mountpoint": "/" } });
    let data = json!({ "storage": { "physical_devices": { "sda": { "partitions": [partition] } } } });
    let node = Family::of(&data, &json!({}), &json!({})).node();
    let printed = &node["storage_devices"][0]["partitions"][0];
    assert_eq!((&printed["volume_group"], &printed["mountpoint"]), (&json!("vg"), &json!("/")));
}

#[test]
fn profiles_that_inherit_in_a_circle_are_refused_with_the_chain() {
    let family = Family::of(&json!({ "host_profile": "child" }), &json!({}), &json!({}));
    let error = family.print()["error"].clone();
    assert_eq!(error["kind"], json!("profile_cycle"));
    let chain = json!(["HostProfile/parent", "HostProfile/child", "HostProfile/parent"]);
    assert_eq!(error["about"], chain);
}

#[test]
fn a_marker_is_a_name_like_any_other_where_a_profile_is_named() {
    let error = Family::of(&json!({ "host_profile": "!" }), &json!({}), &json!({})).print()["error"].clone();
    assert_eq!(error["kind"], json!("unknown_host_profile"));
    assert_eq!(error["about"], json!(["HostProfile/parent", "HostProfile/!"]));
}

#[test]
fn an_empty_address_is_passed_over() {
    let node = json!({ "addressing": [{ "network": "pxe", "address": "" }] });
    let family = Family::of(&json!({}), &json!({}), &node);
    assert_eq!(family.node()["addressing"], json!([]));
}

#[test]
fn every_node_that_cannot_be_compiled_is_told() {
    let node = |name: &str, profile: &str| {
        format!(
            "---\n{{schema: drydock/BaremetalNode/v1, metadata: {{name: {name}}}, data: {{host_profile: {profile}, \
             addressing: [{{network: pxe, address: dhcp}}]}}}}\n"
        )
    };
    let profile = "{schema: drydock/HostProfile/v1, metadata: {name: bare}, data: {}}\n";
    let printed = family::print(&[profile, &node("n1", "none"), &node("n2", "bare")].concat());
    let errors: Vec<&serde_json::Value> =
        printed["errors"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(errors, ["unknown_host_profile", "no_hardware_profile"]);
}

#[test]
fn a_chain_may_be_longer_than_the_stack_is_deep() {
    let mut text = String::from(
        "{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {}}\n---\n\
         {schema: drydock/BaremetalNode/v1, metadata: {name: n}, data: {hardware_profile: hw, host_profile: p0, \
         addressing: [{network: pxe, address: dhcp}]}}\n",
    );
    for i in 0..20_000 {
        let data = if i == 19_999 {
            "{metadata: {rack: r1}}".to_owned()
        } else {
            format!("{{host_profile: p{}}}", i + 1)
        };
        text += &format!("---\n{{schema: drydock/HostProfile/v1, metadata: {{name: p{i}}}, data: {data}}}\n");
    }
    assert_eq!(family::print(&text)["nodes"]["n"]["rack"], json!("r1"));
}

#[test]
fn what_was_overridden_or_removed_is_remembered_with_both_sides() {
    let image = |image: &str| json!({ "platform": { "image": image }, "metadata": { "tags": ["old"] } });
    let node = json!({ "platform": { "image": "noble" }, "metadata": { "tags": ["!old"] } });
    let family = Family::of(&image("bionic"), &image("jammy"), &node);
    let effective = family.effective();
    let told = explain(&effective).into_iter().find(|one| one.path == "platform.image").unwrap();
    assert_eq!((told.value.as_str(), told.by.unwrap().document.name.as_str()), ("noble", "n"));
    let lost: Vec<_> =
        told.overrode.iter().map(|one| (one.lost.as_str(), one.lost_by.document.name.as_str())).collect();
    assert_eq!(lost, [("jammy", "child"), ("bionic", "parent")]);

    let removed = effective.ledger.changes().iter().find(|change| change.manner == Manner::Removed).unwrap();
    assert_eq!((removed.path.as_str(), removed.lost.as_str()), ("metadata.tags[old]", "old"));
    assert_eq!((removed.by.document.name.as_str(), removed.lost_by.document.name.as_str()), ("n", "child"));
}

//! Adapters on recorded answers: what a real Ironic said, and shapes of BCM.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::Path;

use serde_json::{Value, json};
use sources::adapter::Change;
use sources::adapters::ironic::{Settings, decode};
use sources::http::Credentials;
use sources::kinds::source::{AdapterKind, SourceSpec};

fn read(folder: &Path, file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

fn spec() -> SourceSpec {
    serde_json::from_value(json!({"adapter": AdapterKind::Ironic, "endpoint": "http://127.0.0.1:6385"}))
        .unwrap()
}

#[test]
fn nodes_of_a_real_ironic_are_read_with_and_without_masked_passwords() {
    let Some(folder) = require::cases("fulfillment") else { return };
    let folder = folder.join("ironic");
    let (nodes, ports) =
        (read(&folder, "nodes_detail_page1_masked.json"), read(&folder, "ports_detail.json"));
    let ports = ports["ports"].as_array().unwrap();
    let settings = Settings::of(&spec(), &Credentials::default(), "http://127.0.0.1:6385");
    let of = |node: &Value, settings: &Settings| {
        let own: Vec<Value> =
            ports.iter().filter(|port| port["node_uuid"] == node["uuid"]).cloned().collect();
        settings.host(node, &own).unwrap().unwrap()
    };
    let host = of(&nodes["nodes"][0], &settings);
    assert_eq!((host.name.as_str(), host.rack.as_deref()), ("node001", Some("R1")));
    assert_eq!(host.class.as_deref(), Some("gpu-h100"));
    assert_eq!(
        host.bmc.url.as_deref(),
        Some("redfish-virtualmedia+https://192.168.101.21/redfish/v1/Systems/1")
    );
    assert_eq!((host.bmc.password, host.bmc.insecure), (None, Some(true)), "a mask is no password");
    assert_eq!(
        (host.boot_mac.as_deref(), host.boot_ip.as_deref()),
        (Some("52:54:00:aa:bb:01"), Some("10.141.0.1"))
    );

    let shown = read(&folder, "nodes_detail_show_password.json");
    let host = of(&shown["nodes"][0], &settings);
    assert!(host.bmc.password.is_some());
    let mut credentials = Credentials::default();
    credentials.set("bmc.password", "configured".to_owned());
    let host = of(&nodes["nodes"][0], &Settings::of(&spec(), &credentials, ""));
    assert_eq!(host.bmc.password.unwrap().reveal(), "configured");
}

#[test]
fn notifications_of_a_real_ironic_name_their_node() {
    let Some(folder) = require::cases("fulfillment") else { return };
    let folder = folder.join("ironic");
    let told = |file: &str| decode(&read(&folder, file));
    let Some(Change::Host(updated)) = told("notification_node_update_end.json") else { panic!("an update") };
    assert!(matches!(told("notification_port_create_end.json"), Some(Change::Host(_))));
    assert!(matches!(told("notification_node_delete_end.json"), Some(Change::Removed(_))));
    let wrapped = json!({"oslo.version": "2.0",
        "oslo.message": read(&folder, "notification_node_update_end.json").to_string()});
    assert_eq!(decode(&wrapped), Some(Change::Host(updated)));
    assert_eq!(decode(&json!({"event_type": "baremetal.node.update.start", "payload": {}})), None);
}

#[test]
fn our_own_notifications_show_the_same() {
    let body = |kind: &str| json!({"event_type": kind, "payload": {"ironic_object.data": {"uuid": "u1", "node_uuid": "n1"}}});
    assert_eq!(decode(&body("baremetal.node.power_set.end")), Some(Change::Host("u1".to_owned())));
    assert_eq!(decode(&body("baremetal.node.delete.end")), Some(Change::Removed("u1".to_owned())));
    assert_eq!(decode(&body("baremetal.port.update.end")), Some(Change::Host("n1".to_owned())));
    assert_eq!(decode(&body("baremetal.node.create.error")), None);
}

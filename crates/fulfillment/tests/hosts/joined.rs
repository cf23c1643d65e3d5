//! Hosts and nodes of the inventory: found by serial number, by MAC address, by name.

use std::sync::Arc;

use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::make;
use super::server::{Server, until};
use super::{host, inventory_of, object, of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_finds_its_node_by_serial_then_mac_then_name_and_shows_where_it_is() {
    let server = Server::embedded().await;
    let client = server.client();
    let controller = Arc::new(fulfillment::controllers::HostController);
    tokio::spawn(apiserver::controllers::host::run(controller, server.api.clone(), None));
    furnish(&client).await;

    // By name first, since nothing else is known of it.
    make(&client, &of("hosts"), &host("n-name", &json!({}))).await;
    node_is(&client, "n-name", Some(("n-name", "Name"))).await;
    make(&client, &of("hosts"), &host("h1", &json!({"bootMac": "52:54:00:AA:BB:01"}))).await;
    node_is(&client, "h1", Some(("n-mac", "MAC"))).await;
    let placement =
        client.get(&format!("{}/h1", of("hosts"))).await.unwrap().json()["status"]["placement"].clone();
    assert_eq!(
        (&placement["rack"], &placement["startUnit"], &placement["units"]),
        (&json!("r1"), &json!(3), &json!(2))
    );
    assert_eq!(
        placement["ports"],
        json!([{"name": "eth0", "mac": "52:54:00:aa:bb:01", "connectedTo": "leaf1 swp1"}])
    );
    assert_eq!(placement["feeds"], json!(["A"]), "through the PDU: {placement}");

    // A serial number counts more than a MAC address.
    let known = json!({"spec": {"hardware": {"serial": "S-1"}}});
    client.merge(&format!("{}/h1", of("hosts")), &known).await.unwrap();
    node_is(&client, "h1", Some(("n-serial", "Serial"))).await;
    // What an operator says counts most.
    let said = json!({"spec": {"nodeRef": {"name": "n-name"}}});
    client.merge(&format!("{}/h1", of("hosts")), &said).await.unwrap();
    node_is(&client, "h1", Some(("n-name", "Reference"))).await;
    let labels = |node: Value| node["metadata"]["labels"]["fulfillment.groundplane.dev/host"].clone();
    let node_at = |name: &str| format!("{}/{name}", inventory_of("nodes"));
    assert_eq!(labels(client.get(&node_at("n-name")).await.unwrap().json()), "h1", "the node shows its host");
    assert_eq!(
        labels(client.get(&node_at("n-serial")).await.unwrap().json()),
        Value::Null,
        "and the other no longer"
    );
    let referrers = client.get(&format!("{}/n-name/referrers", inventory_of("nodes"))).await.unwrap().text();
    assert!(referrers.contains("\"h1\""), "{referrers}");

    // A node that comes later is found when it comes.
    make(&client, &of("hosts"), &host("later", &json!({}))).await;
    node_is(&client, "later", None).await;
    make(&client, &inventory_of("nodes"), &node("later", &json!({}))).await;
    node_is(&client, "later", Some(("later", "Name"))).await;

    // Who holds it is shown.
    let holder = json!({"spec": {"hostRef": {"name": "later"}, "holder": {"kind": "User", "name": "alice"}}});
    make(&client, &of("hostclaims"), &object("HostClaim", "later", &holder)).await;
    until("the holder is shown", || async {
        let host = client.get(&format!("{}/later", of("hosts"))).await.unwrap().json();
        host["status"]["claim"] == json!({"holder": "User/alice", "epoch": 1})
    })
    .await;
    let shown = client.get(&format!("{}/later", inventory_of("nodes"))).await.unwrap().json();
    assert_eq!(shown["metadata"]["labels"]["fulfillment.groundplane.dev/holder"], "User.alice");
    client.merge(&format!("{}/later", of("hostclaims")), &json!({"spec": {"holder": null}})).await.unwrap();
    assert_eq!(client.delete(&format!("{}/later", of("hosts"))).await.unwrap().code, 200);
    let shown = client.get(&format!("{}/later", inventory_of("nodes"))).await.unwrap().json();
    assert_eq!(shown["metadata"]["labels"].get("fulfillment.groundplane.dev/host"), None, "{shown}");
}

async fn node_is(client: &Client, host: &str, expected: Option<(&str, &str)>) {
    until(&format!("{host} is {expected:?}"), || async {
        let host = client.get(&format!("{}/{host}", of("hosts"))).await.unwrap().json();
        let matched = host["status"]["conditions"].as_array().into_iter().flatten();
        let is_told = matched.into_iter().any(|told| {
            told["type"] == "InventoryMatched"
                && told["status"] == if expected.is_some() { "True" } else { "False" }
        });
        is_told
            && match expected {
                Some((name, by)) => host["status"]["node"] == json!({"name": name, "foundBy": by}),
                None => host["status"].get("node").is_none(),
            }
    })
    .await;
}

fn of_inventory(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn node(name: &str, more: &Value) -> Value {
    let mut spec = json!({
        "siteRef": {"name": "fra1"},
        "hardware": {"cpuCores": 1, "cpuArchitecture": "amd64", "memoryBytes": 1},
    });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    of_inventory("Node", name, spec)
}

/// A site with a rack of two feeds, a PDU, a switch and three nodes.
async fn furnish(client: &Client) {
    let port = |name: &str, device: (&str, &str), kind: &str, label: &str| {
        let device = json!({"kind": device.0, "name": device.1});
        of_inventory("Port", name, json!({"deviceRef": device, "type": kind, "name": label}))
    };
    let cable = |name: &str, media: &str, ends: [&str; 2]| {
        let ends = ends.map(|end| json!({"name": end}));
        of_inventory("Cable", name, json!({"endpoints": ends, "media": media}))
    };
    let mut data = port("n-mac-eth0", ("Node", "n-mac"), "Ethernet", "eth0");
    data["spec"]["macAddress"] = "52:54:00:aa:bb:01".into();
    let mut outlet = port("pdu-out1", ("NetworkDevice", "pdu1"), "Power", "out1");
    outlet["spec"]["power"] = json!({"inletRef": {"name": "pdu-in"}});
    let mut feed = port("r1-feed-a", ("Rack", "r1"), "Power", "A");
    feed["spec"]["power"] = json!({"feed": "A"});
    let placement = json!({"rackRef": {"name": "r1"}, "startUnit": 3, "unitHeight": 2});
    let device =
        |name: &str| of_inventory("NetworkDevice", name, json!({"siteRef": {"name": "fra1"}, "role": "PDU"}));
    let feeds = json!([{"name": "A"}]);
    let rack = json!({"siteRef": {"name": "fra1"}, "heightU": 42, "powerFeeds": feeds});
    let site = json!({"displayName": "Frankfurt", "type": "Datacenter", "regionRef": {"name": "eu"}});
    let all = [
        ("regions", of_inventory("Region", "eu", json!({"displayName": "Europe"}))),
        ("sites", of_inventory("Site", "fra1", site)),
        ("racks", of_inventory("Rack", "r1", rack)),
        ("networkdevices", device("leaf1")),
        ("networkdevices", device("pdu1")),
        ("nodes", node("n-name", &json!({}))),
        ("nodes", node("n-serial", &json!({"serial": "S-1"}))),
        ("nodes", node("n-mac", &json!({"placement": placement}))),
        ("ports", data),
        ("ports", port("leaf1-swp1", ("NetworkDevice", "leaf1"), "Ethernet", "swp1")),
        ("ports", port("n-mac-psu1", ("Node", "n-mac"), "Power", "PSU1")),
        ("ports", port("pdu-in", ("NetworkDevice", "pdu1"), "Power", "in")),
        ("ports", outlet),
        ("ports", feed),
        ("cables", cable("c1", "Copper", ["n-mac-eth0", "leaf1-swp1"])),
        ("cables", cable("c2", "Power", ["n-mac-psu1", "pdu-out1"])),
        ("cables", cable("c3", "Power", ["pdu-in", "r1-feed-a"])),
    ];
    for (plural, object) in all {
        make(client, &inventory_of(plural), &object).await;
    }
}

//! Bindings, contexts and claims that wait, with the controllers running.

use std::sync::Arc;

use apiserver::controllers::host;
use networking::controllers::{LocationController, NetworkController};
use reconcile::reconciler::Reconciler;
use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::{found, make};
use super::places::{allocated, at_cluster, claim, context, make_project, network, object, of, reason};
use super::server::{Server, until};

async fn server() -> (Server, Client) {
    let server = Server::embedded().await;
    let controllers: [Arc<dyn Reconciler>; 2] = [Arc::new(NetworkController), Arc::new(LocationController)];
    for controller in controllers {
        tokio::spawn(host::run(controller, server.api.clone(), Some(apiserver::write::new_uid())));
    }
    let client = server.client();
    make_project(&client).await;
    (server, client)
}

async fn until_reason(client: &Client, path: &str, kind: &str, wanted: &str) -> Value {
    until(wanted, || async {
        found(client, path).await.is_some_and(|object| reason(&object, kind) == wanted)
    })
    .await;
    found(client, path).await.unwrap()
}

#[tokio::test]
async fn a_binding_is_ready_once_its_network_and_location_are_there() {
    let (_server, client) = server().await;
    let spec = json!({"network": {"name": "default"}, "location": {"name": "dfw", "namespace": "default"}});
    make(&client, &of("networkbindings"), &object("NetworkBinding", "api-net-0", spec)).await;
    let binding = format!("{}/api-net-0", of("networkbindings"));
    until_reason(&client, &binding, "Ready", "False:NetworkNotFound").await;
    let default = object("Network", "default", json!({"ipam": {"mode": "Auto"}}));
    let made = make(&client, &of("networks"), &default).await;
    assert_eq!(made["spec"]["ipam"]["ipv4Range"], "10.128.0.0/9");
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4"]));
    assert_eq!(made["spec"]["mtu"], 1460);
    until_reason(&client, &binding, "Ready", "False:LocationNotAvailable").await;
    let spec = json!({"locationRef": {"name": "dfw"}, "locationClassName": "datum-managed"});
    make(&client, &at_cluster("locationbindings"), &object("LocationBinding", "dfw", spec)).await;
    let path = format!("{}/dfw/status", at_cluster("locationbindings"));
    let available = json!({"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Available",
        "message": "", "lastTransitionTime": "2026-06-04T10:00:00Z"}]}});
    assert_eq!(client.merge(&path, &available).await.unwrap().code, 200);
    let ready = until_reason(&client, &binding, "Ready", "True:NetworkContextReady").await;
    assert_eq!(ready["status"]["networkContextRef"], json!({"name": "default-dfw", "namespace": "default"}));

    let refused = client.delete(&format!("{}/default", of("networks"))).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert!(refused.text().contains("NetworkBinding default/api-net-0"), "{}", refused.text());
    // The first subnet of a network is at the beginning of its range.
    let made = make(&client, &of("subnetclaims"), &claim("c", "default", "dfw", "IPv4", 20)).await;
    assert_eq!(allocated(&made).as_deref(), Some("10.128.0.0/20"));
    assert_eq!(made["status"]["subnetRef"]["name"], "c");
}

#[tokio::test]
async fn a_claim_that_gets_nothing_waits_until_there_is_room() {
    let (_server, client) = server().await;
    let claims = of("subnetclaims");
    let first = make(&client, &claims, &claim("first", "net", "dfw", "IPv4", 26)).await;
    assert_eq!(reason(&first, "Allocated"), "False:NetworkContextNotFound");
    make(&client, &of("networks"), &network("net", "10.0.0.0/26", "fd20:1::/48")).await;
    make(&client, &of("networkcontexts"), &context("net", "dfw")).await;
    let first = until_reason(&client, &format!("{claims}/first"), "Ready", "True:Ready").await;
    assert_eq!(allocated(&first).as_deref(), Some("10.0.0.0/26"));

    let waits = make(&client, &claims, &claim("waits", "net", "dfw", "IPv4", 28)).await;
    assert_eq!(reason(&waits, "Allocated"), "False:RangeExhausted");
    let why = waits["status"]["conditions"][0]["message"].as_str().unwrap();
    assert_eq!(why, "no prefix of 28 bits is free in 10.0.0.0/26; the claim waits until one is released");
    assert!(found(&client, &format!("{}/waits", of("subnets"))).await.is_none());
    // What was allocated can't be written away.
    let taken = client.merge(&format!("{claims}/first/status"), &json!({"status": null})).await.unwrap();
    assert_eq!(allocated(&taken.json()).as_deref(), Some("10.0.0.0/26"), "{}", taken.text());

    assert_eq!(client.delete(&format!("{claims}/first")).await.unwrap().code, 200);
    let waits = until_reason(&client, &format!("{claims}/waits"), "Ready", "True:Ready").await;
    assert_eq!(allocated(&waits).as_deref(), Some("10.0.0.0/28"));
    assert!(found(&client, &format!("{}/waits", of("subnets"))).await.is_some());
    let refused = client.delete(&format!("{}/net", of("networks"))).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
}

#[tokio::test]
async fn what_can_not_be_a_network_or_a_claim_is_refused_by_field() {
    let (_server, client) = server().await;
    let refused = |plural: &'static str, object: Value| {
        let client = client.apart();
        async move {
            let answer = client.post(&of(plural), &object).await.unwrap();
            assert_eq!(answer.code, 422, "{}", answer.text());
            answer.json()["message"].as_str().unwrap().to_owned()
        }
    };
    let spec = |ipam: Value| json!({"ipam": ipam, "ipFamilies": ["IPv4"]});
    let no_range = refused("networks", object("Network", "n", spec(json!({"mode": "Policy"})))).await;
    assert!(no_range.contains("spec.ipam.ipv4Range: Required value"), "{no_range}");
    let wrong = json!({"mode": "Auto", "ipv4Range": "10.0.0.1/8"});
    let wrong = refused("networks", object("Network", "n", spec(wrong))).await;
    assert!(wrong.contains("must be an IPv4 prefix in CIDR notation with 8 to 29 bits"), "{wrong}");
    let mut unaligned = claim("c", "net", "dfw", "IPv4", 24);
    unaligned["spec"]["startAddress"] = "10.0.0.16".into();
    let unaligned = refused("subnetclaims", unaligned).await;
    assert!(unaligned.contains("must be the first address of an IPv4 prefix of 24 bits"), "{unaligned}");
    let long = refused("subnetclaims", claim("c", "net", "dfw", "IPv4", 64)).await;
    assert!(long.contains("must be at most 32 for IPv4"), "{long}");
}

#[tokio::test]
async fn a_location_is_ready_by_its_provider_or_its_sites_and_both_groups_show_it() {
    let (_server, client) = server().await;
    let old = "/apis/networking.datumapis.com/v1alpha/locations";
    let new = "/apis/locations.miloapis.com/v1alpha1/locations";
    let spec =
        json!({"locationClassName": "datum-managed", "topology": {"topology.datum.net/city-code": "DFW"}});
    make(&client, old, &object("Location", "dfw", spec.clone())).await;
    until_reason(&client, &format!("{old}/dfw"), "Ready", "False:NoSite").await;
    let shown = found(&client, &format!("{new}/dfw")).await.unwrap();
    assert_eq!((&shown["apiVersion"], &shown["spec"]), (&json!("locations.miloapis.com/v1alpha1"), &spec));
    let mut cloud = json!({"apiVersion": "locations.miloapis.com/v1alpha1", "kind": "Location",
        "metadata": {"name": "gcp"}, "spec": spec});
    cloud["spec"]["provider"] = json!({"gcp": {"projectId": "p", "region": "r", "zone": "z"}});
    make(&client, new, &cloud).await;
    until_reason(&client, &format!("{old}/gcp"), "Ready", "True:ProviderConfigured").await;
    let nowhere =
        object("Location", "x", json!({"locationClassName": "datum-managed", "topology": {"a": "b"}}));
    let refused = client.post(old, &nowhere).await.unwrap();
    assert!(
        refused.text().contains("spec.topology[topology.datum.net/city-code]: Required value"),
        "{}",
        refused.text()
    );
}

#[tokio::test]
async fn a_claim_that_waits_gets_what_one_of_many_gives_back() {
    let (_server, client) = server().await;
    let claims = of("subnetclaims");
    make(&client, &of("networks"), &network("net", "10.0.0.0/24", "fd20:1::/48")).await;
    make(&client, &of("networkcontexts"), &context("net", "dfw")).await;
    for number in 0..4 {
        make(&client, &claims, &claim(&format!("c{number}"), "net", "dfw", "IPv4", 26)).await;
    }
    let waits = make(&client, &claims, &claim("waits", "net", "dfw", "IPv4", 26)).await;
    assert_eq!(reason(&waits, "Allocated"), "False:RangeExhausted");
    assert_eq!(client.delete(&format!("{claims}/c2")).await.unwrap().code, 200);
    let waits = until_reason(&client, &format!("{claims}/waits"), "Ready", "True:Ready").await;
    assert_eq!(allocated(&waits).as_deref(), Some("10.0.0.128/26"));
}

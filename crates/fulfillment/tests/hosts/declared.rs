//! What the kinds declare: references, identities, hostile values, templates.

use serde_json::json;

use super::objects::make;
use super::server::Server;
use super::{host, object, of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_referred_to_stays_and_what_is_missing_is_refused() {
    let server = Server::embedded().await;
    let client = server.client();
    let lost = client.post(&of("hosts"), &host("h1", &json!({"class": "gpu"}))).await.unwrap();
    assert_eq!(lost.code, 422, "{}", lost.text());
    make(&client, &of("hostclasses"), &object("HostClass", "gpu", &json!({"title": "GPU"}))).await;
    make(&client, &of("hostclasses"), &object("HostClass", "plain", &json!({}))).await;
    make(&client, &of("hosts"), &host("h1", &json!({"class": "gpu"}))).await;
    let template = |class: &str| json!({"nodeSets": {"workers": {"hostClass": class, "size": 1}}});
    let lost = client
        .post(&of("clustertemplates"), &object("ClusterTemplate", "t", &template("none")))
        .await
        .unwrap();
    assert_eq!(lost.code, 422, "{}", lost.text());
    make(&client, &of("clustertemplates"), &object("ClusterTemplate", "t", &template("plain"))).await;
    for (class, who) in [("gpu", "Host h1"), ("plain", "ClusterTemplate t")] {
        let kept = client.delete(&format!("{}/{class}", of("hostclasses"))).await.unwrap();
        assert_eq!(kept.code, 409);
        assert!(kept.text().contains(who), "{}", kept.text());
    }
    let referrers = client.get(&format!("{}/gpu/referrers", of("hostclasses"))).await.unwrap().text();
    assert!(referrers.contains("h1"), "{referrers}");

    let placement = |hub: &str, port: i64| {
        let spec = json!({"spec": {"project": "p", "cluster": "c", "hub": hub, "port": port}});
        object("ClusterPlacement", &format!("c-{hub}-{port}"), &spec)
    };
    make(&client, &of("hubs"), &object("Hub", "hub1", &json!({"spec": {"namespace": "ns"}}))).await;
    make(&client, &of("clusterplacements"), &placement("hub1", 30000)).await;
    let mut other = placement("hub1", 30000);
    other["metadata"]["name"] = "other".into();
    let taken = client.post(&of("clusterplacements"), &other).await.unwrap();
    assert_eq!(taken.code, 409, "one port, one cluster: {}", taken.text());
    assert_eq!(client.delete(&format!("{}/hub1", of("hubs"))).await.unwrap().code, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn identifiers_that_are_no_names_have_one_name_that_is_derived() {
    let server = Server::embedded().await;
    let client = server.client();
    let id = "ocp_4_17_small";
    let name = fulfillment::identity::name_of(id);
    let made =
        make(&client, &of("clustertemplates"), &object("ClusterTemplate", &name, &json!({"id": id}))).await;
    assert_eq!(made["id"], id);
    let found =
        client.get(&format!("{}?fieldSelector=id%3D{id}", of("clustertemplates"))).await.unwrap().json();
    assert_eq!(found["items"][0]["metadata"]["name"], json!(name));
    for (name, id) in [("another", id), ("dns-name", "dns-name")] {
        let wrong = client.post(&of("hosts"), &object("Host", name, &json!({"id": id}))).await.unwrap();
        assert_eq!(wrong.code, 422, "{}", wrong.text());
    }
    let renamed =
        client.merge(&format!("{}/{name}", of("clustertemplates")), &json!({"id": "x_y"})).await.unwrap();
    assert_eq!(renamed.code, 422, "{}", renamed.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_values_are_refused_by_field_and_a_password_in_a_url_is_not_repeated() {
    let server = Server::embedded().await;
    let client = server.client();
    let long = "x".repeat(5000);
    let cases = [
        (json!({"bootMac": "zz:00"}), "spec.bootMac"),
        (json!({"bootIp": "10.0.0.300"}), "spec.bootIp"),
        (json!({"powerState": "ON"}), "spec.powerState"),
        (json!({"bmc": {"url": "192.0.2.1"}}), "spec.bmc.url"),
        (json!({"title": long}), "spec.title"),
        (json!({"bmc": {"password": "x".repeat(1025)}}), "spec.bmc.password"),
        (json!({"bmc": {"password": 12345}}), "spec.bmc.password"),
        (json!({"hardware": {"cpus": [{"cores": 0}]}}), "spec.hardware.cpus"),
        (json!({"hardware": {"nics": [{"name": "a", "mac": "\u{0000}"}]}}), "spec.hardware.nics"),
        (json!({"nodeRef": {"name": ""}}), "spec.nodeRef.name"),
    ];
    for (spec, field) in cases {
        let wrong = client.post(&of("hosts"), &host("h1", &spec)).await.unwrap();
        assert_eq!(wrong.code, 422, "{spec}: {}", wrong.text());
        assert!(wrong.text().contains(field), "{}", wrong.text());
        assert!(wrong.text().len() < 7000, "a value that is too long is not repeated many times");
    }
    let long = "a".repeat(250);
    let named = client.post(&of("hosts"), &host(&long, &json!({"bmc": {"password": "x"}}))).await.unwrap();
    assert_eq!(named.code, 422, "no room for the name of its Secret: {}", named.text());
    make(&client, &of("hosts"), &host(&long, &json!({}))).await;
    let told = json!({"bmc": {"url": "redfish://root:calvin-marker@192.0.2.1/x"}});
    let wrong = client.post(&of("hosts"), &host("h1", &told)).await.unwrap();
    assert_eq!(wrong.code, 422);
    assert!(!wrong.text().contains("calvin-marker"), "{}", wrong.text());
    let wrong =
        object("Hub", "hub", &json!({"spec": {"ip": "::g", "namespace": "A", "sshPublicKey": "-----BEGIN"}}));
    let wrong = client.post(&of("hubs"), &wrong).await.unwrap().text();
    for field in ["spec.ip", "spec.namespace", "spec.sshPublicKey"] {
        assert!(wrong.contains(field), "{wrong}");
    }
}

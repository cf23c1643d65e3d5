//! A kind with several versions: each object is served in all of them, whichever it was written or stored in, and what is
//! stored in an earlier one is migrated.

use std::collections::BTreeMap;
use std::sync::Arc;

use apiserver::controllers::host;
use apiserver::controllers::storage_versions::StorageVersions;
use apiserver::keys;
use apiserver::plane::Plane;
use krm::kind::{Metadata, Resource, round_trip, round_trip_of_stored};
use proptest::prelude::*;
use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::lamps::{Lamp, LampSpec, LampStatus, LampV1alpha1, LampV1alpha1Spec, Light};
use super::objects::{SHELVES, found, make, names, shelf};
use super::older_objects::store;
use super::reading_room::NameRef;
use super::server::{Pair, Server, until};

const OLD: &str = "/apis/example.groundplane.dev/v1alpha1/lamps";
const NEW: &str = "/apis/example.groundplane.dev/v1beta1/lamps";

fn old(name: &str, brightness: u32) -> Value {
    json!({
        "apiVersion": "example.groundplane.dev/v1alpha1", "kind": "Lamp", "metadata": {"name": name},
        "spec": {"shelf": "s1", "brightness": brightness},
    })
}

fn new(name: &str, percent: u32) -> Value {
    json!({
        "apiVersion": "example.groundplane.dev/v1beta1", "kind": "Lamp", "metadata": {"name": name},
        "spec": {"shelfRef": {"name": "s1"}, "light": {"percent": percent}},
    })
}

async fn lamp(client: &Client, collection: &str, name: &str) -> Value {
    found(client, &format!("{collection}/{name}")).await.unwrap()
}

/// Whether an object is stored as objects are stored today.
fn is_migrated(server: &Server, name: &str) -> bool {
    let key = keys::object(&Plane::root(), &Lamp::address("", name)).unwrap();
    let snapshot = server.api.store().latest();
    let bytes = snapshot.get(&key).unwrap().bytes().clone();
    bytes.starts_with(br#"{"apiVersion":"example.groundplane.dev/v1beta1","kind":"Lamp","#)
}

async fn apply(client: &Client, collection: &str, manager: &str, body: &Value) -> Answer {
    let name = body["metadata"]["name"].as_str().unwrap();
    client.apply(&format!("{collection}/{name}?fieldManager={manager}"), body).await.unwrap()
}

#[tokio::test]
async fn an_object_is_served_in_every_version_whichever_it_was_written_in() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    let made = make(&client, OLD, &old("a", 40)).await;
    assert_eq!(made["spec"], json!({"shelf": "s1", "brightness": 40}));
    assert!(is_migrated(&server, "a"), "what is written is stored in the new version");
    let shown = lamp(&client, NEW, "a").await;
    assert_eq!(shown["apiVersion"], "example.groundplane.dev/v1beta1");
    assert_eq!(shown["spec"], json!({"shelfRef": {"name": "s1"}, "light": {"percent": 40}}));
    assert_eq!(shown["metadata"]["uid"], made["metadata"]["uid"]);

    // What one version has no field for survives a write in it.
    let kelvin = json!({"spec": {"light": {"kelvin": 2700}}});
    assert_eq!(client.merge(&format!("{NEW}/a"), &kelvin).await.unwrap().code, 200);
    let brighter = client.merge(&format!("{OLD}/a"), &json!({"spec": {"brightness": 50}})).await.unwrap();
    assert_eq!(brighter.code, 200, "{}", brighter.text());
    assert_eq!(lamp(&client, NEW, "a").await["spec"]["light"], json!({"percent": 50, "kelvin": 2700}));
    let status = json!({"status": {"hours": 7}});
    assert_eq!(client.merge(&format!("{OLD}/a/status"), &status).await.unwrap().code, 200);
    let mut whole = lamp(&client, OLD, "a").await;
    assert_eq!(whole["status"]["hours"], 7);
    whole["spec"]["brightness"] = 60.into();
    assert_eq!(client.put(&format!("{OLD}/a"), &whole).await.unwrap().code, 200);
    let last = lamp(&client, NEW, "a").await;
    assert_eq!(last["spec"]["light"], json!({"percent": 60, "kelvin": 2700}));
    assert_eq!((&last["status"]["hours"], &last["metadata"]["generation"]), (&json!(7), &json!(4)));

    assert_eq!(names(&client, &format!("{OLD}?fieldSelector=spec.shelf%3Ds1")).await, ["a"]);
    assert_eq!(names(&client, &format!("{NEW}?fieldSelector=spec.shelfRef.name%3Ds1")).await, ["a"]);
    let table = client.apart().with("accept", "application/json;as=Table;g=meta.k8s.io;v=v1");
    let cells = async |collection| table.get(collection).await.unwrap().json()["rows"][0]["cells"].clone();
    assert_eq!(cells(NEW).await, json!(["a", 60, 7]));
    assert_eq!(cells(OLD).await, json!(["a", 7]), "columns of fields that it has");
    let history = client.get(&format!("{NEW}/a/history")).await.unwrap();
    assert_eq!(history.code, 200, "{}", history.text());
}

#[tokio::test]
async fn references_and_rules_hold_in_every_version() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    make(&client, NEW, &new("a", 100)).await;
    let refused = client.post(OLD, &old("b", 60)).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert!(refused.text().contains("the lamps over the shelf would have 160 percent"), "{}", refused.text());
    let mut lost = old("b", 10);
    lost["spec"]["shelf"] = "nowhere".into();
    let refused = client.post(OLD, &lost).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("spec.shelfRef.name: Not found"), "{}", refused.text());
    let invalid = client.post(OLD, &old("b", 101)).await.unwrap();
    assert!(invalid.text().contains("spec.brightness"), "{}", invalid.text());
    make(&client, OLD, &old("b", 50)).await;
    let kept = client.delete(&format!("{SHELVES}/s1")).await.unwrap();
    assert_eq!(kept.code, 409, "{}", kept.text());
}

#[tokio::test]
async fn what_an_earlier_server_stored_is_read_and_migrated() {
    let server = Server::embedded().await;
    is_read_and_migrated(&server, &server).await;
}

#[tokio::test]
async fn what_an_earlier_server_stored_is_read_and_migrated_on_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    is_read_and_migrated(&pair.servers[0], &pair.servers[1]).await;
}

async fn is_read_and_migrated(first: &Server, second: &Server) {
    let client = first.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    let mut events = client.watch(&format!("{NEW}?watch=true&timeoutSeconds=300")).await.unwrap();
    let mut old_events = client.watch(&format!("{OLD}?watch=true&timeoutSeconds=300")).await.unwrap();
    for name in ["a", "b", "c"] {
        store(first, "lamps", &old(name, 40)).await;
        let told = events.next().await.unwrap();
        assert_eq!(
            (&told["type"], &told["object"]["spec"]["light"]["percent"]),
            (&json!("ADDED"), &json!(40))
        );
        let told = old_events.next().await.unwrap();
        assert_eq!(told["object"]["spec"]["brightness"], 40);
    }
    let reader = second.client();
    until("the other server has followed", || async { names(&reader, NEW).await == ["a", "b", "c"] }).await;
    let before = lamp(&reader, NEW, "a").await;
    assert_eq!(before["apiVersion"], "example.groundplane.dev/v1beta1");
    assert_eq!(before["spec"], json!({"shelfRef": {"name": "s1"}, "light": {"percent": 40}}));
    let listed = reader.get(NEW).await.unwrap().json();
    assert_eq!(listed["items"][2]["spec"]["light"]["percent"], 40, "{listed}");
    assert_eq!(
        names(&reader, &format!("{NEW}?fieldSelector=spec.shelfRef.name%3Ds1")).await,
        ["a", "b", "c"],
        "they are found by the fields of today"
    );
    let referrers = reader.get(&format!("{SHELVES}/s1/referrers")).await.unwrap();
    assert!(referrers.text().contains("spec.shelfRef.name"), "{}", referrers.text());
    let refused = reader.post(NEW, &new("d", 40)).await.unwrap();
    assert_eq!(refused.code, 409, "rules know what is stored in an earlier version: {}", refused.text());
    assert!(!is_migrated(first, "a") && !is_migrated(first, "b"));

    // A write of nothing stores it anew, and so does the controller.
    let touched = client.merge(&format!("{NEW}/b"), &json!({})).await.unwrap();
    assert_eq!(touched.code, 200, "{}", touched.text());
    assert!(is_migrated(first, "b") && !is_migrated(first, "a"));
    let controller = StorageVersions::of(first.api.kinds()).unwrap();
    tokio::spawn(host::run(Arc::new(controller), first.api.clone(), Some("migrator".to_owned())));
    until("all are migrated", || async { is_migrated(first, "a") && is_migrated(first, "c") }).await;
    let after = lamp(&client, NEW, "a").await;
    assert_eq!((&after["spec"], &after["metadata"]["generation"]), (&before["spec"], &json!(1)));
    assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    assert_eq!(lamp(&client, OLD, "a").await["spec"], json!({"shelf": "s1", "brightness": 40}));
    for _ in 0..3 {
        let told = events.next().await.unwrap();
        assert_eq!(told["type"], "MODIFIED");
        assert_eq!(told["object"]["spec"]["light"]["percent"], 40, "{told}");
    }

    // What is stored so is left alone: the next that is told is the next that somebody does.
    assert_eq!(client.delete(&format!("{NEW}/c")).await.unwrap().code, 200);
    make(&client, NEW, &new("d", 10)).await;
    let told = [events.next().await.unwrap(), events.next().await.unwrap()];
    assert_eq!([&told[0]["type"], &told[1]["type"]], ["DELETED", "ADDED"]);
}

#[tokio::test]
async fn managers_of_different_versions_share_an_object() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    assert_eq!(apply(&client, OLD, "installer", &old("a", 40)).await.code, 201);
    let mut color = json!({
        "apiVersion": "example.groundplane.dev/v1beta1", "kind": "Lamp", "metadata": {"name": "a"},
        "spec": {"light": {"kelvin": 2700}},
    });
    let colored = apply(&client, NEW, "painter", &color).await;
    assert_eq!(colored.code, 200, "{}", colored.text());

    let brighter = apply(&client, OLD, "installer", &old("a", 60)).await;
    assert_eq!(brighter.code, 200, "{}", brighter.text());
    assert_eq!(lamp(&client, NEW, "a").await["spec"]["light"], json!({"percent": 60, "kelvin": 2700}));
    // The same field under its other name.
    color["spec"]["light"]["percent"] = 10.into();
    let refused = apply(&client, NEW, "painter", &color).await;
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert!(refused.text().contains("installer"), "{}", refused.text());

    // A manager that moves to the new version keeps what is its own, and takes nothing from others.
    let moved = apply(&client, NEW, "installer", &new("a", 70)).await;
    assert_eq!(moved.code, 200, "{}", moved.text());
    assert_eq!(lamp(&client, NEW, "a").await["spec"]["light"], json!({"percent": 70, "kelvin": 2700}));
    // What its only manager no longer applies goes.
    color["spec"] = json!({});
    let plain = apply(&client, NEW, "painter", &color).await;
    assert_eq!(plain.code, 200, "{}", plain.text());
    assert_eq!(lamp(&client, NEW, "a").await["spec"]["light"], json!({"percent": 70}));
}

#[tokio::test]
async fn a_deprecated_version_says_so_and_discovery_lists_both() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    let group = client.get("/apis/example.groundplane.dev").await.unwrap().json();
    let versions: Vec<&str> =
        group["versions"].as_array().unwrap().iter().map(|it| it["version"].as_str().unwrap()).collect();
    assert_eq!(versions, ["v1beta1", "v1alpha1"]);
    let answer = client.get(OLD).await.unwrap();
    let warning = answer.headers.get("warning").map(|value| value.to_str().unwrap().to_owned());
    assert!(warning.is_some_and(|warning| warning.contains("use v1beta1, which knows colors")));
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let texts = || prop::collection::btree_map("[a-z]{1,5}", "[a-z]{0,5}", 0..3);
    (texts(), texts(), "[a-z]{1,9}").prop_map(|(labels, annotations, name): (BTreeMap<_, _>, _, _)| {
        Metadata { name, labels, annotations, ..Metadata::default() }
    })
}

fn status() -> impl Strategy<Value = Option<LampStatus>> {
    prop::option::of(any::<u32>().prop_map(|hours| LampStatus { hours, conditions: Vec::new() }))
}

proptest! {
    #[test]
    fn nothing_is_lost_between_versions(
        metadata in metadata(), name in "[a-z]{1,9}", percent in 0u32..=100, kelvin in any::<Option<u32>>(),
        status in status(), strange in prop::option::of("[0-9a-z]{0,4}"),
    ) {
        let spec = LampSpec { shelf_ref: NameRef { name: name.clone() }, light: Light { percent, kelvin } };
        let lamp = Lamp { metadata: metadata.clone(), spec, status: status.clone() };
        prop_assert_eq!(round_trip_of_stored::<LampV1alpha1>(&lamp), Ok(()));
        let mut metadata = metadata;
        if let Some(strange) = strange {
            metadata.annotations.insert("example.groundplane.dev/kelvin".to_owned(), strange);
        }
        let lamp = LampV1alpha1 { metadata, spec: LampV1alpha1Spec { shelf: name, brightness: percent }, status };
        prop_assert_eq!(round_trip(&lamp), Ok(()));
    }
}

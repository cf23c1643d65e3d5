//! Two servers on one etcd are one to their clients: what one is told the other knows, and when one goes the other
//! goes on.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "two_servers/guide.rs"]
mod guide;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::{Client, Pair};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Two servers; `None`, said plainly, when there is no etcd to be had.
fn pair() -> Option<Pair> {
    if !Cluster::available() {
        need::passed_over("there is no etcd");
        return None;
    }
    Some(Pair::start(GROUNDPLANE).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_is_told_the_other_knows_at_once() {
    let Some(pair) = pair() else { return };
    let (first, second) = (pair.first.client(), pair.second.client());
    for round in 0..50 {
        let (writer, reader) = if round % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let map = json!({"metadata": {"name": format!("map-{round}")}});
        let made = writer.post(MAPS, &map).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
        let read = reader.get(&format!("{MAPS}/map-{round}")).await.unwrap();
        assert_eq!(read.json(), made.json(), "round {round}");
        let listed = reader.get(MAPS).await.unwrap().json();
        // Every namespace has one map of the server's own.
        let is_ours = |map: &&Value| map["metadata"]["name"] != "kube-root-ca.crt";
        assert_eq!(listed["items"].as_array().unwrap().iter().filter(is_ours).count(), round + 1);
    }
    let secret = json!({"metadata": {"name": "sealed"}, "stringData": {"k": "correct horse"}});
    assert_eq!(first.post("/api/v1/namespaces/default/secrets", &secret).await.unwrap().code, 201);
    let read = second.get("/api/v1/namespaces/default/secrets/sealed").await.unwrap().json();
    assert_eq!(read["data"]["k"], "Y29ycmVjdCBob3JzZQ==");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_did_what_is_told_by_both_and_requests_by_the_one_that_answered() {
    let Some(pair) = pair() else { return };
    let (first, second) = (pair.first.client(), pair.second.client());
    for round in 0..20 {
        let writer = if round % 2 == 0 { &first } else { &second };
        let map = json!({"metadata": {"name": format!("map-{round}")}});
        assert_eq!(writer.post(MAPS, &map).await.unwrap().code, 201);
    }
    let group = "/apis/activity.miloapis.com/v1alpha1";
    let ask = async |client: &Client, kind: &str, more: Value| {
        let mut spec = json!({"startTime": "now-1h", "endTime": "now"});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let query = json!({"apiVersion": "activity.miloapis.com/v1alpha1", "kind": kind, "spec": spec});
        let plural = if kind == "ActivityQuery" { "activityqueries" } else { "auditlogqueries" };
        client.post(&format!("{group}/{plural}"), &query).await.unwrap()
    };
    for client in [&first, &second] {
        // Page by page, and all at once.
        for limit in [3, 100] {
            let mut told = Vec::new();
            let mut more = json!({"resourceKind": "ConfigMap", "search": "created map-", "limit": limit});
            loop {
                let page = ask(client, "ActivityQuery", more.clone()).await.json();
                let results = page["status"]["results"].as_array().unwrap().clone();
                told.extend(results.iter().map(|result| result["spec"]["resource"]["name"].clone()));
                match page["status"]["continue"].as_str() {
                    Some(next) => more["continue"] = next.into(),
                    None => break,
                }
            }
            let expected: Vec<Value> = (0..20).rev().map(|round| format!("map-{round}").into()).collect();
            assert_eq!(told, expected);
        }
        let answer = ask(client, "AuditLogQuery", json!({})).await;
        let warning = answer.headers.get("warning").unwrap().to_str().unwrap();
        assert!(warning.contains("only contains requests to this server"), "{warning}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_rights_from_one_count_on_the_other() {
    let Some(pair) = pair() else { return };
    let (first, second) = (pair.first.client(), pair.second.client());
    let account = json!({"metadata": {"name": "worker"}});
    first.post("/api/v1/namespaces/default/serviceaccounts", &account).await.unwrap();
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token =
        first.post("/api/v1/namespaces/default/serviceaccounts/worker/token", &request).await.unwrap();
    let token = token.json()["status"]["token"].as_str().unwrap().to_owned();
    let worker = pair.second.stranger().with_token(&token);
    assert_eq!(worker.get(MAPS).await.unwrap().code, 403, "known on the other, and not allowed");

    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let role = json!({"metadata": {"name": "reader"}, "rules": rules});
    assert_eq!(first.post(&format!("{rbac}/roles"), &role).await.unwrap().code, 201);
    let binding = json!({
        "metadata": {"name": "readers"},
        "subjects": [{"kind": "ServiceAccount", "name": "worker", "namespace": "default"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
    });
    assert_eq!(first.post(&format!("{rbac}/rolebindings"), &binding).await.unwrap().code, 201);
    // Rights travel as changes do: a moment, not a restart.
    until("the right counts", async || worker.get(MAPS).await.unwrap().code == 200).await;
    assert_eq!(second.delete(&format!("{rbac}/rolebindings/readers")).await.unwrap().code, 200);
    assert_eq!(worker.get(MAPS).await.unwrap().code, 403, "taken away where it is asked");
    first.delete("/api/v1/namespaces/default/serviceaccounts/worker").await.unwrap();
    until("the token is dead", async || worker.get(MAPS).await.unwrap().code == 401).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_defined_on_one_is_served_by_the_other_within_a_second() {
    let Some(pair) = pair() else { return };
    let (first, second) = (pair.first.client(), pair.second.client());
    let definition: Value = serde_json::from_str(include_str!("fixtures/gauges.json")).unwrap();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(first.post(path, &definition).await.unwrap().code, 201);
    let begun = Instant::now();
    let gauges = "/apis/rules.example.com/v1/namespaces/default/gauges";
    until("the kind is served", async || second.get(gauges).await.unwrap().code == 200).await;
    eprintln!("served by the other after {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    let discovered = second.get("/apis/rules.example.com/v1").await.unwrap().json();
    assert_eq!(discovered["resources"][0]["kind"], "Gauge");
    let gone = second.delete(&format!("{path}/gauges.rules.example.com")).await.unwrap();
    assert_eq!(gone.code, 200);
    until("the kind is gone", async || first.get(gauges).await.unwrap().code == 404).await;
}

/// Clients make their first object the moment a watch tells them that the kind is established, and the server that
/// they reach then need not be the one that told them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_is_said_to_be_established_is_served_by_both() {
    let Some(pair) = pair() else { return };
    let (first, second) = (pair.first.client(), pair.second.client());
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut watch = first.watch(&format!("{path}?watch=1")).await.unwrap();
    for round in 0..20 {
        let group = format!("round{round}.example.com");
        assert_eq!(first.post(path, &kettles(&group)).await.unwrap().code, 201);
        while !is_established(&watch.next().await.unwrap()["object"], &group) {}
        let kettles = format!("/apis/{group}/v1/kettles");
        for (client, name) in [(&first, "told"), (&second, "other")] {
            let api_version = format!("{group}/v1");
            let kettle = json!({"apiVersion": api_version, "kind": "Kettle", "metadata": {"name": name}});
            let made = client.post(&kettles, &kettle).await.unwrap();
            assert_eq!(made.code, 201, "round {round}, {name}: {}", made.text());
        }
        let discovered = first.get(&format!("/apis/{group}/v1")).await.unwrap();
        assert_eq!(discovered.json()["resources"][0]["kind"], "Kettle", "round {round}");
    }
}

fn kettles(group: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("kettles.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "names": {"plural": "kettles", "kind": "Kettle"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    })
}

fn is_established(definition: &Value, group: &str) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    definition["spec"]["group"] == group
        && conditions.is_some_and(|all| {
            all.iter().any(|condition| condition["type"] == "Established" && condition["status"] == "True")
        })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_is_killed_watches_go_on_at_the_other_and_so_does_the_work() {
    let Some(Pair { second, first, cluster: _cluster, folder: _folder }) = pair() else { return };
    let (going, staying) = (first.client(), second.client());
    let start = newest(&going).await;
    let mut watch = going.watch(&format!("{MAPS}?watch=1&resourceVersion={start}")).await.unwrap();
    for number in 0..10 {
        make(&staying, number).await;
    }
    let mut told = Vec::new();
    for _ in 0..5 {
        told.push(name_and_version(&watch.next().await.unwrap()));
    }
    first.kill();
    while let Some(line) = watch.next().await {
        told.push(name_and_version(&line));
    }
    for number in 10..20 {
        make(&staying, number).await;
    }
    let last = &told.last().unwrap().1;
    let mut watch = staying.watch(&format!("{MAPS}?watch=1&resourceVersion={last}")).await.unwrap();
    while told.len() < 20 {
        told.push(name_and_version(&watch.next().await.unwrap()));
    }
    let names: Vec<String> = (0..20).map(|number| format!("map-{number}")).collect();
    assert_eq!(told.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names, "each once, in order");

    // The first led the controllers and is dead; the other takes over when its lease has run out.
    let namespace = json!({"metadata": {"name": "going"}});
    assert_eq!(staying.post("/api/v1/namespaces", &namespace).await.unwrap().code, 201);
    let inside = json!({"metadata": {"name": "inside"}});
    staying.post("/api/v1/namespaces/going/configmaps", &inside).await.unwrap();
    assert_eq!(staying.delete("/api/v1/namespaces/going").await.unwrap().code, 200);
    let begun = Instant::now();
    until("the namespace is emptied and gone", async || {
        staying.get("/api/v1/namespaces/going").await.unwrap().code == 404
    })
    .await;
    eprintln!("the work went on after {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_hands_its_controllers_over() {
    let Some(Pair { second, first, cluster: _cluster, folder: _folder }) = pair() else { return };
    let (going, staying) = (first.client(), second.client());
    until("the first runs the controllers", async || active(&going).await >= ELECTED).await;
    assert!(active(&staying).await < ELECTED, "one server runs each controller");
    furnish(&going).await;
    until("all sites are ready", async || ready_sites(&staying).await == SITES).await;
    let begun = Instant::now();
    assert!(first.stop().unwrap().success());
    until("the second runs them", async || active(&staying).await >= ELECTED).await;
    let (took, lasts) = (begun.elapsed(), Duration::from_secs(6));
    assert!(took < lasts, "{took:?}: the leases were not given back, they ran out");
    until("the second has looked at every object", async || is_done(&staying).await).await;
    let written = commits(&staying).await;
    assert_eq!(written, 0, "a takeover writes nothing that is already correct");
}

const INVENTORY: &str = "/apis/inventory.miloapis.com/v1alpha1";
const SITES: usize = 12;

async fn furnish(client: &Client) {
    const API_VERSION: &str = "inventory.miloapis.com/v1alpha1";
    let region = json!({"apiVersion": API_VERSION, "kind": "Region", "metadata": {"name": "north"}, "spec": {"displayName": "North"}});
    let made = client.post(&format!("{INVENTORY}/regions"), &region).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    for number in 0..SITES {
        let spec = json!({"displayName": "Site", "type": "Edge", "regionRef": {"name": "north"}});
        let metadata = json!({"name": format!("site-{number}")});
        let site = json!({"apiVersion": API_VERSION, "kind": "Site", "metadata": metadata, "spec": spec});
        let made = client.post(&format!("{INVENTORY}/sites"), &site).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    }
}

async fn ready_sites(client: &Client) -> usize {
    let list = client.get(&format!("{INVENTORY}/sites")).await.unwrap().json();
    let is_ready = |site: &&Value| {
        let mut conditions = site["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    list["items"].as_array().unwrap().iter().filter(is_ready).count()
}

/// Whether the controllers of a server have nothing more to do, and that of the inventory has looked at all objects.
async fn is_done(client: &Client) -> bool {
    let controllers = controllers(client).await;
    let number = |item: &Value, path: &str| item.pointer(path).and_then(Value::as_u64).unwrap();
    let has_seen_all = controllers.iter().any(|item| {
        item["metadata"]["name"] == "inventory-controller"
            && number(item, "/status/attempts/succeeded") as usize > SITES
    });
    has_seen_all
        && controllers
            .iter()
            .all(|item| number(item, "/status/queue/ready") + number(item, "/status/queue/working") == 0)
}

/// How many commits the controllers of a server have made since it started.
async fn commits(client: &Client) -> u64 {
    let controllers = controllers(client).await;
    controllers
        .iter()
        .map(|item| item.pointer("/status/writes/commits").and_then(Value::as_u64).unwrap())
        .sum()
}

async fn controllers(client: &Client) -> Vec<Value> {
    let list = client.get("/apis/groundplane.dev/v1alpha1/controllers").await.unwrap().json();
    list["items"].as_array().unwrap().clone()
}

/// Controllers that run on one server at a time.
const ELECTED: usize = 9;

/// How many controllers work in a server.
async fn active(client: &Client) -> usize {
    let works = |item: &&Value| {
        item["metadata"]["name"] != "definition-controller" && item["status"]["active"] == true
    };
    controllers(client).await.iter().filter(works).count()
}

async fn make(client: &Client, number: usize) {
    let map = json!({"metadata": {"name": format!("map-{number}")}});
    assert_eq!(client.post(MAPS, &map).await.unwrap().code, 201);
}

async fn newest(client: &Client) -> String {
    client.get(MAPS).await.unwrap().json()["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

fn name_and_version(line: &Value) -> (String, String) {
    let metadata = &line["object"]["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
    (text(&metadata["name"]), text(&metadata["resourceVersion"]))
}

async fn until(what: &str, mut happens: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !happens().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "still waiting until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

//! What a controller beside the server needs of transactions: an object with its status, events, preconditions and records of
//! external actions, in one commit.

use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::objects::{self, CONFIG_MAPS, SHELVES, found, make, shelf};
use super::server::Server;
use super::transactions::{TRANSACTIONS, item};

const SPACES: &str = "/api/v1/namespaces";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn config_map(name: &str, owners: &[Value]) -> Value {
    let mut map = objects::config_map(name, owners);
    (map["apiVersion"], map["kind"]) = ("v1".into(), "ConfigMap".into());
    map
}

async fn commit(client: &Client, spec: Value) -> Answer {
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": spec});
    client.post(TRANSACTIONS, &body).await.unwrap()
}

fn target(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": name})
}

fn event(name: &str, occurrence: &str) -> Value {
    json!({"operation": "event", "target": target(name), "event": {
        "type": "Warning", "reason": "Late", "message": "it is late", "reportingController": "clock",
        "occurrence": occurrence,
    }})
}

#[tokio::test]
async fn an_object_and_its_status_are_replaced_as_one_change_with_both_permissions() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s", 100)).await;
    let path = format!("{SHELVES}/s");
    let mut changed = found(&client, &path).await.unwrap();
    changed["spec"]["room"] = "attic".into();
    changed["status"] = json!({"load": 7});
    let mut both = item("update", &changed);
    both["withStatus"] = true.into();
    let answer = commit(&client, json!({"items": [both.clone()]})).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    let now = found(&client, &path).await.unwrap();
    assert_eq!((&now["spec"]["room"], &now["status"]["load"]), (&json!("attic"), &json!(7)));
    assert_eq!(commit(&client, json!({"items": [both]})).await.code, 409, "at the version that was read");

    // Whoever may write the one may not write the other, together or apart.
    let rules = json!([{"apiGroups": ["example.groundplane.dev"], "resources": ["shelves"], "verbs": ["get", "update"]}]);
    let writer = client_with(&server, "pat", rules).await;
    let mut wanted = now.clone();
    wanted["spec"]["room"] = "cellar".into();
    wanted["status"] = json!({"load": 9});
    let mut whole = item("update", &wanted);
    whole["withStatus"] = true.into();
    let mut status = item("update", &wanted);
    status["subresource"] = "status".into();
    for refused in [whole, status] {
        let answer = commit(&writer, json!({"items": [refused]})).await;
        assert_eq!(answer.code, 403, "{}", answer.json());
    }
    assert_eq!(commit(&writer, json!({"items": [item("update", &wanted)]})).await.code, 201);
    let last = found(&client, &path).await.unwrap();
    assert_eq!((&last["spec"]["room"], &last["status"]["load"]), (&json!("cellar"), &json!(7)));
}

#[tokio::test]
async fn events_land_with_the_change_and_are_counted_once_for_each_occurrence() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, CONFIG_MAPS, &config_map("a", &[])).await;
    let mut changed = found(&client, &format!("{CONFIG_MAPS}/a")).await.unwrap();
    changed["data"] = json!({"seen": "yes"});
    let together = json!({"items": [item("update", &changed), event("a", "1")]});
    let answer = commit(&client, together.clone()).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    assert_eq!(commit(&client, together).await.code, 409, "with a change that does not land, no event does");
    let all = |value: Value| value["items"].as_array().unwrap().clone();
    let events = all(client.get(EVENTS).await.unwrap().json());
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["involvedObject"]["name"], "a");
    assert_eq!((&events[0]["reason"], &events[0]["type"]), (&json!("Late"), &json!("Warning")));
    for (occurrence, count) in [("1", Value::Null), ("2", json!(2)), ("2", json!(2)), ("3", json!(3))] {
        let answer = commit(&client, json!({"items": [event("a", occurrence)]})).await;
        assert_eq!(answer.code, 201, "{}", answer.json());
        let events = all(client.get(EVENTS).await.unwrap().json());
        assert_eq!((events.len(), &events[0]["series"]["count"]), (1, &count), "{occurrence}");
    }
    let mut nonsense = event("a", "1");
    nonsense["event"]["reason"] = "not a word".into();
    assert_eq!(commit(&client, json!({"items": [nonsense]})).await.code, 400);
    assert_eq!(commit(&client, json!({"items": [event("nobody", "1")]})).await.code, 404);
    let stranger = client_of(&server, "pat", &[(&["events"], &["create"])]).await;
    assert_eq!(
        commit(&stranger, json!({"items": [event("a", "9")]})).await.code,
        403,
        "it would tell that it exists"
    );
}

#[tokio::test]
async fn what_was_only_read_is_a_precondition() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, CONFIG_MAPS, &config_map("read", &[])).await;
    let read = found(&client, &format!("{CONFIG_MAPS}/read")).await.unwrap();
    let (uid, version) = (&read["metadata"]["uid"], &read["metadata"]["resourceVersion"]);
    let try_with = async |name: &str, precondition: Value| {
        let items = json!([item("create", &config_map(name, &[]))]);
        let answer = commit(&client, json!({"items": items, "preconditions": [precondition]})).await;
        let landed = found(&client, &format!("{CONFIG_MAPS}/{name}")).await.is_some();
        assert_eq!(landed, answer.code == 201, "{}", answer.json());
        answer.code
    };
    let with = |more: Value| {
        let mut precondition = json!({"target": target("read")});
        precondition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        precondition
    };
    assert_eq!(try_with("a", with(json!({"uid": uid, "resourceVersion": version}))).await, 201);
    assert_eq!(try_with("b", with(json!({"resourceVersion": "1"}))).await, 409);
    assert_eq!(try_with("c", with(json!({"uid": "another"}))).await, 409);
    assert_eq!(try_with("d", with(json!({"absent": true}))).await, 409);
    assert_eq!(try_with("e", with(json!({"absent": true, "uid": uid}))).await, 409);
    assert_eq!(try_with("f", with(json!({"absent": true, "uid": "another"}))).await, 201);
    assert_eq!(try_with("g", json!({"target": target("nobody"), "absent": true})).await, 201);
    assert_eq!(try_with("h", json!({"target": target("nobody")})).await, 409);
    let writer = client_of(&server, "pat", &[(&["configmaps"], &["create"])]).await;
    let items = json!([item("create", &config_map("i", &[]))]);
    let blind = json!({"items": items, "preconditions": [{"target": target("read"), "absent": true}]});
    assert_eq!(commit(&writer, blind).await.code, 403, "the outcome would tell whether it exists");
}

#[tokio::test]
async fn what_is_gone_need_not_be_deleted() {
    let server = Server::embedded().await;
    let client = server.client();
    let gone = json!({"operation": "delete", "target": target("gone")});
    assert_eq!(commit(&client, json!({"items": [gone.clone()]})).await.code, 404);
    let mut ignored = gone;
    ignored["ignoreNotFound"] = true.into();
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    let answer = commit(&client, json!({"items": [ignored, item("create", &space)]})).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    assert_eq!(answer.json()["status"]["items"][0]["result"], "unchanged");
    assert!(found(&client, &format!("{SPACES}/n")).await.is_some());
}

#[tokio::test]
async fn external_actions_are_recorded_in_the_commit_by_whoever_may_for_that_controller() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, CONFIG_MAPS, &config_map("machine", &[])).await;
    let record = |controller: &str, operations: Value| {
        json!({"items": [{"operation": "recordOperations", "target": target("machine"), "controller": controller,
            "operations": operations}]})
    };
    let read = async |client: &Client, controller: &str| {
        let path = format!("/apis/groundplane.dev/v1alpha1/controllers/{controller}/operations");
        client.get(&path).await.unwrap()
    };
    let begun = json!({"power-on": {"id": "1", "handle": null, "result": null}});
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
        {"apiGroups": ["groundplane.dev"], "resources": ["controllers/operations"], "verbs": ["get", "update"],
         "resourceNames": ["power"]},
    ]);
    let power = client_with(&server, "power", rules).await;
    let answer = commit(&power, record("power", begun.clone())).await;
    assert_eq!(answer.code, 201, "{}", answer.json());
    let list = read(&power, "power").await;
    assert_eq!(list.code, 200, "{}", list.json());
    let items = list.json()["items"].clone();
    assert_eq!(items[0]["object"], "//configmaps/default/machine");
    assert_eq!(items[0]["operations"], begun);

    assert_eq!(commit(&power, record("power.saving", begun.clone())).await.code, 403);
    assert_eq!(read(&power, "power.saving").await.code, 403);
    assert_eq!(commit(&client, record("power.saving", begun)).await.code, 201);
    assert_eq!(read(&power, "power").await.json()["items"].as_array().unwrap().len(), 1, "its own alone");
    assert_eq!(commit(&power, record("power", json!({}))).await.code, 201);
    assert_eq!(read(&power, "power").await.json()["items"], json!([]));
}

/// A client of a user who may do these things with core resources in the root.
async fn client_of(server: &Server, user: &str, rules: &[(&[&str], &[&str])]) -> Client {
    let rule = |(resources, verbs): &(&[&str], &[&str])| json!({"apiGroups": [""], "resources": resources, "verbs": verbs});
    client_with(server, user, rules.iter().map(rule).collect()).await
}

/// The same with the rules of a ClusterRole.
async fn client_with(server: &Server, user: &str, rules: Value) -> Client {
    const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
    let client = server.client();
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": user}, "rules": rules});
    make(&client, &format!("{RBAC}/clusterroles"), &role).await;
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]});
    make(&client, &format!("{RBAC}/clusterrolebindings"), &binding).await;
    let rule = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": format!("{user}-transacts")},
        "rules": [{"apiGroups": ["groundplane.dev"], "resources": ["transactions"], "verbs": ["create"]}]});
    make(&client, &format!("{RBAC}/clusterroles"), &rule).await;
    let mut transacts = binding;
    transacts["metadata"]["name"] = format!("{user}-transacts").into();
    transacts["roleRef"]["name"] = format!("{user}-transacts").into();
    make(&client, &format!("{RBAC}/clusterrolebindings"), &transacts).await;
    client.with("impersonate-user", user).with("impersonate-group", "system:authenticated")
}

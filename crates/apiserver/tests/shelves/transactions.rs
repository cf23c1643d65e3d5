//! Transactions: many objects, one commit, and everything that is wrong told at once.

use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::objects::{
    BOOKS, CONFIG_MAPS, SHELVES, book, causes, config_map, found, loan, make, names, shelf,
};
use super::server::Server;

pub const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";

pub fn item(operation: &str, object: &Value) -> Value {
    json!({"operation": operation, "object": object})
}

fn target(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "example.groundplane.dev/v1alpha1", "kind": kind, "name": name})
}

async fn commit(client: &Client, query: &str, spec: Value) -> Answer {
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": spec});
    client.post(&format!("{TRANSACTIONS}{query}"), &body).await.unwrap()
}

#[tokio::test]
async fn all_of_it_lands_in_one_commit_in_the_order_that_it_needs() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("old", 100)).await;
    let mut space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "branch"}});
    space["metadata"]["labels"] = json!({"new": "yes"});
    let mut lent = loan("l1", "b1");
    lent["metadata"]["namespace"] = "branch".into();
    let items = json!([
        item("create", &lent),
        item("apply", &book("b1", "s1", 0, 30)),
        item("create", &shelf("s1", 500)),
        item("create", &space),
        {"operation": "patch", "target": target("Shelf", "old"), "patch": {"spec": {"room": "attic"}}},
    ]);
    let answer = commit(&client, "", json!({"items": items, "message": "a new branch"})).await;
    let told = answer.json();
    assert_eq!(answer.code, 201, "{told}");
    assert_eq!(
        told["status"]["summary"],
        json!({"created": 4, "configured": 1, "unchanged": 0, "deleted": 0, "failed": 0})
    );
    let versions: Vec<u64> = told["status"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["resourceVersion"].as_str().unwrap().parse().unwrap())
        .collect();
    let revision: u64 = told["status"]["revision"].as_str().unwrap().parse().unwrap();
    assert!(versions.iter().all(|version| version >> 16 == revision >> 16), "one commit: {versions:?}");
    assert!(
        versions[2] < versions[1] && versions[3] < versions[0] && versions[1] < versions[0],
        "{versions:?}"
    );
    let history = client.get(&format!("{SHELVES}/old/history")).await.unwrap().json();
    assert_eq!(
        (&history["items"][0]["verb"], &history["items"][0]["message"]),
        (&json!("patch"), &json!("a new branch"))
    );
    assert!(
        found(&client, "/apis/example.groundplane.dev/v1alpha1/namespaces/branch/loans/l1").await.is_some()
    );
}

#[tokio::test]
async fn what_is_wrong_is_told_by_item_and_nothing_is_changed() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 100)).await;
    let mut nobodys = book("wrong", "s2", 200, 50);
    nobodys["spec"]["author"] = "".into();
    let items = json!([
        item("create", &shelf("s2", 500)),
        item("create", &book("too-far", "s1", 90, 30)),
        item("create", &book("nowhere", "s9", 0, 30)),
        item("create", &nobodys),
        item("create", &book("first", "s2", 0, 30)),
        item("create", &book("second", "s2", 10, 30)),
        {"operation": "delete", "target": target("Book", "never")},
        {"operation": "create", "object": {"apiVersion": "v1", "kind": "Unheard", "metadata": {"name": "x"}}},
    ]);
    let refused = commit(&client, "", json!({"items": items})).await;
    assert_eq!(refused.code, 422, "{}", refused.text());
    let fields: Vec<String> = causes(&refused).into_iter().map(|(field, _)| field).collect();
    for wanted in [
        "spec.items[1].object.spec.at",
        "spec.items[2].object.spec.shelfRef.name",
        "spec.items[3].object.spec.author",
        "spec.items[4]",
        "spec.items[5]",
        "spec.items[6]",
        "spec.items[7]",
    ] {
        assert!(fields.iter().any(|field| field == wanted), "{wanted} is not among {fields:?}");
    }
    assert!(!fields.iter().any(|field| field.starts_with("spec.items[0]")));
    assert_eq!(names(&client, SHELVES).await, ["s1"]);

    let plan = commit(&client, "?dryRun=All", json!({"items": items})).await;
    let told = plan.json();
    assert_eq!(
        (plan.code, &told["status"]["refused"], &told["status"]["summary"]["failed"]),
        (200, &json!(true), &json!(7))
    );
    assert_eq!(told["status"]["items"][0]["result"], "created");
    assert_eq!(told["status"]["items"][0]["diff"][0]["path"], "spec.width");
    assert_eq!(told["status"]["items"][6]["error"]["code"], 404);
    assert_eq!(names(&client, SHELVES).await, ["s1"], "a plan changes nothing");
}

#[tokio::test]
async fn rules_look_at_where_it_leads() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 100)).await;
    make(&client, BOOKS, &book("left", "s1", 0, 50)).await;
    make(&client, BOOKS, &book("right", "s1", 50, 50)).await;
    let moved = |name: &str, at: u32| json!({"operation": "patch", "target": target("Book", name), "patch": {"spec": {"at": at}}});
    let swapped = commit(&client, "", json!({"items": [moved("left", 50), moved("right", 0)]})).await;
    assert_eq!(swapped.code, 201, "two books change places: {}", swapped.text());
    let gone = json!({"items": [
        {"operation": "delete", "target": target("Shelf", "s1")},
        {"operation": "delete", "target": target("Book", "left")},
        {"operation": "delete", "target": target("Book", "right")},
        item("create", &shelf("s2", 100)),
        item("create", &book("other", "s2", 0, 50)),
    ]});
    let gone = commit(&client, "", gone).await;
    assert_eq!(gone.code, 201, "a shelf goes with what is on it: {}", gone.text());
    assert_eq!(
        (names(&client, SHELVES).await, names(&client, BOOKS).await),
        (vec!["s2".into()], vec!["other".into()])
    );
    let kept =
        commit(&client, "", json!({"items": [{"operation": "delete", "target": target("Shelf", "s2")}]}))
            .await;
    assert_eq!(kept.code, 409, "{}", kept.text());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_as_such() {
    let server = Server::embedded().await;
    let client = server.client();
    let twice = json!([item("create", &shelf("s1", 5)), item("apply", &shelf("s1", 6))]);
    for (spec, code) in [
        (json!({}), 400),
        (json!({"items": []}), 400),
        (json!({"items": [{"operation": "bend", "object": shelf("s1", 5)}]}), 400),
        (json!({"items": [{"operation": "create"}]}), 400),
        (json!({"items": [{"operation": "delete", "target": {"kind": "Shelf", "name": "s1"}}]}), 400),
        (json!({"items": twice}), 400),
        (json!({"items": [], "undo": {}}), 400),
        (json!({"undo": {}}), 400),
        (
            json!({"items": [item("create", &json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {"name": "t"}}))]}),
            405,
        ),
    ] {
        let answer = commit(&client, "", spec.clone()).await;
        assert_eq!(answer.code, code, "{spec}: {}", answer.text());
    }
    assert_eq!(client.get(TRANSACTIONS).await.unwrap().code, 405);
    assert_eq!(client.post(TRANSACTIONS, &json!("text")).await.unwrap().code, 400);
}

#[tokio::test]
async fn each_item_takes_the_right_that_it_would_take_by_itself() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, CONFIG_MAPS, &config_map("a", &[])).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules = json!([
        {"apiGroups": ["groundplane.dev"], "resources": ["transactions"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]},
    ]);
    make(&client, &format!("{rbac}/clusterroles"), &json!({"metadata": {"name": "r"}, "rules": rules})).await;
    let binding = json!({"metadata": {"name": "r"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]});
    make(&client, &format!("{rbac}/clusterrolebindings"), &binding).await;
    let eve = server.client().with("impersonate-user", "eve");
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"k": "v"}});
    let some =
        json!({"items": [item("apply", &map("a")), item("apply", &map("new")), item("delete", &map("a2"))]});
    let refused = commit(&eve, "", some).await;
    assert_eq!(refused.code, 403, "{}", refused.text());
    let fields: Vec<String> = causes(&refused).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["spec.items[1]", "spec.items[2]"], "to apply what is not there is to make it");
    assert_eq!(commit(&eve, "", json!({"items": [item("apply", &map("a"))]})).await.code, 201);
}

#[tokio::test]
async fn a_bad_change_of_many_is_taken_back_as_one() {
    let server = Server::embedded().await;
    let client = server.client();
    let many = 40;
    for number in 0..many {
        make(&client, SHELVES, &shelf(&format!("s{number:02}"), 100 + number)).await;
    }
    let mut items: Vec<Value> = (0..many - 1)
        .map(|number| json!({"operation": "patch", "target": target("Shelf", &format!("s{number:02}")), "patch": {"spec": {"width": 1, "room": "hall"}}}))
        .collect();
    items.push(json!({"operation": "delete", "target": target("Shelf", "s39")}));
    items.push(item("create", &shelf("extra", 7)));
    let bad = commit(&client, "", json!({"items": items})).await.json();
    let revision = bad["status"]["items"][3]["resourceVersion"].clone();
    // Somebody has used the time since for something else.
    client.merge(&format!("{SHELVES}/s05"), &json!({"metadata": {"labels": {"kept": "yes"}}})).await.unwrap();
    let undo = json!({"undo": {"revision": revision}, "message": "wrong row"});
    let plan = commit(&client, "?dryRun=All", undo.clone()).await.json();
    assert_eq!(
        plan["status"]["summary"],
        json!({"created": 1, "configured": 39, "unchanged": 0, "deleted": 1, "failed": 0}),
        "{plan}"
    );
    let undone = commit(&client, "", undo).await;
    assert_eq!(undone.code, 201, "{}", undone.text());
    let list = client.get(SHELVES).await.unwrap().json();
    let widths: Vec<u64> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|shelf| shelf["spec"]["width"].as_u64().unwrap())
        .collect();
    assert_eq!(widths, (0..u64::from(many)).map(|number| 100 + number).collect::<Vec<_>>());
    assert_eq!(found(&client, &format!("{SHELVES}/s05")).await.unwrap()["metadata"]["labels"]["kept"], "yes");

    // What was changed again is in the way, unless it is forced.
    client.merge(&format!("{SHELVES}/s00"), &json!({"spec": {"width": 11}})).await.unwrap();
    let later =
        client.merge(&format!("{SHELVES}/s00"), &json!({"spec": {"width": 12}})).await.unwrap().json();
    client.merge(&format!("{SHELVES}/s00"), &json!({"spec": {"width": 13}})).await.unwrap();
    let undo =
        |force: bool| json!({"undo": {"revision": later["metadata"]["resourceVersion"], "force": force}});
    let refused = commit(&client, "", undo(false)).await;
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert_eq!(commit(&client, "", undo(true)).await.code, 201);
    assert_eq!(found(&client, &format!("{SHELVES}/s00")).await.unwrap()["spec"]["width"], 11);
}

#[tokio::test]
async fn what_one_person_did_since_is_taken_back_alone() {
    let server = Server::embedded().await;
    let client = server.client();
    let (anna, eve) = (
        server.client().with("impersonate-user", "anna").with("impersonate-group", "system:masters"),
        server.client().with("impersonate-user", "eve").with("impersonate-group", "system:masters"),
    );
    for name in ["s1", "s2", "s3"] {
        make(&client, SHELVES, &shelf(name, 100)).await;
    }
    let then = client.get(SHELVES).await.unwrap().json()["metadata"]["resourceVersion"].clone();
    eve.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"width": 1}})).await.unwrap();
    anna.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"room": "hall"}})).await.unwrap();
    anna.merge(&format!("{SHELVES}/s2"), &json!({"spec": {"width": 2}})).await.unwrap();
    eve.delete(&format!("{SHELVES}/s3")).await.unwrap();
    make(&eve, SHELVES, &shelf("s4", 4)).await;
    make(&eve, CONFIG_MAPS, &config_map("kept", &[])).await;
    let undo = json!({"undo": {"after": then, "user": "eve", "resources": [{"group": "example.groundplane.dev", "resource": "shelves"}]}});
    let undone = commit(&client, "", undo).await;
    assert_eq!(undone.code, 201, "{}", undone.text());
    assert_eq!(names(&client, SHELVES).await, ["s1", "s2", "s3"]);
    let s1 = found(&client, &format!("{SHELVES}/s1")).await.unwrap();
    assert_eq!(s1["spec"], json!({"width": 100, "room": "hall"}));
    assert_eq!(found(&client, &format!("{SHELVES}/s2")).await.unwrap()["spec"]["width"], 2);
    assert!(found(&client, &format!("{CONFIG_MAPS}/kept")).await.is_some());
}

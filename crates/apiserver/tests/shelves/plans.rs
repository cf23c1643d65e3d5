//! Plans: what was looked at is what is done, or nothing is.

use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::{BOOKS, SHELVES, book, found, make, names, shelf};
use super::server::Server;
use super::transactions::item;

const PLANS: &str = "/apis/groundplane.dev/v1alpha1/plans";

async fn plan(client: &Client, name: &str, items: Value) -> Value {
    let body = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "Plan", "metadata": {"name": name},
        "spec": {"items": items, "message": "as planned", "force": true},
    });
    make(client, PLANS, &body).await
}

#[tokio::test]
async fn a_plan_is_kept_and_applied_once() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 100)).await;
    let made = plan(
        &client,
        "p",
        json!([item("apply", &shelf("s1", 200)), item("create", &book("b1", "s1", 150, 30))]),
    )
    .await;
    assert_eq!(made["status"]["summary"]["configured"], 1, "{made}");
    assert_eq!(
        made["status"]["items"][0]["diff"],
        json!([{"op": "replace", "path": "spec.width", "before": 100, "after": 200}])
    );
    assert!(names(&client, BOOKS).await.is_empty(), "nothing has happened yet");
    assert_eq!(client.post(&format!("{PLANS}/p/apply?dryRun=All"), &json!({})).await.unwrap().code, 200);
    let applied = client.post(&format!("{PLANS}/p/apply"), &json!({})).await.unwrap();
    assert_eq!(applied.code, 201, "{}", applied.text());
    assert_eq!(
        (
            names(&client, BOOKS).await,
            &found(&client, &format!("{SHELVES}/s1")).await.unwrap()["spec"]["width"]
        ),
        (vec!["b1".into()], &json!(200))
    );
    let again = client.post(&format!("{PLANS}/p/apply"), &json!({})).await.unwrap();
    assert_eq!(again.code, 409);
    assert!(again.text().contains("already applied"), "{}", again.text());
    let history = client.get(&format!("{SHELVES}/s1/history")).await.unwrap().json();
    assert_eq!(history["items"][0]["message"], "as planned");
    let changed = client.merge(&format!("{PLANS}/p"), &json!({"spec": {"items": []}})).await.unwrap();
    assert_eq!(changed.code, 405, "a plan can't be changed");
}

#[tokio::test]
async fn a_plan_that_went_stale_is_refused() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 100)).await;
    plan(&client, "object", json!([item("apply", &shelf("s1", 200))])).await;
    plan(&client, "neighbour", json!([item("create", &book("b1", "s1", 0, 30))])).await;
    make(&client, BOOKS, &book("b2", "s1", 50, 30)).await;
    let stale = client.post(&format!("{PLANS}/neighbour/apply"), &json!({})).await.unwrap();
    assert_eq!(stale.code, 409, "a rule has looked at the books on the shelf: {}", stale.text());
    assert_eq!(stale.json()["details"]["causes"][0]["reason"], "Stale");
    client.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"room": "hall"}})).await.unwrap();
    let stale = client.post(&format!("{PLANS}/object/apply"), &json!({})).await.unwrap();
    assert_eq!(stale.code, 409);
    assert!(
        stale.text().contains("the plan is stale")
            && stale.text().contains("shelves.example.groundplane.dev s1"),
        "{}",
        stale.text()
    );
    assert_eq!(found(&client, &format!("{SHELVES}/s1")).await.unwrap()["spec"]["width"], 100);
}

#[tokio::test]
async fn a_plan_that_breaks_rules_tells_them_and_can_not_be_applied() {
    let server = Server::embedded().await;
    let client = server.client();
    let made = plan(
        &client,
        "p",
        json!([item("create", &book("b1", "s9", 0, 30)), item("create", &shelf("s1", 10))]),
    )
    .await;
    assert_eq!(
        (&made["status"]["refused"], &made["status"]["items"][0]["error"]["code"]),
        (&json!(true), &json!(422))
    );
    let refused = client.post(&format!("{PLANS}/p/apply"), &json!({})).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert!(names(&client, SHELVES).await.is_empty());
    assert_eq!(client.post(&format!("{PLANS}/never/apply"), &json!({})).await.unwrap().code, 404);
}

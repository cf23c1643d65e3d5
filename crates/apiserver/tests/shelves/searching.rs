//! Search: found by what people have in hand, and only by those who may see it.

use serde_json::{Value, json};
use testbed::server::Client;

use super::objects::{BOOKS, CONFIG_MAPS, SHELVES, book, config_map, make, shelf};
use super::server::Server;

async fn found(client: &Client, query: &str) -> Vec<String> {
    let answer = client.get(&format!("/apis/groundplane.dev/v1alpha1/search?q={query}")).await.unwrap();
    assert_eq!(answer.code, 200, "{query}: {}", answer.text());
    let list = answer.json();
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| format!("{} {}", text(item, "resource"), text(item, "name"))).collect()
}

#[tokio::test]
async fn names_labels_and_fields_are_found_in_one_search() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("boye", 500)).await;
    make(&client, SHELVES, &shelf("boye-2", 500)).await;
    make(&client, BOOKS, &book("kallocain", "boye", 0, 30)).await;
    let mut map = config_map("first", &[]);
    map["metadata"]["labels"] = json!({"row": "Boye-Row"});
    make(&client, CONFIG_MAPS, &map).await;
    make(&client, CONFIG_MAPS, &config_map("other", &[])).await;
    assert_eq!(
        found(&client, "BOYE").await,
        ["shelves boye", "shelves boye-2", "configmaps first", "books kallocain"],
        "an exact name first, then names that begin so"
    );
    assert_eq!(found(&client, "boye%20kallo").await, ["books kallocain"]);
    assert_eq!(found(&client, "row%3Dboye").await, ["configmaps first"]);
    assert_eq!(found(&client, "2").await, ["shelves boye-2"]);
    assert_eq!(found(&client, "boye&resource=books.example.groundplane.dev").await, ["books kallocain"]);
    assert_eq!(found(&client, "boye&namespace=default").await, ["configmaps first"]);
    assert!(found(&client, "oye").await.is_empty());
    let one = client.get("/apis/groundplane.dev/v1alpha1/search?q=kallo").await.unwrap().json();
    assert_eq!(one["items"][0]["matches"], json!([{"field": "metadata.name", "value": "kallocain"}]));
    client.delete(&format!("{BOOKS}/kallocain")).await.unwrap();
    assert!(found(&client, "kallocain").await.is_empty());
    let few = client.get("/apis/groundplane.dev/v1alpha1/search?q=boye&limit=1").await.unwrap().json();
    assert_eq!((few["items"].as_array().unwrap().len(), &few["truncated"]), (1, &json!(true)));
    for bad in ["", "%20", "x&limit=-1"] {
        assert_eq!(
            client.get(&format!("/apis/groundplane.dev/v1alpha1/search?q={bad}")).await.unwrap().code,
            400
        );
    }
}

#[tokio::test]
async fn nobody_finds_what_they_may_not_see() {
    let server = Server::embedded().await;
    let client = server.client();
    for name in ["mine", "theirs"] {
        make(&client, CONFIG_MAPS, &config_map(&format!("secret-plan-{name}"), &[])).await;
    }
    let secret = json!({"metadata": {"name": "secret-plan"}, "stringData": {"word": "xyzzy"}});
    make(&client, "/api/v1/namespaces/default/secrets", &secret).await;
    assert!(found(&client, "xyzzy").await.is_empty(), "secrets are found by their names alone");
    assert_eq!(found(&client, "secret-plan").await.len(), 3);
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let everyone = json!([{"apiGroups": ["groundplane.dev"], "resources": ["search"], "verbs": ["list"]}]);
    make(&client, &format!("{rbac}/clusterroles"), &json!({"metadata": {"name": "s"}, "rules": everyone}))
        .await;
    let subjects = json!([{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}]);
    let role =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    make(
        &client,
        &format!("{rbac}/clusterrolebindings"),
        &json!({"metadata": {"name": "s"}, "roleRef": role("ClusterRole", "s"), "subjects": subjects}),
    )
    .await;
    let eve = server.client().with("impersonate-user", "eve");
    assert!(found(&eve, "secret").await.is_empty());
    let one = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["secret-plan-mine"], "verbs": ["get"]}]);
    let here = format!("{rbac}/namespaces/default");
    make(&client, &format!("{here}/roles"), &json!({"metadata": {"name": "one"}, "rules": one})).await;
    make(
        &client,
        &format!("{here}/rolebindings"),
        &json!({"metadata": {"name": "one"}, "roleRef": role("Role", "one"), "subjects": subjects}),
    )
    .await;
    assert_eq!(found(&eve, "secret").await, ["configmaps secret-plan-mine"]);
}

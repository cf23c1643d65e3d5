//! The past: who changed what, how things were, and how they come back.

use serde_json::{Value, json};

use super::objects::{
    BOOKS, CONFIG_MAPS, SHELVES, as_owner, book, config_map, finalizers, found, make, names, shelf,
};
use super::server::Server;

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn history_tells_who_changed_what_and_why() {
    let server = Server::embedded().await;
    let client = server.client();
    let made = make(&client, SHELVES, &shelf("s1", 900)).await;
    let because = client.apart().with("groundplane-change-message", "room for the atlas: 1%25 more");
    let path = format!("{SHELVES}/s1");
    let wider =
        because.merge(&format!("{path}?fieldManager=anna"), &json!({"spec": {"width": 1200}})).await.unwrap();
    client.merge(&format!("{path}/status"), &json!({"status": {"load": 7}})).await.unwrap();
    let history = client.get(&format!("{path}/history?diff=true")).await.unwrap().json();
    let items = history["items"].as_array().unwrap();
    assert_eq!(items.len(), 3, "{history}");
    assert_eq!((&items[0]["statusOnly"], &items[0]["changed"]), (&json!(true), &json!(["status.load"])));
    assert_eq!(items[1]["revision"], version(&wider.json()));
    assert_eq!(
        (&items[1]["user"], &items[1]["manager"], &items[1]["verb"], &items[1]["message"]),
        (&json!("system:admin"), &json!("anna"), &json!("patch"), &json!("room for the atlas: 1% more"))
    );
    assert_eq!(
        items[1]["diff"],
        json!([{"op": "replace", "path": "spec.width", "before": 900, "after": 1200}])
    );
    assert_eq!((&items[2]["verb"], &items[2]["revision"]), (&json!("create"), &json!(version(&made))));
    assert_eq!(items[2]["uid"], made["metadata"]["uid"]);

    let pages = |token: String| {
        let (client, path) = (client.clone(), path.clone());
        async move { client.get(&format!("{path}/history?limit=2&continue={token}")).await.unwrap().json() }
    };
    let first = pages(String::new()).await;
    let second = pages(first["metadata"]["continue"].as_str().unwrap().to_owned()).await;
    assert_eq!(
        (first["items"].as_array().unwrap().len(), &second["items"][0]["verb"]),
        (2, &json!("create"))
    );
    assert!(second["metadata"]["continue"].is_null());

    let one = client.get(&format!("{path}/history?revision={}", version(&made))).await.unwrap().json();
    assert_eq!((&one["kind"], &one["object"]["spec"]["width"]), (&json!("Revision"), &json!(900)));
    assert_eq!(client.get(&format!("{path}/history?revision=1")).await.unwrap().code, 404);
    assert_eq!(client.get(&format!("{path}/history?limit=x")).await.unwrap().code, 400);
    assert_eq!(client.get(&format!("{SHELVES}/never/history")).await.unwrap().code, 404);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l/history";
    assert_eq!(client.get(lease).await.unwrap().code, 405);

    let table = client.apart().with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = table.get(&format!("{path}/history")).await.unwrap().json();
    assert_eq!(table["columnDefinitions"][5]["name"], "Changed");
    assert_eq!(table["rows"][1]["cells"][5], "spec.width");
}

#[tokio::test]
async fn a_message_that_is_too_long_or_no_text_is_refused() {
    let server = Server::embedded().await;
    let long = server.client().with("groundplane-change-message", &"x".repeat(1025));
    assert_eq!(long.post(SHELVES, &shelf("s1", 900)).await.unwrap().code, 400);
}

#[tokio::test]
async fn get_and_list_as_of_show_what_was() {
    let server = Server::embedded().await;
    let client = server.client();
    let first = make(&client, SHELVES, &shelf("s1", 100)).await;
    for name in ["s2", "s3"] {
        let mut hall = shelf(name, 100);
        hall["spec"]["room"] = "hall".into();
        hall["metadata"]["labels"] = json!({"a": "b"});
        make(&client, SHELVES, &hall).await;
    }
    let then = version(&client.get(SHELVES).await.unwrap().json());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let time = server.api.now().to_micros();
    client
        .merge(&format!("{SHELVES}/s2"), &json!({"spec": {"room": "attic"}, "metadata": {"labels": null}}))
        .await
        .unwrap();
    client.delete(&format!("{SHELVES}/s3")).await.unwrap();
    make(&client, SHELVES, &shelf("s4", 100)).await;
    for point in [&then, &time] {
        let at = |query: &str| format!("{SHELVES}?asOf={point}&{query}");
        assert_eq!(names(&client, &at("")).await, ["s1", "s2", "s3"], "{point}");
        assert_eq!(names(&client, &at("fieldSelector=spec.room%3Dhall")).await, ["s2", "s3"]);
        assert_eq!(names(&client, &at("labelSelector=a%3Db")).await, ["s2", "s3"]);
        let page = client.get(&at("limit=2")).await.unwrap().json();
        assert_eq!(page["metadata"]["remainingItemCount"], 1);
        let token = page["metadata"]["continue"].as_str().unwrap();
        assert_eq!(names(&client, &at(&format!("limit=2&continue={token}"))).await, ["s3"]);
        let s3 = client.get(&format!("{SHELVES}/s3?asOf={point}")).await.unwrap();
        assert_eq!((s3.code, &s3.json()["spec"]["room"]), (200, &json!("hall")));
        assert_eq!(client.get(&format!("{SHELVES}/s4?asOf={point}")).await.unwrap().code, 404);
    }
    let earlier = version(&first);
    assert_eq!(names(&client, &format!("{SHELVES}?asOf={earlier}")).await, ["s1"]);
    for (query, code) in [
        ("asOf=2199-01-01T00:00:00Z", 400),
        ("asOf=99999999999999", 400),
        ("asOf=tuesday", 400),
        ("asOf=", 400),
        (&format!("asOf={then}&watch=1"), 400),
        (&format!("asOf={then}&resourceVersion=5"), 400),
    ] {
        let answer = client.get(&format!("{SHELVES}?{query}")).await.unwrap();
        assert_eq!(answer.code, code, "{query}: {}", answer.text());
    }
    let none = format!("/apis/coordination.k8s.io/v1/leases?asOf={then}");
    assert_eq!(client.get(&none).await.unwrap().code, 405);
}

#[tokio::test]
async fn undo_writes_what_was_and_returns_fields_to_their_owners() {
    let server = Server::embedded().await;
    let client = server.client();
    let path = format!("{SHELVES}/s1");
    let mut wanted = shelf("s1", 900);
    wanted["spec"]["room"] = "hall".into();
    client.apply(&format!("{path}?fieldManager=design"), &wanted).await.unwrap();
    client
        .merge(
            &format!("{path}?fieldManager=anna"),
            &json!({"spec": {"width": 1200}, "metadata": {"labels": {"a": "b"}}}),
        )
        .await
        .unwrap();
    client.merge(&format!("{path}/status"), &json!({"status": {"load": 7}})).await.unwrap();
    let rehearsed = client.post(&format!("{path}/undo?dryRun=All"), &json!({})).await.unwrap();
    assert_eq!((rehearsed.code, &rehearsed.json()["spec"]["width"]), (200, &json!(900)));
    let undone = client
        .post(&format!("{path}/undo?fieldManager=undoer"), &json!({"message": "too wide"}))
        .await
        .unwrap();
    let object = undone.json();
    assert_eq!((undone.code, &object["spec"]), (200, &json!({"width": 900, "room": "hall"})), "{object}");
    assert!(object["metadata"]["labels"].is_null());
    assert_eq!(object["status"]["load"], 7, "reports stay");
    let managers = object["metadata"]["managedFields"].as_array().unwrap();
    let of = |name: &str| {
        managers.iter().find(|entry| entry["manager"] == name).map(|entry| entry["fieldsV1"].clone())
    };
    assert_eq!(of("design").unwrap(), json!({"f:spec": {"f:room": {}, "f:width": {}}}), "{managers:?}");
    assert!(of("undoer").is_none() && of("anna").is_none(), "{managers:?}");
    let history = client.get(&format!("{path}/history")).await.unwrap().json();
    assert_eq!(
        (&history["items"][0]["verb"], &history["items"][0]["message"]),
        (&json!("undo"), &json!("too wide"))
    );

    // Undoing the undo is a redo; a step too far is told.
    let redone = client.post(&format!("{path}/undo"), &json!({"steps": 1})).await.unwrap().json();
    assert_eq!(redone["spec"]["width"], 1200);
    let far = client.post(&format!("{path}/undo"), &json!({"steps": 9})).await.unwrap();
    assert_eq!(far.code, 400, "{}", far.text());
    let to = history["items"].as_array().unwrap().last().unwrap()["revision"].clone();
    let back = client.post(&format!("{path}/undo"), &json!({"toRevision": to})).await.unwrap().json();
    assert_eq!(back["spec"]["width"], 900);
    for bad in [
        json!({"steps": 0}),
        json!({"steps": 1, "toRevision": "5"}),
        json!({"toRevision": 5}),
        json!({"kind": "Shelf"}),
    ] {
        assert_eq!(client.post(&format!("{path}/undo"), &bad).await.unwrap().code, 400, "{bad}");
    }
    let stale = client.post(&format!("{path}/undo"), &json!({"resourceVersion": "1"})).await.unwrap();
    assert_eq!(stale.code, 409);
}

#[tokio::test]
async fn undo_keeps_the_rules() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 100)).await;
    client.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"width": 500}})).await.unwrap();
    make(&client, BOOKS, &book("b1", "s1", 300, 30)).await;
    let refused = client.post(&format!("{SHELVES}/s1/undo"), &json!({})).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    assert!(refused.text().contains("where Book b1 ends"));
}

#[tokio::test]
async fn a_deleted_object_comes_back_without_what_is_dead() {
    let server = Server::embedded().await;
    let client = server.client();
    let alive = make(&client, SHELVES, &shelf("alive", 100)).await;
    let dead = make(&client, SHELVES, &shelf("dead", 100)).await;
    let mut map = config_map("a", &[as_owner(&alive, false), as_owner(&dead, false)]);
    map["data"] = json!({"k": "v"});
    map["metadata"]["labels"] = json!({"l": "m"});
    let made = make(&client, CONFIG_MAPS, &map).await;
    let path = format!("{CONFIG_MAPS}/a");
    assert_eq!(client.post(&format!("{path}/restore"), &json!({})).await.unwrap().code, 409, "it is there");
    finalizers(&client, &path, &["example.com/f"]).await;
    client.delete(&path).await.unwrap();
    finalizers(&client, &path, &[]).await;
    assert_eq!(found(&client, &path).await, None);
    client.delete(&format!("{SHELVES}/dead")).await.unwrap();
    let answer =
        client.post(&format!("{path}/restore"), &json!({"message": "I still need it"})).await.unwrap();
    let back = answer.json();
    assert_eq!(
        (answer.code, &back["data"]["k"], &back["metadata"]["labels"]["l"]),
        (201, &json!("v"), &json!("m")),
        "{back}"
    );
    assert_ne!(back["metadata"]["uid"], made["metadata"]["uid"]);
    assert!(back["metadata"]["finalizers"].is_null() && back["metadata"]["deletionTimestamp"].is_null());
    let owners = back["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(owners.iter().map(|owner| &owner["name"]).collect::<Vec<_>>(), ["alive"]);
    let history = client.get(&format!("{path}/history")).await.unwrap().json();
    let verbs: Vec<&Value> = history["items"].as_array().unwrap().iter().map(|item| &item["verb"]).collect();
    assert_eq!(verbs[0], "restore");
    assert!(history["items"].as_array().unwrap().iter().any(|item| item["deleted"] == true), "{history}");
    assert_eq!(client.post(&format!("{CONFIG_MAPS}/never/restore"), &json!({})).await.unwrap().code, 404);
}

#[tokio::test]
async fn what_was_secret_stays_so_in_history() {
    let server = Server::embedded().await;
    let client = server.client();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "correct horse"}});
    let made = make(&client, secrets, &secret).await;
    client
        .merge(&format!("{secrets}/s"), &json!({"stringData": {"password": "battery staple"}}))
        .await
        .unwrap();
    let hidden = ["correct", "battery", "Y29ycmVjdCBob3JzZQ", "YmF0dGVyeSBzdGFwbGU"];
    let revision = version(&made);
    for query in ["diff=true".to_owned(), format!("revision={revision}")] {
        let told = client.get(&format!("{secrets}/s/history?{query}")).await.unwrap().text();
        assert!(told.contains("data.password") && told.contains("(redacted)"), "{told}");
        assert!(hidden.iter().all(|word| !told.contains(word)), "{told}");
    }
    let undone = client.post(&format!("{secrets}/s/undo"), &json!({})).await.unwrap().json();
    assert_eq!(undone["data"]["password"], made["data"]["password"]);
}

#[tokio::test]
async fn reading_the_past_takes_the_rights_of_today() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, CONFIG_MAPS, &config_map("a", &[])).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let grant = |name: &str, rules: Value| {
        let (client, name) = (client.clone(), name.to_owned());
        async move {
            make(&client, &format!("{rbac}/roles"), &json!({"metadata": {"name": name}, "rules": rules}))
                .await;
            let binding = json!({"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
                "subjects": [{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}]});
            make(&client, &format!("{rbac}/rolebindings"), &binding).await;
        }
    };
    let rule =
        |resources: Value, verbs: Value| json!({"apiGroups": [""], "resources": resources, "verbs": verbs});
    grant("past", json!([rule(json!(["configmaps/history", "configmaps/undo"]), json!(["get", "create"]))]))
        .await;
    grant("both", json!([rule(json!(["configmaps/history", "configmaps"]), json!(["get"]))])).await;
    let as_user = |name: &str| server.client().with("impersonate-user", name);
    let history = format!("{CONFIG_MAPS}/a/history");
    assert_eq!(
        as_user("past").get(&history).await.unwrap().code,
        403,
        "the object itself is not theirs to read"
    );
    assert_eq!(as_user("past").post(&format!("{CONFIG_MAPS}/a/undo"), &json!({})).await.unwrap().code, 403);
    assert_eq!(as_user("both").get(&history).await.unwrap().code, 200);
    assert_eq!(as_user("both").get(&format!("{CONFIG_MAPS}?asOf=1")).await.unwrap().code, 403);
}

//! References: their targets are there, they don't change where they may not, and what is referred to stays.

use serde_json::json;

use super::objects::{BOOKS, LOANS, SHELVES, book, causes, finalizers, found, loan, make, shelf};
use super::server::Server;

#[tokio::test]
async fn a_book_needs_a_shelf_that_is_there_and_the_field_is_named() {
    let server = Server::embedded().await;
    let client = server.client();
    let answer = client.post(BOOKS, &book("b1", "nowhere", 0, 30)).await.unwrap();
    assert_eq!(answer.code, 422, "{}", answer.text());
    assert_eq!(causes(&answer), [("spec.shelfRef.name".to_owned(), "Not found: \"nowhere\"".to_owned())]);
    assert_eq!(found(&client, &format!("{BOOKS}/b1")).await, None);
}

#[tokio::test]
async fn a_book_stays_on_its_shelf() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    make(&client, SHELVES, &shelf("s2", 1000)).await;
    make(&client, BOOKS, &book("b1", "s1", 0, 30)).await;
    let path = format!("{BOOKS}/b1");
    let answer = client.merge(&path, &json!({"spec": {"shelfRef": {"name": "s2"}}})).await.unwrap();
    assert_eq!(answer.code, 422, "{}", answer.text());
    let expected = ("spec.shelfRef.name".to_owned(), "Invalid value: \"s2\": field is immutable".to_owned());
    assert_eq!(causes(&answer), [expected]);
    let answer = client.merge(&path, &json!({"spec": {"at": 500}})).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_shelf_with_books_stays_until_they_are_gone() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    for (name, at) in [("b1", 0), ("b2", 100)] {
        make(&client, BOOKS, &book(name, "s1", at, 30)).await;
    }
    let path = format!("{SHELVES}/s1");
    let refused = client.delete(&path).await.unwrap();
    assert_eq!(refused.code, 409, "{}", refused.text());
    assert_eq!(
        refused.json()["message"],
        "Operation cannot be fulfilled on shelves.example.groundplane.dev \"s1\": still referenced by \
         Book b1 (spec.shelfRef.name), Book b2 (spec.shelfRef.name); change or delete those first"
    );
    let field = "spec.shelfRef.name".to_owned();
    let expected = ["b1", "b2"].map(|name| (field.clone(), format!("Book {name} (spec.shelfRef.name)")));
    assert_eq!(causes(&refused), expected);

    for name in ["b1", "b2"] {
        assert_eq!(client.delete(&format!("{BOOKS}/{name}")).await.unwrap().code, 200);
    }
    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    assert_eq!(found(&client, &path).await, None);
}

#[tokio::test]
async fn whoever_refers_is_listed_with_the_field_and_whether_it_blocks() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    make(&client, BOOKS, &book("b1", "s1", 0, 30)).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    let referrers = client.get(&format!("{SHELVES}/s1/referrers")).await.unwrap().json();
    let version = "example.groundplane.dev/v1alpha1";
    assert_eq!(
        referrers["items"],
        json!([{
            "apiVersion": version, "kind": "Book", "namespace": "", "name": "b1",
            "fieldPath": "spec.shelfRef.name", "blocksDeletion": true,
        }])
    );
    let referrers = client.get(&format!("{BOOKS}/b1/referrers")).await.unwrap().json();
    assert_eq!(
        referrers["items"],
        json!([{
            "apiVersion": version, "kind": "Loan", "namespace": "default", "name": "l1",
            "fieldPath": "spec.bookRefs[0].name", "blocksDeletion": false,
        }])
    );
    assert_eq!(client.get(&format!("{SHELVES}/s9/referrers")).await.unwrap().code, 404);
}

#[tokio::test]
async fn a_loan_may_name_a_book_that_is_lost_and_keeps_none() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, LOANS, &loan("early", "to-be-bought")).await;
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    make(&client, BOOKS, &book("b1", "s1", 0, 30)).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    assert_eq!(client.delete(&format!("{BOOKS}/b1")).await.unwrap().code, 200);
    assert!(found(&client, &format!("{LOANS}/l1")).await.is_some());
}

#[tokio::test]
async fn nothing_new_is_put_on_a_shelf_that_waits_to_go() {
    let server = Server::embedded().await;
    let client = server.client();
    let path = format!("{SHELVES}/s1");
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    assert_eq!(finalizers(&client, &path, &["example.groundplane.dev/unscrew"]).await.code, 200);
    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    assert!(
        found(&client, &path).await.is_some_and(|shelf| shelf["metadata"]["deletionTimestamp"].is_string())
    );

    let refused = client.post(BOOKS, &book("b1", "s1", 0, 30)).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    let why = "Invalid value: \"s1\": is being deleted and cannot be referenced".to_owned();
    assert_eq!(causes(&refused), [("spec.shelfRef.name".to_owned(), why)]);
    assert_eq!(finalizers(&client, &path, &[]).await.code, 200);
    assert_eq!(found(&client, &path).await, None);
}

#[tokio::test]
async fn who_refers_to_a_namespace_can_be_asked_for() {
    let server = Server::embedded().await;
    let referrers = server.client().get("/api/v1/namespaces/default/referrers").await.unwrap();
    assert_eq!(referrers.code, 200, "{}", referrers.text());
    assert_eq!(referrers.json()["kind"], "ReferrerList");
}

#[tokio::test]
async fn a_rule_names_only_what_the_writer_may_see() {
    let server = Server::embedded().await;
    let admin = server.client();
    make(&admin, SHELVES, &shelf("s1", 10)).await;
    make(&admin, BOOKS, &book("secret-diary", "s1", 0, 4)).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let role = json!({"metadata": {"name": "donor"}, "rules": [
        {"apiGroups": ["example.groundplane.dev"], "resources": ["books"], "verbs": ["create"]},
        {"apiGroups": ["example.groundplane.dev"], "resources": ["shelves"], "verbs": ["get"]}]});
    make(&admin, &format!("{rbac}/clusterroles"), &role).await;
    let binding = json!({"metadata": {"name": "donor"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "donor"},
        "subjects": [{"kind": "User", "name": "donor", "apiGroup": "rbac.authorization.k8s.io"}]});
    make(&admin, &format!("{rbac}/clusterrolebindings"), &binding).await;
    let donor =
        server.client().with("impersonate-user", "donor").with("impersonate-group", "system:authenticated");
    let seen = admin.post(BOOKS, &book("gift", "s1", 2, 4)).await.unwrap();
    assert!(seen.text().contains("Book secret-diary stands there"), "{}", seen.text());
    let hidden = donor.post(BOOKS, &book("gift", "s1", 2, 4)).await.unwrap();
    assert_eq!(hidden.code, 409, "{}", hidden.text());
    assert!(!hidden.text().contains("secret-diary") && !hidden.text().contains("to 4"), "{}", hidden.text());
    assert!(hidden.text().contains("an object that you are not allowed to see"), "{}", hidden.text());
    // Of a shelf that may be seen it is told as to anybody.
    let wide = donor.post(BOOKS, &book("gift", "s1", 8, 4)).await.unwrap();
    assert!(wide.text().contains("and Shelf s1 at 10"), "{}", wide.text());
    make(&donor, BOOKS, &book("gift", "s1", 4, 4)).await;
}

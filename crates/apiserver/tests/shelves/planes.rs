//! Planes: what a project has is its own, and its rules look at nothing else.

use serde_json::{Value, json};

use super::objects::{BOOKS, LOANS, SHELVES, book, found, loan, make, names, shelf};
use super::server::{Server, until};

const PROJECT: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/p1/control-plane";
const OTHER: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/p2/control-plane";

#[tokio::test]
async fn the_same_name_is_another_object_in_another_plane() {
    let server = Server::embedded().await;
    let client = server.client();
    for (plane, width) in [("", 1000), (PROJECT, 500), (OTHER, 700)] {
        make(&client, &format!("{plane}{SHELVES}"), &shelf("s1", width)).await;
    }
    for (plane, width) in [("", 1000), (PROJECT, 500), (OTHER, 700)] {
        let found = found(&client, &format!("{plane}{SHELVES}/s1")).await.unwrap();
        assert_eq!(found["spec"]["width"], width, "in {plane:?}");
    }
    assert_eq!(client.delete(&format!("{PROJECT}{SHELVES}/s1")).await.unwrap().code, 200);
    assert_eq!(found(&client, &format!("{PROJECT}{SHELVES}/s1")).await, None);
    assert!(found(&client, &format!("{SHELVES}/s1")).await.is_some());
}

#[tokio::test]
async fn references_buckets_and_selectors_end_at_the_plane() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    let books = format!("{PROJECT}{BOOKS}");
    let refused = client.post(&books, &book("b1", "s1", 0, 30)).await.unwrap();
    assert_eq!(refused.code, 422, "a shelf of the root is none of the project's: {}", refused.text());
    make(&client, &format!("{PROJECT}{SHELVES}"), &shelf("s1", 200)).await;
    make(&client, &books, &book("b1", "s1", 0, 30)).await;
    make(&client, BOOKS, &book("other", "s1", 0, 30)).await;
    assert_eq!(names(&client, &format!("{books}?fieldSelector=spec.author=Boye")).await, ["b1"]);
    let referrers = client.get(&format!("{PROJECT}{SHELVES}/s1/referrers")).await.unwrap().json();
    let referring: Vec<&Value> =
        referrers["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(referring, [&json!("b1")]);
    assert_eq!(client.delete(&format!("{BOOKS}/other")).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{SHELVES}/s1")).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{PROJECT}{SHELVES}/s1")).await.unwrap().code, 409);
}

#[tokio::test]
async fn a_project_has_namespaces_of_its_own_and_they_are_emptied_there() {
    let server = Server::embedded().await;
    let client = server.client();
    let loans = format!("{PROJECT}/apis/example.groundplane.dev/v1alpha1/namespaces/branch/loans");
    let missing = client.post(&loans, &loan("l1", "b1")).await.unwrap();
    assert_eq!(missing.code, 404, "{}", missing.text());
    for plane in ["", PROJECT] {
        let namespaces = format!("{plane}/api/v1/namespaces");
        make(&client, &namespaces, &json!({"metadata": {"name": "branch"}})).await;
    }
    make(&client, &loans, &loan("l1", "b1")).await;
    make(&client, &loans.replacen(PROJECT, "", 1), &loan("l1", "b1")).await;
    make(&client, LOANS, &loan("l1", "b1")).await;
    let branch = format!("{PROJECT}/api/v1/namespaces/branch");
    assert_eq!(client.delete(&branch).await.unwrap().code, 200);
    until("the project's namespace is gone", || async { found(&client, &branch).await.is_none() }).await;
    assert!(names(&client, &loans).await.is_empty());
    assert_eq!(names(&client, &loans.replacen(PROJECT, "", 1)).await, ["l1"], "the root's is another");
}

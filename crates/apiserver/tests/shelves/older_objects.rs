//! Objects that were written when other rules held: they can be put right and taken away, and keep what they refer to.

use apiserver::encode;
use apiserver::keys;
use apiserver::plane::Plane;
use krm::Object;
use krm::kind::Address;
use serde_json::{Value, json};
use store::{Author, Put, Transaction};

use super::objects::{BOOKS, SHELVES, book, finalizers, found, make, shelf};
use super::server::Server;

#[tokio::test]
async fn an_object_that_its_type_cannot_read_any_more_can_be_put_right() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    let mut old = book("b1", "s1", 0, 30);
    old["spec"]["at"] = "left".into();
    store(&server, "books", &old).await;
    let path = format!("{BOOKS}/b1");

    let still_wrong = client.merge(&path, &json!({"spec": {"author": "Ekelöf"}})).await.unwrap();
    assert_eq!(still_wrong.code, 422, "{}", still_wrong.text());
    let mended = client.merge(&path, &json!({"spec": {"at": 10}})).await.unwrap();
    assert_eq!(mended.code, 200, "{}", mended.text());
    assert_eq!(mended.json()["spec"]["at"], 10);
}

#[tokio::test]
async fn an_object_that_its_type_cannot_read_any_more_can_be_deleted() {
    let server = Server::embedded().await;
    let client = server.client();
    let mut old = book("b1", "gone-long-ago", 0, 30);
    old["spec"]["thickness"] = json!({"mm": 30});
    store(&server, "books", &old).await;
    let path = format!("{BOOKS}/b1");
    let deleted = client.delete(&path).await.unwrap();
    assert_eq!(deleted.code, 200, "{}", deleted.text());
    assert_eq!(found(&client, &path).await, None);
}

#[tokio::test]
async fn the_last_finalizer_stays_while_somebody_refers_and_they_are_named() {
    let server = Server::embedded().await;
    let client = server.client();
    let path = format!("{SHELVES}/s1");
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    assert_eq!(finalizers(&client, &path, &["example.groundplane.dev/unscrew"]).await.code, 200);
    assert_eq!(client.delete(&path).await.unwrap().code, 200);
    // From a time when such a book was let onto it.
    store(&server, "books", &book("b1", "s1", 0, 30)).await;

    let refused = finalizers(&client, &path, &[]).await;
    assert_eq!(refused.code, 409, "{}", refused.text());
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("still referenced by Book b1 (spec.shelfRef.name)"), "{message}");
    assert_eq!(client.delete(&format!("{BOOKS}/b1")).await.unwrap().code, 200);
    assert_eq!(finalizers(&client, &path, &[]).await.code, 200);
    assert_eq!(found(&client, &path).await, None);
}

/// Puts an object into the store past all rules.
pub async fn store(server: &Server, plural: &str, object: &Value) {
    let mut object = Object::from_value(object.clone()).unwrap();
    let uid = apiserver::write::new_uid();
    object.set_meta("uid", Some(uid.as_str().into()));
    object.set_meta("creationTimestamp", Some("2026-01-01T00:00:00Z".into()));
    object.set_meta("generation", Some(1.into()));
    let at = Address {
        group: "example.groundplane.dev".into(),
        plural: plural.into(),
        namespace: String::new(),
        name: object.name().into(),
    };
    let key = keys::object(&Plane::root(), &at).unwrap();
    let put = Put::new(key, apiserver::write::uid_of(&uid), encode::body(&object).unwrap());
    server.api.store().commit(Transaction::by(Author::new("earlier", "test")).put(put)).await.unwrap();
}

//! What the tests write and read: shelves, books, loans and ConfigMaps as JSON, and where they are.

use serde_json::{Value, json};
use testbed::server::{Answer, Client};

/// Where shelves are.
pub const SHELVES: &str = "/apis/example.groundplane.dev/v1alpha1/shelves";
/// Where books are.
pub const BOOKS: &str = "/apis/example.groundplane.dev/v1alpha1/books";
/// Where loans of the default namespace are.
pub const LOANS: &str = "/apis/example.groundplane.dev/v1alpha1/namespaces/default/loans";
/// Where ConfigMaps of the default namespace are.
pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

const API_VERSION: &str = "example.groundplane.dev/v1alpha1";

/// A shelf.
pub fn shelf(name: &str, width: u32) -> Value {
    json!({"apiVersion": API_VERSION, "kind": "Shelf", "metadata": {"name": name}, "spec": {"width": width}})
}

/// A book on a shelf.
pub fn book(name: &str, shelf: &str, at: u32, thickness: u32) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "Book", "metadata": {"name": name},
        "spec": {"shelfRef": {"name": shelf}, "at": at, "thickness": thickness, "author": "Boye"},
    })
}

/// A loan of a book.
pub fn loan(name: &str, book: &str) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": "Loan", "metadata": {"name": name},
        "spec": {"bookRefs": [{"name": book}], "reader": "Karin", "days": 14},
    })
}

/// A ConfigMap with these owners.
pub fn config_map(name: &str, owners: &[Value]) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": owners}})
}

/// A stored object as an owner.
pub fn as_owner(object: &Value, blocks: bool) -> Value {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    json!({
        "apiVersion": text("/apiVersion"), "kind": text("/kind"), "name": text("/metadata/name"),
        "uid": text("/metadata/uid"), "blockOwnerDeletion": blocks,
    })
}

/// Makes an object; how it is stored.
pub async fn make(client: &Client, collection: &str, object: &Value) -> Value {
    let answer = client.post(collection, object).await.unwrap();
    assert_eq!(answer.code, 201, "{object}: {}", answer.text());
    answer.json()
}

/// The object at a path, if it is there.
pub async fn found(client: &Client, path: &str) -> Option<Value> {
    let answer = client.get(path).await.unwrap();
    assert!(matches!(answer.code, 200 | 404), "{path}: {}", answer.text());
    (answer.code == 200).then(|| answer.json())
}

/// The names in a collection.
pub async fn names(client: &Client, collection: &str) -> Vec<String> {
    let answer = client.get(collection).await.unwrap();
    assert_eq!(answer.code, 200, "{collection}: {}", answer.text());
    let list = answer.json();
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Sets the finalizers of an object.
pub async fn finalizers(client: &Client, path: &str, finalizers: &[&str]) -> Answer {
    client.merge(path, &json!({"metadata": {"finalizers": finalizers}})).await.unwrap()
}

/// What a refusal says about fields: the field and the message of every cause.
pub fn causes(answer: &Answer) -> Vec<(String, String)> {
    let status = answer.json();
    let causes = status.pointer("/details/causes").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |cause: &Value, field: &str| cause[field].as_str().unwrap_or_default().to_owned();
    causes.iter().map(|cause| (text(cause, "field"), text(cause, "message"))).collect()
}

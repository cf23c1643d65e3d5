//! What clients get of a declared kind: selectors, tables, defaults, warnings, and all errors at once.

use serde_json::{Value, json};

use super::objects::{BOOKS, LOANS, SHELVES, book, causes, loan, make, names, shelf};
use super::server::Server;

#[tokio::test]
async fn discovery_tells_of_the_kinds() {
    let server = Server::embedded().await;
    let list = server.client().get("/apis/example.groundplane.dev/v1alpha1").await.unwrap().json();
    let resources = list["resources"].as_array().unwrap();
    let named = |name: &str| resources.iter().find(|resource| resource["name"] == name);
    let shelves = named("shelves").unwrap();
    assert_eq!((&shelves["kind"], &shelves["shortNames"]), (&json!("Shelf"), &json!(["sh"])));
    assert_eq!(shelves["namespaced"], false);
    assert!(named("shelves/status").is_some() && named("books/status").is_none());
    assert_eq!(named("loans").unwrap()["namespaced"], true);
}

#[tokio::test]
async fn the_openapi_document_has_the_schema_with_the_words_of_the_types() {
    let server = Server::embedded().await;
    let document = server.client().get("/openapi/v3/apis/example.groundplane.dev/v1alpha1").await.unwrap();
    assert_eq!(document.code, 200, "{}", document.text());
    let document = document.json();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let (_, book) = schemas.iter().find(|(name, _)| name.ends_with(".Book")).unwrap();
    let spec = &book["properties"]["spec"];
    assert_eq!(spec["properties"]["thickness"]["description"], "How thick it is, in millimetres.");
    assert_eq!(spec["properties"]["thickness"]["maximum"], 500);
}

#[tokio::test]
async fn fields_that_are_declared_select() {
    let server = Server::embedded().await;
    let client = server.client();
    for name in ["s1", "s2"] {
        make(&client, SHELVES, &shelf(name, 1000)).await;
    }
    for (name, shelf, at) in [("b1", "s1", 0), ("b2", "s2", 0), ("b3", "s2", 100)] {
        make(&client, BOOKS, &book(name, shelf, at, 30)).await;
    }
    let select = |selector: &str| format!("{BOOKS}?fieldSelector={selector}");
    assert_eq!(names(&client, &select("spec.shelfRef.name=s2")).await, ["b2", "b3"]);
    assert_eq!(names(&client, &select("spec.shelfRef.name!=s2")).await, ["b1"]);
    assert_eq!(names(&client, &select("spec.shelfRef.name=s2,metadata.name=b3")).await, ["b3"]);
    assert!(names(&client, &select("spec.author=Nobody")).await.is_empty());
    let refused = client.get(&select("spec.at=0")).await.unwrap();
    assert_eq!(refused.code, 400, "{}", refused.text());
}

#[tokio::test]
async fn tables_have_the_declared_columns() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 900)).await;
    let tables = client.with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = tables.get(SHELVES).await.unwrap().json();
    let columns: Vec<(&str, i64)> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["name"].as_str().unwrap(), column["priority"].as_i64().unwrap()))
        .collect();
    assert_eq!(columns, [("Name", 0), ("Width", 0), ("Room", 0), ("Load", 1), ("Age", 0)]);
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..4], [json!("s1"), json!(900), Value::Null, Value::Null]);
}

#[tokio::test]
async fn what_is_left_out_gets_its_default_and_what_is_unknown_is_dropped_with_a_warning() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    let mut book = book("b1", "s1", 0, 30);
    book["spec"]["colour"] = json!("red");
    let answer = client.post(BOOKS, &book).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
    assert_eq!(answer.headers["warning"], "299 - \"unknown field \\\"spec.colour\\\"\"");
    let made = answer.json();
    assert_eq!(made["spec"]["binding"], "Cloth");
    assert_eq!(made["spec"].get("colour"), None);
    let strict = client.post(&format!("{BOOKS}?fieldValidation=Strict"), &book).await.unwrap();
    assert_eq!(strict.code, 400, "{}", strict.text());
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once() {
    let server = Server::embedded().await;
    let mut wrong = book("b1", "nowhere", 0, 0);
    wrong["metadata"]["labels"] = json!({"a b": "c"});
    wrong["spec"]["binding"] = json!("Wood");
    wrong["spec"].as_object_mut().unwrap().remove("author");
    let answer = server.client().post(BOOKS, &wrong).await.unwrap();
    assert_eq!(answer.code, 422, "{}", answer.text());
    let mut fields: Vec<String> = causes(&answer).into_iter().map(|(field, _)| field).collect();
    fields.sort();
    assert_eq!(
        fields,
        ["metadata.labels", "spec.author", "spec.binding", "spec.shelfRef.name", "spec.thickness"],
        "{}",
        answer.text()
    );
}

#[tokio::test]
async fn a_check_of_the_kind_is_told_beside_those_of_the_schema() {
    let server = Server::embedded().await;
    let mut wrong = loan("l1", "b1");
    wrong["spec"]["days"] = json!(400);
    wrong["spec"]["reminder"] = json!(500);
    let answer = server.client().post(LOANS, &wrong).await.unwrap();
    let fields: Vec<String> = causes(&answer).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["spec.days", "spec.reminder"], "{}", answer.text());
    wrong["spec"]["days"] = json!("fourteen");
    let answer = server.client().post(LOANS, &wrong).await.unwrap();
    let fields: Vec<String> = causes(&answer).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["spec.days"], "what can't be read is told once: {}", answer.text());
}

#[tokio::test]
async fn status_is_written_apart() {
    let server = Server::embedded().await;
    let client = server.client();
    let mut made = shelf("s1", 1000);
    made["status"] = json!({"load": 5});
    let made = make(&client, SHELVES, &made).await;
    assert_eq!(made.get("status"), None);
    let path = format!("{SHELVES}/s1");
    let both = json!({"spec": {"width": 5}, "status": {"load": 1200}});
    let answer = client.merge(&format!("{path}/status"), &both).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!((&answer["spec"]["width"], &answer["status"]["load"]), (&json!(1000), &json!(1200)));
    assert_eq!(answer["metadata"]["generation"], 1);
    let answer =
        client.merge(&path, &json!({"spec": {"width": 900}, "status": {"load": 0}})).await.unwrap().json();
    assert_eq!((&answer["spec"]["width"], &answer["status"]["load"]), (&json!(900), &json!(1200)));
    assert_eq!(answer["metadata"]["generation"], 2);
}

#[tokio::test]
async fn rules_refuse_with_what_is_in_the_way() {
    let server = Server::embedded().await;
    let client = server.client();
    make(&client, SHELVES, &shelf("s1", 1000)).await;
    make(&client, BOOKS, &book("b1", "s1", 100, 30)).await;
    let overlapping = client.post(BOOKS, &book("b2", "s1", 129, 30)).await.unwrap();
    assert_eq!(overlapping.code, 409, "{}", overlapping.text());
    assert!(overlapping.text().contains("Book b1 stands there, from 100 to 130"), "{}", overlapping.text());
    let beyond = client.post(BOOKS, &book("b2", "s1", 980, 30)).await.unwrap();
    assert_eq!(beyond.code, 422, "{}", beyond.text());
    assert_eq!(causes(&beyond)[0].0, "spec.at");
    make(&client, BOOKS, &book("b2", "s1", 130, 30)).await;
    let shrunk = client.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"width": 159}})).await.unwrap();
    assert_eq!(shrunk.code, 422, "{}", shrunk.text());
    let expected = "Invalid value: 159: must be at least 160, where Book b2 ends";
    assert_eq!(causes(&shrunk), [("spec.width".to_owned(), expected.to_owned())]);
    let fits = client.merge(&format!("{SHELVES}/s1"), &json!({"spec": {"width": 160}})).await.unwrap();
    assert_eq!(fits.code, 200, "{}", fits.text());
}

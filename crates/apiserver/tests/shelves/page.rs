//! `docs/adding-a-kind.md` shows what works: its Rust is the code of these tests, its YAML is applied, and what it says
//! that the server answers is what the server answers.

use serde_json::{Value, json};
use testbed::server::Answer;

use super::objects::{BOOKS, SHELVES, book, causes};
use super::server::Server;

const PAGE: &str = include_str!("../../../../docs/adding-a-kind.md");
const FILES: [(&str, &str); 4] = [
    ("kinds.rs", include_str!("kinds.rs")),
    ("kinds/shelf.rs", include_str!("kinds/shelf.rs")),
    ("kinds/book.rs", include_str!("kinds/book.rs")),
    ("kinds/loan.rs", include_str!("kinds/loan.rs")),
];

/// The fenced blocks of the page in a language, without the indentation of their fence.
fn blocks(language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() != format!("```{language}") {
            continue;
        }
        let inside = lines.by_ref().take_while(|line| line.trim_start() != "```");
        blocks.push(inside.map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n").collect());
    }
    blocks
}

#[test]
fn the_page_shows_every_file_whole() {
    for (name, text) in FILES {
        assert!(blocks("rust").iter().any(|block| block == text), "{name} is not on the page as it is");
    }
}

#[test]
fn all_rust_on_the_page_is_of_these_files() {
    let blocks = blocks("rust");
    assert!(blocks.len() >= FILES.len());
    for block in blocks {
        let is_ours = FILES.iter().any(|(_, text)| text.contains(&block));
        assert!(is_ours, "this code is compiled nowhere:\n{block}");
    }
}

#[tokio::test]
async fn what_the_page_says_that_the_server_answers_is_what_it_answers() {
    let server = Server::embedded().await;
    let client = server.client();
    for object in blocks("yaml").iter().flat_map(|block| block.split("---\n")) {
        let kind = if object.contains("kind: Shelf") { SHELVES } else { BOOKS };
        let sent =
            client.send(http::Method::POST, kind, "application/yaml", object.to_owned()).await.unwrap();
        assert_eq!(sent.code, 201, "{object}\n{}", sent.text());
    }
    let shelf = format!("{SHELVES}/s1");
    let refusals = [
        client.delete(&shelf).await.unwrap(),
        client.post(BOOKS, &book("astarte", "s1", 20, 30)).await.unwrap(),
        client.merge(&shelf, &json!({"spec": {"width": 30}})).await.unwrap(),
    ];
    let shown = blocks("text");
    for refusal in refusals {
        let message = as_kubectl_says_it(&refusal);
        let said = shown.iter().any(|block| block.replace('\n', " ").trim() == message);
        assert!(said, "the page does not show: {message}");
    }
    let tables = client.with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = tables.get(SHELVES).await.unwrap().json();
    let shown = shown.iter().find(|block| block.starts_with("NAME")).unwrap();
    let words: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    let narrow = |index: &usize| table["columnDefinitions"][index]["priority"] == 0;
    let columns: Vec<usize> =
        (0..table["columnDefinitions"].as_array().unwrap().len()).filter(narrow).collect();
    let headings =
        columns.iter().map(|index| text(&table["columnDefinitions"][index]["name"]).to_uppercase());
    assert_eq!(words[0], headings.collect::<Vec<_>>());
    let cells = columns.iter().map(|index| match &table["rows"][0]["cells"][index] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let cells: Vec<String> = cells.collect();
    // How old it is differs from one run to the next.
    assert_eq!(words[1][..words[1].len() - 1], cells[..cells.len() - 1]);
}

fn as_kubectl_says_it(refusal: &Answer) -> String {
    let status = refusal.json();
    let (kind, name) = (text(&status["details"]["kind"]), text(&status["details"]["name"]));
    match (text(&status["reason"]), causes(refusal).as_slice()) {
        ("Invalid", [(field, message)]) => format!("The {kind} {name:?} is invalid: {field}: {message}"),
        (reason, _) => format!("Error from server ({reason}): {}", text(&status["message"])),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

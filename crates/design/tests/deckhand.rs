//! Deckhand's rules: real sites render as the original rendered them, and each rule on a small case of our
//! own.

#[path = "deckhand/actions.rs"]
mod actions;
#[path = "deckhand/any_order.rs"]
mod any_order;
#[path = "deckhand/parents.rs"]
mod parents;
#[path = "deckhand/replacements.rs"]
mod replacements;
#[path = "deckhand/substitutions.rs"]
mod substitutions;
#[path = "deckhand/treasuremap.rs"]
mod treasuremap;

use design::{
    deckhand::{Problem, ProblemKind, render},
    document::{Document, parse},
};

const POLICY: &str = "
---
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: policy}
data: {layerOrder: [global, type, site]}
";

/// The documents of a text with a policy after them, so that line 1 of the text is line 1 in messages.
fn documents(text: &str) -> Vec<Document> {
    parse("site.yaml", format!("{text}{POLICY}").as_bytes()).expect("the case can be read").documents
}

/// The data of one rendered document as JSON.
fn rendered(text: &str, name: &str) -> String {
    let documents = render(documents(text)).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let document = documents.iter().find(|document| document.name() == name);
    serde_json::to_string(&document.unwrap_or_else(|| panic!("no document {name}")).data)
        .expect("values are JSON")
}

fn problems(text: &str) -> Vec<Problem> {
    render(documents(text)).expect_err("the documents should be refused")
}

/// The kind and the words of the only problem.
fn problem(text: &str) -> (ProblemKind, String) {
    match &problems(text)[..] {
        [problem] => (problem.kind, problem.to_string()),
        several => panic!("{several:#?}"),
    }
}

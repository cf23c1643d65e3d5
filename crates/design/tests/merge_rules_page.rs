//! The examples of `docs/design/merge-rules.md` are true.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "the page needs a part of it")]
mod family;

use design::yaml;
use family::Family;
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/design/merge-rules.md");

#[test]
fn every_example_of_the_page_comes_to_what_it_says() {
    let examples: Vec<&str> =
        PAGE.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() > 10, "the page has its examples");
    for example in examples {
        let read = yaml::read("merge-rules.md", example.as_bytes()).unwrap().documents.remove(0);
        let example_json = serde_json::to_value(&read).unwrap();
        let part = |name: &str| &example_json[name];
        let node = Family::of(part("parent"), part("child"), part("node")).node();
        for (field, expected) in part("becomes").as_object().unwrap() {
            assert_eq!(without_nulls(&node[field]), without_nulls(expected), "{field} of\n{example}");
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

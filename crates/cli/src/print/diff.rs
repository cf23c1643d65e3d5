//! What a change does, as lines: `+` is new, `-` goes, `~` changes.

use serde_json::Value;

use crate::console::Console;

const GREEN: &str = "\u{1b}[32m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";

/// How much of a value is shown.
const MOST_SHOWN: usize = 120;

/// The lines for a `diff` as histories, transactions and plans have it.
pub fn changes(diff: &Value, console: &Console) -> Vec<String> {
    let mut lines = Vec::new();
    for change in diff.as_array().into_iter().flatten() {
        let path = change["path"].as_str().unwrap_or("");
        let value = |field: &str| short(&change[field]);
        lines.push(match change["op"].as_str() {
            Some("add") => console.painted(GREEN, &format!("+ {path}: {}", value("after"))),
            Some("remove") => console.painted(RED, &format!("- {path}: {}", value("before"))),
            _ => console.painted(YELLOW, &format!("~ {path}: {} -> {}", value("before"), value("after"))),
        });
    }
    lines
}

fn short(value: &Value) -> String {
    let text = krm::encode::to_json_text(value)
        .replace("\\u003c", "<")
        .replace("\\u003e", ">")
        .replace("\\u0026", "&");
    match text.chars().count() > MOST_SHOWN {
        true => text.chars().take(MOST_SHOWN - 1).collect::<String>() + "…",
        false => text,
    }
}

//! JSON as YAML, for those who ask for it.

use serde_json::Value;

/// A key may have 1,024 characters with its escapes; a longer one is marked as a key before it begins.
const LONGEST_KEY: usize = 100;

/// The value as a YAML document.
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(&mut text, value, 0),
        Value::Array(list) if !list.is_empty() => block(&mut text, value, 0),
        other => {
            scalar(&mut text, other);
            text.push('\n');
        }
    }
    text
}

fn block(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                indent(text, depth);
                if key.len() > LONGEST_KEY {
                    text.push_str("? ");
                    string(text, key);
                    text.push('\n');
                    indent(text, depth);
                } else {
                    string(text, key);
                }
                text.push(':');
                // Kubernetes writes lists at the level of their key.
                below(text, value, if value.is_array() { depth } else { depth + 1 });
            }
        }
        Value::Array(list) => {
            for value in list {
                indent(text, depth);
                text.push('-');
                item(text, value, depth + 1);
            }
        }
        _ => {}
    }
}

fn below(text: &mut String, value: &Value, depth: usize) {
    if is_empty_or_scalar(value) {
        text.push(' ');
        scalar(text, value);
        text.push('\n');
    } else {
        text.push('\n');
        block(text, value, depth);
    }
}

/// An item of a list: a map begins on the line of its dash.
fn item(text: &mut String, value: &Value, depth: usize) {
    if is_empty_or_scalar(value) {
        return below(text, value, depth);
    }
    let mut nested = String::new();
    block(&mut nested, value, depth);
    text.push(' ');
    text.push_str(nested.trim_start_matches(' '));
}

fn is_empty_or_scalar(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => true,
    }
}

fn scalar(text: &mut String, value: &Value) {
    match value {
        Value::String(content) => string(text, content),
        other => text.push_str(&other.to_string()),
    }
}

/// Plain where nothing can be misread; else as JSON writes it, which is YAML too.
fn string(text: &mut String, content: &str) {
    let plain = content.starts_with(|c: char| c.is_ascii_alphabetic())
        && content.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !matches!(
            content.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
        );
    match plain {
        true => text.push_str(content),
        false => quoted(text, content),
    }
}

/// As JSON writes it, but for characters that YAML does not have, or takes for the end of a line.
fn quoted(text: &mut String, content: &str) {
    for c in Value::from(content).to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whatever_a_text_holds_it_is_read_as_it_was() {
        let odd = "a\u{7f}b\u{85}c\u{9f}d\u{2028}e\u{2029}f\u{feff}g\u{ffff}h\ti\nj\u{1}k\"l\\m\u{1f600}";
        let long = "x".repeat(1_500);
        let value = json!({odd: [odd, {long.as_str(): {"a": [1]}}], "b": long, "c": {long.as_str(): "d"}});
        let written = write(&value);
        assert!(written.contains("\\u007f") && written.contains("? x"), "{written}");
        assert_eq!(
            krm::decode::read_yaml(written.as_bytes()).map(|yaml| yaml.value).ok(),
            Some(value),
            "{written}"
        );
    }

    #[test]
    fn nesting_reads_as_kubernetes_writes_it() {
        let value = json!({"a": {"b": [1, {"c": "d", "e": "yes"}, [], ["x"]]}, "f": {}, "g": "1"});
        let expected = "a:\n  b:\n  - 1\n  - c: d\n    e: \"yes\"\n  - []\n  - - x\nf: {}\ng: \"1\"\n";
        assert_eq!(write(&value), expected);
    }
}

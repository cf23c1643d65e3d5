//! Values as YAML, byte for byte as go-yaml writes them for Kubernetes: what `kubectl get -o yaml` prints.

mod style;
mod text;

use serde_json::Value;

use self::text::Text;
use crate::number;

/// The longest key that stands before its colon on one line.
const LONGEST_SIMPLE_KEY: usize = 128;

/// The value as a YAML document.
pub fn to_yaml(value: &Value) -> String {
    let mut text = Text::default();
    match value {
        Value::Object(entries) if !entries.is_empty() => node(&mut text, value, 0),
        Value::Array(items) if !items.is_empty() => node(&mut text, value, 0),
        scalar => self::scalar(&mut text, scalar, 2),
    }
    text.finish()
}

/// A list or a map whose lines begin at `indent`; the text stands where the first of them goes.
fn node(text: &mut Text, value: &Value, indent: usize) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                text.begin_line(indent);
                self::key(text, key, indent);
                // Lists stand at the level of their key.
                below(text, value, if value.is_array() { indent } else { indent + 2 }, indent + 2);
            }
        }
        Value::Array(items) => {
            for item in items {
                text.begin_line(indent);
                text.push("-");
                match is_block(item) {
                    // A list or a map begins on the line of the dash.
                    true => {
                        text.push(" ");
                        text.indent_is_written();
                        node(text, item, indent + 2);
                    }
                    false => self::scalar(text, item, indent + 2),
                }
            }
        }
        _ => {}
    }
}

fn key(text: &mut Text, key: &str, indent: usize) {
    if key.len() <= LONGEST_SIMPLE_KEY && !key.contains(style::is_break) {
        text.write_key(key);
    } else {
        text.push("? ");
        text.write_string(key, indent + 2);
        text.begin_line(indent);
    }
    text.push(":");
}

fn below(text: &mut Text, value: &Value, block_indent: usize, scalar_indent: usize) {
    match is_block(value) {
        true => node(text, value, block_indent),
        false => scalar(text, value, scalar_indent),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// What stands on the line of its key; `indent` is that of further lines of a text.
fn scalar(text: &mut Text, value: &Value, indent: usize) {
    text.space_unless_first();
    match value {
        Value::Null => text.push("null"),
        Value::Bool(flag) => text.push(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push(&number::in_text(number)),
        Value::String(content) => text.write_string(content, indent),
        Value::Array(_) => text.push("[]"),
        Value::Object(_) => text.push("{}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn nesting_reads_as_kubernetes_writes_it() {
        let value = json!({"a": {"b": [1, {"c": "d", "e": "yes"}, [], ["x", ["y"]]]}, "f": {}, "g": "1"});
        let expected =
            "a:\n  b:\n  - 1\n  - c: d\n    e: \"yes\"\n  - []\n  - - x\n    - - \"y\"\nf: {}\ng: \"1\"\n";
        assert_eq!(to_yaml(&value), expected);
        assert_eq!(to_yaml(&json!({})), "{}\n");
        assert_eq!(to_yaml(&json!("on")), "\"on\"\n");
    }

    #[test]
    fn whatever_a_text_holds_it_is_read_as_it_was() {
        let odd = "a\u{7f}b\u{85}c\u{9f}d\u{2028}e\u{2029}f\u{feff}g\u{ffff}h\ti\nj\u{1}k\"l\\m\u{1f600}";
        let long = "x".repeat(1_500);
        let value = json!({odd: [odd, {long.as_str(): {"a": [1]}}], "b": long, "c": {long.as_str(): "d"}});
        let written = to_yaml(&value);
        assert!(written.contains("\\x7F") && written.contains("? x"), "{written}");
        assert_eq!(read(&written), Some(value), "{written}");
    }

    fn read(written: &str) -> Option<Value> {
        crate::decode::read_yaml(written.as_bytes()).map(|yaml| yaml.value).ok()
    }

    fn texts() -> impl Strategy<Value = String> {
        // Short words of what means something in YAML, among others.
        prop_oneof![
            "[ a-z:#'\"\\[\\]{}?*&!|>%@,.0-9_~-]{0,12}",
            "[a-z :]{60,140}",
            "[a\n\t é\u{7f}\u{85}\u{feff}]{0,10}",
        ]
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            texts().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(texts(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in values()) {
            let written = to_yaml(&value);
            prop_assert_eq!(read(&written), Some(value), "{}", written);
        }
    }

    #[test]
    fn texts_are_quoted_where_they_could_be_misread() {
        for (content, written) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("true", "\"true\""),
            ("12e03", "\"12e03\""),
            ("0x1F", "\"0x1F\""),
            ("1:30", "\"1:30\""),
            ("2026-11-16T07:18:04Z", "\"2026-11-16T07:18:04Z\""),
            ("2026-1-6", "\"2026-1-6\""),
            ("2026-13-06", "2026-13-06"),
            ("<<", "\"<<\""),
            ("a: b", "'a: b'"),
            ("a:b", "a:b"),
            ("it's", "it's"),
            ("'it'", "'''it'''"),
            ("- a", "'- a'"),
            ("-a", "-a"),
            ("#a", "'#a'"),
            ("a #b", "'a #b'"),
            (" a", "' a'"),
            ("a\tb", "\"a\\tb\""),
            ("naïve", "naïve"),
            ("\u{1f600}", "\"\\U0001F600\""),
            ("a\nb", "|-\n    a\n    b"),
            ("a\nb\n", "|\n    a\n    b"),
            ("a\n\n", "|+\n    a\n"),
            ("  a\nb\n", "|2\n      a\n    b"),
            ("a \nb", "\"a \\nb\""),
        ] {
            assert_eq!(
                to_yaml(&json!({"k": {"v": content}})),
                format!("k:\n  v: {written}\n"),
                "{content:?}"
            );
        }
    }
}

//! Values as YAML in block style, in the order they stand, so that reading gives the same values back.

use std::fmt::Write as _;

use super::{Key, Node, Value, scalar};

/// Writes a value. What is written reads back as the same value.
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Map(map) if !map.is_empty() => block(&mut text, value, 0),
        Value::List(items) if !items.is_empty() => block(&mut text, value, 0),
        other => {
            text.push_str(&flow(other));
            text.push('\n');
        }
    }
    text
}

/// A map or list that is not empty, one member to a line.
fn block(text: &mut String, value: &Value, depth: usize) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Map(map) => {
            for (key, node) in map.iter() {
                text.push_str(&indent);
                text.push_str(&key_text(key));
                text.push(':');
                member(text, node, depth + 1);
            }
        }
        Value::List(items) => {
            for item in items {
                text.push_str(&indent);
                text.push('-');
                member(text, item, depth + 1);
            }
        }
        // Only maps and lists are blocks.
        _ => {}
    }
}

fn member(text: &mut String, node: &Node, depth: usize) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            text.push('\n');
            block(text, &node.value, depth);
        }
        Value::List(items) if !items.is_empty() => {
            text.push('\n');
            block(text, &node.value, depth);
        }
        Value::String(lines) if is_literal(lines) => {
            // `-` where the text does not end its last line.
            text.push_str(if lines.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in lines.strip_suffix('\n').unwrap_or(lines).split('\n') {
                if !line.is_empty() {
                    text.push_str(&"  ".repeat(depth));
                    text.push_str(line);
                }
                text.push('\n');
            }
        }
        other => {
            text.push(' ');
            text.push_str(&flow(other));
            text.push('\n');
        }
    }
}

/// Several lines that a literal block gives back as they are.
fn is_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !text.starts_with([' ', '\n', '\t'])
        && text.chars().all(|c| {
            c == '\n' || (!c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}'))
        })
}

fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => ".nan".to_owned(),
        Value::Float(number) if number.is_infinite() => {
            if *number > 0.0 { ".inf" } else { "-.inf" }.to_owned()
        }
        Value::Float(number) => float(*number),
        Value::String(text) => quoted_where_needed(text),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

/// A point and, before an exponent, a sign: without them YAML 1.1 reads text.
fn float(number: f64) -> String {
    let text = format!("{number:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

fn key_text(key: &Key) -> String {
    match key {
        Key::String(text) => quoted_where_needed(text),
        Key::Null => "null".to_owned(),
        Key::Bool(flag) => flag.to_string(),
        Key::Int(number) => number.to_string(),
        Key::Float(text) => float_key(text),
    }
}

/// A key keeps a number as Python prints it, which YAML 1.1 does not always read as one.
fn float_key(text: &str) -> String {
    match text {
        "inf" => ".inf".to_owned(),
        "-inf" => "-.inf".to_owned(),
        "nan" => ".nan".to_owned(),
        number => match number.split_once('e') {
            Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0e{exponent}"),
            _ => number.to_owned(),
        },
    }
}

/// Text that would read as something else, or end early, is put in quotes.
fn quoted_where_needed(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./+@%>".contains(&byte))
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && matches!(scalar::plain(text), Value::String(read) if read == *text);
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::read;

    #[test]
    fn what_is_written_reads_back() {
        let text = "{a: 'yes', b: yes, c: '010', d: [1, 2.5, {e: ~}], f: \"x\\ny\\n\", g: '', 'h: i': '# j', k: {}, l: [],\n  5: '!z', m: \"a\\n\\nb\", n: \" lead\", o: \"tab\\there\", p: '1:30', q: '- x', r: 1.0e+20,\n  .inf: 1, -.inf: 2, .nan: 3, 1.0e+20: 4, 1.5e-7: 5}";
        let first = read("a", text.as_bytes()).unwrap().documents.remove(0);
        let written = write(&first.value);
        let again = read("b", written.as_bytes()).unwrap().documents.remove(0);
        assert_eq!(first, again, "{written}");
    }
}

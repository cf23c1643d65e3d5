//! The documents in a text: YAML parted by `---`, or JSON one after the other.

use serde_json::Value;

use super::source::Source;
use crate::failure::Failure;

/// Every document that holds anything, with the text it was read from.
pub fn read(name: &str, text: &str) -> Result<Vec<(Value, Source)>, Failure> {
    let parts = match text.trim_start().starts_with('{') {
        true => json_parts(text),
        false => yaml_parts(text),
    };
    let mut documents = Vec::new();
    for (lines_before, part) in parts {
        if part.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            continue;
        }
        let source = Source { name: name.to_owned(), text: part.to_owned(), lines_before };
        match krm::decode::read_yaml(part.as_bytes()) {
            Ok(yaml) if yaml.value.is_null() => {}
            Ok(yaml) => match yaml.duplicates.first() {
                None => documents.push((yaml.value, source)),
                Some(duplicate) => return Err(unreadable(&source, duplicate)),
            },
            Err(error) => return Err(unreadable(&source, &error.to_string())),
        }
    }
    Ok(documents)
}

fn unreadable(source: &Source, why: &str) -> Failure {
    let head = Failure::other(format!("error parsing {}: error converting YAML to JSON: {why}", source.name));
    match source.fault(why) {
        Some(place) => head.note(source.excerpt(place)),
        None => head,
    }
}

/// Documents between lines that begin with three dashes, each with the number of lines before it.
fn yaml_parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut lines_before, mut at) = (0, 0, 0);
    for (line_number, line) in text.split_inclusive('\n').enumerate() {
        let is_border = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.trim().is_empty() || rest.starts_with([' ', '\t']));
        if is_border {
            parts.push((lines_before, &text[start..at]));
            // What follows the dashes on their line belongs to the document.
            let rest_is_empty = line[3..].trim().is_empty() || line[3..].trim_start().starts_with('#');
            start = if rest_is_empty { at + line.len() } else { at + 3 };
            lines_before = if rest_is_empty { line_number + 1 } else { line_number };
        }
        at += line.len();
    }
    parts.push((lines_before, &text[start..]));
    parts
}

fn json_parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let mut start = 0;
    while let Some(Ok(_)) = stream.next() {
        let end = stream.byte_offset();
        parts.push((text[..start].matches('\n').count(), &text[start..end]));
        start = end;
    }
    // What is left is empty, YAML that only began like JSON, or broken and told so.
    let lines_before = text[..start].matches('\n').count();
    parts.extend(yaml_parts(&text[start..]).into_iter().map(|(lines, part)| (lines_before + lines, part)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_know_their_lines() {
        let text = "# head\n---\na: 1\n---\n\n---\nb: 2\n--- # last\nc: 3\n";
        let found: Vec<(String, usize)> = read("x", text)
            .unwrap()
            .into_iter()
            .map(|(value, source)| (value.to_string(), source.lines_before))
            .collect();
        let expected = [(r#"{"a":1}"#, 2), (r#"{"b":2}"#, 6), (r#"{"c":3}"#, 8)];
        assert_eq!(found, expected.map(|(value, lines)| (value.to_owned(), lines)));
        let found = read("x", "{\"a\": 1}\n{\"b\": 2}\n").unwrap();
        assert_eq!((found.len(), found[1].1.lines_before), (2, 0));
    }

    #[test]
    fn what_only_begins_like_json_is_yaml() {
        let read_all = |text: &str| {
            let found = read("x", text).unwrap().into_iter();
            found.map(|(value, source)| (value.to_string(), source.lines_before)).collect::<Vec<_>>()
        };
        let both = [(r#"{"a":1}"#.to_owned(), 0), (r#"{"b":2}"#.to_owned(), 2)];
        assert_eq!(read_all("{a: 1}\n---\n{b: 2}\n"), both);
        let both = [(r#"{"a":1}"#.to_owned(), 0), (r#"{"b":2}"#.to_owned(), 2)];
        assert_eq!(read_all("{\"a\": 1}\n---\nb: 2\n"), both);
    }

    #[test]
    fn a_broken_line_is_shown() {
        let text = "a: 1\n---\nkind: ConfigMap\nmetadata:\n  name: a: b\n";
        let told = read("site.yaml", text).unwrap_err().text();
        assert_eq!(
            told,
            "error: error parsing site.yaml: error converting YAML to JSON: yaml: line 3: mapping values are not allowed in this context\n  \
             --> site.yaml:5:10\n    |\n  5 |   name: a: b\n    |          ^\n"
        );
        let told = read("twice.yaml", "a: 1\nb: 2\na: 3\n").unwrap_err().text();
        assert!(
            told.contains("key \"a\" already set in map") && told.contains("--> twice.yaml:3:1"),
            "{told}"
        );
    }
}

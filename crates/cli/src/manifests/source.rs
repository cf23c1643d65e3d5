//! Where in a text something was written.

use saphyr_parser::{Event, Parser};

use crate::failure::{Failure, Refusal};

/// A document's text, and where it stands in its file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, or `STDIN`.
    pub name: String,
    /// The document.
    pub text: String,
    /// How many lines of the file come before it.
    pub lines_before: usize,
}

/// A line and a column of a document, both from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    line: usize,
    column: usize,
}

impl Source {
    /// Where a field stands, or the nearest thing around it that does.
    pub fn place(&self, path: &str) -> Option<TextPosition> {
        let places = places(&self.text);
        let mut wanted = normal(path);
        loop {
            if let Some((_, place)) = places.iter().find(|(known, _)| *known == wanted) {
                return Some(*place);
            }
            let end = wanted.rfind(['.', '['])?;
            wanted.truncate(end);
        }
    }

    /// Where the text stops being YAML; `why` may name the line of a key that was given twice.
    pub fn fault(&self, why: &str) -> Option<TextPosition> {
        if let Some(rest) = why.strip_prefix("line ") {
            let line: usize = rest.split(':').next()?.parse().ok()?;
            let text = self.text.lines().nth(line.checked_sub(1)?)?;
            return Some(TextPosition { line: line - 1, column: text.len() - text.trim_start().len() });
        }
        for event in Parser::new_from_str(&self.text) {
            if let Err(error) = event {
                let at = error.marker();
                return Some(TextPosition { line: at.line().saturating_sub(1), column: at.col() });
            }
        }
        None
    }

    /// The line with a mark below the column, and where it is.
    pub fn excerpt(&self, place: TextPosition) -> String {
        let number = (self.lines_before + place.line + 1).to_string();
        let line = self.text.lines().nth(place.line).unwrap_or("").replace('\t', " ");
        let margin = " ".repeat(number.len());
        let mark = " ".repeat(place.column);
        format!(
            "  --> {}:{number}:{}\n  {margin} |\n  {number} | {line}\n  {margin} | {mark}^",
            self.name,
            place.column + 1
        )
    }

    /// A failure with the place of a field below it.
    pub fn shown_at(&self, failure: Failure, path: &str) -> Failure {
        let first = self.text.lines().position(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let place = match path.is_empty() {
            true => first.map(|line| TextPosition { line, column: 0 }),
            false => self.place(path),
        };
        match place {
            Some(place) => failure.note(self.excerpt(place)),
            None => failure,
        }
    }
}

/// The fields that a refusal is about: of its causes, or those that its message names.
pub fn fields_of(refusal: &Refusal) -> Vec<String> {
    let causes = refusal.causes().filter_map(|cause| cause["field"].as_str());
    let mut fields: Vec<String> =
        causes.filter(|field| !matches!(*field, "" | "<nil>")).map(str::to_owned).collect();
    for kind in ["unknown field \"", "duplicate field \""] {
        let named = refusal.message().split(kind).skip(1).filter_map(|rest| rest.split('"').next());
        fields.extend(named.map(str::to_owned));
    }
    // What can't be applied at all is told by its path alone: `…): .data.height: expected string, got …`.
    if let Some((_, rest)) = refusal.message().split_once("): .")
        && let Some((path, _)) = rest.split_once(": ")
    {
        fields.push(path.to_owned());
    }
    fields
}

/// One way to write a path: keys with a dot before them, in brackets only numbers.
fn normal(path: &str) -> String {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut normal = String::new();
    let mut rest = path;
    while let Some(open) = rest.find('[') {
        normal.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        let Some(close) = inner.find(']') else { break };
        let key = inner[..close].trim_matches('"');
        match key.chars().all(|c| c.is_ascii_digit()) && !key.is_empty() {
            true => normal.push_str(&format!("[{key}]")),
            false => normal.push_str(&format!(".{key}")),
        }
        rest = &inner[close + 1..];
    }
    normal + rest
}

/// Every field and item of the first document with where it stands.
fn places(text: &str) -> Vec<(String, TextPosition)> {
    enum Open {
        Map { path: String, key: Option<String> },
        List { path: String, next: usize },
    }
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // Where the next value stands, for a value that begins now.
    fn begin(open: &mut [Open], place: TextPosition, found: &mut Vec<(String, TextPosition)>) -> String {
        match open.last_mut() {
            None => String::new(),
            Some(Open::Map { path, key }) => {
                let key = key.take().unwrap_or_default();
                if path.is_empty() { key } else { format!("{path}.{key}") }
            }
            Some(Open::List { path, next }) => {
                let path = format!("{path}[{next}]");
                *next += 1;
                found.push((path.clone(), place));
                path
            }
        }
    }
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        let place = TextPosition { line: span.start.line().saturating_sub(1), column: span.start.col() };
        match event {
            Event::Scalar(content, ..) => match open.last_mut() {
                Some(Open::Map { path, key: key @ None }) => {
                    let whole =
                        if path.is_empty() { content.to_string() } else { format!("{path}.{content}") };
                    found.push((whole, place));
                    *key = Some(content.to_string());
                }
                _ => drop(begin(&mut open, place, &mut found)),
            },
            Event::Alias(_) => drop(begin(&mut open, place, &mut found)),
            Event::MappingStart(..) => {
                let path = begin(&mut open, place, &mut found);
                open.push(Open::Map { path, key: None });
            }
            Event::SequenceStart(..) => {
                let path = begin(&mut open, place, &mut found);
                open.push(Open::List { path, next: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => drop(open.pop()),
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_paths() {
        let text = "spec:\n  size: 3\n  parts:\n  - name: a\n  - name: b\n    x.dev/y: 1\n";
        let source = Source { name: "f.yaml".into(), text: text.into(), lines_before: 10 };
        let at = |path: &str| source.place(path).map(|place| (place.line, place.column));
        assert_eq!(at("spec.size"), Some((1, 2)));
        assert_eq!(at(".spec.parts[1].name"), Some((4, 4)));
        assert_eq!(at("spec.parts[1][x.dev/y]"), Some((5, 4)));
        assert_eq!(at("spec.parts[1].missing"), Some((4, 4)));
        assert_eq!(at("status.x"), None);
        let shown = source.excerpt(source.place("spec.size").unwrap());
        assert_eq!(shown, "  --> f.yaml:12:3\n     |\n  12 |   size: 3\n     |   ^");
    }
}

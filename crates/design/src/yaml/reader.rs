//! Reads a stream of YAML documents into values that know where they were written.

mod build;

use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle};
use thiserror::Error;

use super::{File, Node, Position};
use build::Builder;

/// The documents of one file.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The root of every document, in order; an empty document is null.
    pub documents: Vec<Node>,
    /// What was read all the same but is probably not meant.
    pub warnings: Vec<Warning>,
}

/// Something that can be read but is probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where.
    pub at: Position,
    /// What.
    pub message: String,
}

/// The bytes are not YAML that can be read; the author has to change them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct YamlError {
    /// Where reading stopped.
    pub at: Position,
    /// Why.
    pub message: String,
}

/// Reads every document of a stream; `file` is what messages call it.
pub fn read(file: &str, bytes: &[u8]) -> Result<Stream, YamlError> {
    let file = File::named(file);
    let text = without_blank_end(printable(&file, bytes)?);
    let unterminated_at = (!text.ends_with(['\n', '\r'])).then(|| text.chars().count());
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|refusal| YamlError {
            at: position(&file, refusal.marker()),
            message: format!("not valid YAML: {}", refusal.info()),
        })?;
        let at = position(&file, &span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let ends_the_file = unterminated_at == Some(span.end.index());
                let text = if is_block && ends_the_file { as_pyyaml_ends_it(&text) } else { &text };
                builder.scalar(text, style, anchor, tag.as_deref(), at)?;
            }
            Event::SequenceStart(anchor, tag) => builder.open_list(anchor, tag.as_deref(), at)?,
            Event::MappingStart(anchor, tag) => builder.open_map(anchor, tag.as_deref(), at)?,
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Alias(anchor) => builder.alias(anchor, at)?,
            Event::DocumentStart(_) | Event::DocumentEnd => builder.forget_anchors(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd => {}
        }
    }
    Ok(builder.finish())
}

/// A block of text on a last line without a line break: YAML 1.2 puts one there, PyYAML did not.
fn as_pyyaml_ends_it(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// Blanks on a last line without a line break say nothing, but the scanner would count that line into a block
/// of text.
fn without_blank_end(text: &str) -> &str {
    let end = text.trim_end_matches(' ');
    if end.is_empty() || end.ends_with('\n') { end } else { text }
}

fn position(file: &Arc<File>, marker: &saphyr_parser::Marker) -> Position {
    at(file, marker.line(), marker.col().saturating_add(1))
}

/// The bytes as text, refused where YAML has no such character. The scanner takes a NUL for the end of the
/// input, so one that came through would hide all that follows it.
fn printable<'a>(file: &Arc<File>, bytes: &'a [u8]) -> Result<&'a str, YamlError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid =
            String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default()).into_owned();
        YamlError { at: end_of(file, &valid), message: "not UTF-8 text".to_owned() }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.char_indices().find(|(_, character)| !is_printable(*character)) {
        None => Ok(text),
        Some((offset, character)) => Err(YamlError {
            at: end_of(file, &text[..offset]),
            message: format!("the character U+{:04X} is not allowed in YAML", u32::from(character)),
        }),
    }
}

fn is_printable(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !character.is_control(),
    }
}

fn end_of(file: &Arc<File>, text: &str) -> Position {
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    at(file, line, column)
}

fn at(file: &Arc<File>, line: usize, column: usize) -> Position {
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Position { file: Arc::clone(file), line: number(line), column: number(column) }
}

#[cfg(test)]
mod tests;

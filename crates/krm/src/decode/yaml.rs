//! YAML as JSON, read by the rules of YAML 1.1 as Kubernetes reads it.

mod build;
mod fault;
mod scalar;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::Value;

use self::build::Builder;
use crate::body;

/// A YAML document, and what a strict reader would hold against it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Yaml {
    /// What it says.
    pub value: Value,
    /// Keys that were given more than once, in words: `line 6: key "size" already set in map`.
    pub duplicates: Vec<String>,
}

/// The text is no YAML, or none that JSON can say: `yaml: line 1: did not find expected node content`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct YamlError(String);

/// Reads the first document of a text; what comes after it is not looked at. No document at all is null.
pub fn read_yaml(text: &[u8]) -> Result<Yaml, YamlError> {
    if let Some(value) = as_json(text) {
        return Ok(Yaml { value, duplicates: Vec::new() });
    }
    let text = without_blank_end(fault::printable(text)?);
    let unterminated_at = (!text.ends_with(['\n', '\r'])).then(|| text.chars().count());
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| fault::of_parser(text, &error))?;
        match event {
            Event::Scalar(content, style, anchor, tag) => {
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let ends_the_text = unterminated_at == Some(span.end.index());
                let content = if is_block && ends_the_text { as_written(&content) } else { &content };
                builder.scalar(content, style, anchor, tag.as_deref(), span.start.line())?;
            }
            Event::SequenceStart(anchor, _) => builder.open_list(anchor, span.start.line())?,
            Event::MappingStart(anchor, _) => builder.open_map(anchor, span.start.line())?,
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Alias(anchor) => builder.alias(anchor, span.start.line())?,
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::DocumentStart(_) | Event::Nothing | Event::StreamStart => {}
        }
    }
    builder.finish()
}

/// Whether a scalar without quotes is that text, and not a number, a yes or nothing.
pub(crate) fn is_plain_text(text: &str) -> bool {
    matches!(scalar::plain(text), Ok(Value::String(_)))
}

/// A block of text on a last line without a line break: YAML 1.2 puts one there, YAML 1.1 does not.
fn as_written(content: &str) -> &str {
    content.strip_suffix('\n').unwrap_or(content)
}

/// Blanks on a last line without a line break say nothing, but the scanner would count that line into a block of text.
fn without_blank_end(text: &str) -> &str {
    let end = text.trim_end_matches(' ');
    if end.is_empty() || end.ends_with('\n') { end } else { text }
}

/// Most YAML that programs send is JSON, which is read much faster as such. Keys that repeat are left to the other way, which
/// words them by their lines.
fn as_json(text: &[u8]) -> Option<Value> {
    if text.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let mut body = body::read(text).ok()?;
    // YAML is made into JSON again before it is read.
    crate::number::reread(&mut body.value);
    body.duplicates.is_empty().then_some(body.value)
}

#[cfg(test)]
mod tests;

//! Go's text/template, as far as `-o go-template` needs it: objects in, text out.
//!
//! Not here are `call`, `js` and complex numbers: nothing in an object could be used with them.

mod arguments;
mod comparisons;
mod floats;
mod formats;
mod functions;
mod items;
mod literals;
mod parse;
mod run;
mod tree;
mod words;

use serde_json::Value;

use parse::Trees;
use run::Run;

/// What the template is called in messages.
const NAME: &str = "output";

/// A template that was read.
pub struct GoTemplate {
    source: String,
    trees: Trees,
    missing_keys_fail: bool,
}

/// Why a template can't be read.
#[derive(Debug)]
pub struct NotRead {
    /// Why, as Go says it: with the line.
    pub message: String,
    /// The line it is on, with a mark below the place.
    pub excerpt: String,
}

impl GoTemplate {
    /// Reads a template.
    pub fn parse(source: &str) -> Result<GoTemplate, NotRead> {
        let trees = parse::read(source).map_err(|wrong| {
            let (line, column) = place(source, wrong.at);
            let text = source.lines().nth(line - 1).unwrap_or("");
            let indent = text.get(..column).unwrap_or("").chars().count();
            NotRead {
                message: format!("template: {NAME}:{}: {}", wrong.line, wrong.why),
                excerpt: format!("  {text}\n  {}^ column {}", " ".repeat(indent), column + 1),
            }
        })?;
        Ok(GoTemplate { source: source.to_owned(), trees, missing_keys_fail: false })
    }

    /// A field that is not there is a failure, instead of `<no value>`.
    pub fn missing_keys_fail(mut self) -> GoTemplate {
        self.missing_keys_fail = true;
        self
    }

    /// What it makes of an object; a failure as Go tells it, with the place.
    pub fn render(&self, object: &Value) -> Result<Vec<u8>, String> {
        Run::new(&self.trees.defined, self.missing_keys_fail).of(&self.trees.root, object).map_err(|failed| {
            let (line, column) = place(&self.source, failed.span.at);
            let text = self.source.get(failed.span.start..failed.span.end).unwrap_or("");
            format!(
                "template: {NAME}:{line}:{column}: executing {} at <{text}>: {}",
                quoted(NAME),
                failed.why
            )
        })
    }

    /// The template as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// The line, from one, and the bytes before it on that line.
fn place(source: &str, at: usize) -> (usize, usize) {
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, column)
}

fn quoted(text: &str) -> String {
    krm::field::quote(text)
}

#[cfg(test)]
mod tests;

//! Output formats and small helpers of text.

use std::io::Write;

use cli::{Failure, Session};
use serde_json::Value;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// The same as YAML.
    Yaml,
    /// Names for other commands, as resource/name.
    Name,
}

/// Prints a value as JSON or YAML.
pub fn value(form: Form, value: &Value, session: &mut Session) -> Result<(), Failure> {
    let text = match form {
        Form::Yaml => krm::encode::to_yaml(value),
        _ => krm::encode::to_json_pretty(value) + "\n",
    };
    Ok(session.console.out.write_all(text.as_bytes())?)
}

/// Prints a line.
pub fn line(text: &str, session: &mut Session) -> Result<(), Failure> {
    Ok(writeln!(session.console.out, "{text}")?)
}

/// Prints rows below their headings, three spaces between columns.
pub fn table(rows: &[Vec<String>], session: &mut Session) -> Result<(), Failure> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("   ").trim_end());
        text.push('\n');
    }
    let shown = cli::headed(&session.console, &text, false);
    Ok(session.console.out.write_all(shown.as_bytes())?)
}

/// Text at a path of a value; empty if there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A number at a path of a value; 0 if there is none.
pub fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

/// Items of a list at a path of a value.
pub fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// The text, or a dash for none.
pub fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

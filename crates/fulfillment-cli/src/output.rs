//! Output formats.

use std::io::Write;

use cli::{Failure, Session};
use serde_json::Value;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people.
    Table,
    /// For people, with more columns.
    Wide,
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

/// Prints fields as `Name:   value`, each value in the same column. Values of several lines are indented.
pub fn fields(fields: &[(&str, String)], session: &mut Session) -> Result<(), Failure> {
    let width = fields.iter().map(|(name, _)| name.len() + 1).max().unwrap_or(0) + 2;
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let mut lines = value.lines();
        let label = format!("{name}:");
        writeln!(session.console.out, "{label:width$}{}", lines.next().unwrap_or_default())?;
        for rest in lines {
            writeln!(session.console.out, "{:width$}{rest}", "")?;
        }
    }
    Ok(())
}

/// Text at a path of a value; empty if there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

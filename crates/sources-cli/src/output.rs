//! What commands print.

use std::io::Write as _;

use cli::{Failure, Session};
use serde_json::Value;

/// How objects are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A table.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
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

/// A text, or a dash.
pub fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

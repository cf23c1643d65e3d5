//! Output: tables with three spaces between columns, JSON and YAML.

use std::io::Write;

use cli::{Failure, Session};
use serde_json::Value;

/// Flags of commands that print objects.
#[derive(clap::Args, Debug, Clone)]
pub struct Flags {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    pub output: Form,

    /// Print no headers.
    #[arg(long)]
    pub no_headers: bool,
}

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
    /// One name in a line.
    Name,
}

impl Form {
    /// Whether it is meant for people.
    pub fn is_for_people(self) -> bool {
        matches!(self, Form::Table | Form::Wide)
    }
}

/// Prints a line.
pub fn line(text: &str, session: &mut Session) -> Result<(), Failure> {
    Ok(writeln!(session.console.out, "{}", text.trim_end_matches(' '))?)
}

/// Prints a value for programs: JSON or YAML, or the names of what `names` yields.
pub fn machine<'a>(
    form: Form,
    value: &Value,
    names: impl Iterator<Item = &'a str>,
    session: &mut Session,
) -> Result<(), Failure> {
    let text = match form {
        Form::Yaml => krm::encode::to_yaml(value),
        Form::Name => names.map(|name| format!("{name}\n")).collect(),
        _ => krm::encode::to_json_pretty(value) + "\n",
    };
    Ok(session.console.out.write_all(text.as_bytes())?)
}

/// Prints rows below their headings, which are the first row.
pub fn table(rows: &[Vec<String>], no_headers: bool, session: &mut Session) -> Result<(), Failure> {
    let text = laid_out(if no_headers { rows.get(1..).unwrap_or_default() } else { rows }, 3);
    let shown = cli::headed(&session.console, &text, no_headers);
    Ok(session.console.out.write_all(shown.as_bytes())?)
}

/// Rows as lines, with columns as wide as their longest cell.
pub fn laid_out(rows: &[Vec<String>], between: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join(&" ".repeat(between)).trim_end());
        text.push('\n');
    }
    text
}

/// Cells from anything that can be shown.
pub fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

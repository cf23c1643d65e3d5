//! Output formats, requests in a project and in the root, and ages.

use std::io::Write;

use cli::{Failure, Session};
use krm::time::Moment;
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

/// The project that a command is about.
pub fn project(session: &Session) -> Result<String, Failure> {
    let project = session.global.project.clone().filter(|project| !project.is_empty());
    project.ok_or_else(|| {
        Failure::usage("no project set").hint("pass --project NAME, or set GROUNDPLANE_PROJECT")
    })
}

/// Text at a path of a value; empty if there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// How long ago a time was, as in `5m`.
pub fn age(time: &str) -> String {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let Ok(then) = Moment::parse(time) else { return "some time".to_owned() };
    let seconds = (i64::try_from(now).unwrap_or(i64::MAX) - then.seconds).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

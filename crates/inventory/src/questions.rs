//! Queries over the inventory: elevation, find-space, trace, impact, tree and summary. Pure functions over the indexes.
//!
//! Each answer is available as JSON and as text, and some as SVG.

pub mod elevation;
pub mod impact;
pub mod space;
pub mod svg;
pub mod trace;
pub mod tree;

use krm::kind::{Answered, Form, Questioned};
use krm::status::Status;
use serde::Serialize;

/// Renders an answer in the requested format.
fn shown(
    asked: &Questioned<'_>,
    answer: &impl Serialize,
    text: impl FnOnce() -> String,
    drawing: Option<&dyn Fn() -> String>,
) -> Result<Answered, Status> {
    match (asked.form, drawing) {
        (Form::Json, _) => serde_json::to_value(answer).map(Answered::Json).map_err(Status::internal),
        (Form::Text, _) => Ok(Answered::Text(text())),
        (Form::Svg, Some(drawing)) => Ok(Answered::Svg(drawing())),
        (Form::Svg, None) => Err(Status::not_acceptable("application/json, application/yaml, text/plain")),
    }
}

/// A table with columns three spaces apart, like kubectl's.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}   "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

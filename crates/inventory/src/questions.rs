//! Queries over the inventory: elevation, find-space, trace, impact, tree and summary. Pure functions over the indexes.
//!
//! Each answer is available as JSON and as text, and some as SVG. An answer names only objects that whoever asks may read:
//! where a reference names another, that one is looked up first.

pub mod elevation;
pub mod impact;
pub mod space;
pub mod svg;
pub mod trace;
pub mod tree;

use krm::kind::{Answered, Form, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::Serialize;

use crate::kinds::device::Lifecycle;
use crate::kinds::{Cable, Circuit, NetworkDevice, Node, Port, Provider, Rack, Region, Site};

/// An object and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stated {
    /// The object, as `Kind/name`.
    pub name: String,
    /// Its state.
    pub state: Lifecycle,
}

/// Whether an answer may name `Kind/name`, or `Rack/name:feed`: it exists, and whoever asks may read it.
pub(crate) fn shows(key: &str, look: &dyn QueryContext) -> bool {
    let Some((kind, name)) = key.split_once('/') else { return false };
    let name = name.split_once(':').map_or(name, |(rack, _)| rack);
    match kind {
        Node::KIND => look.shows::<Node>(name),
        NetworkDevice::KIND => look.shows::<NetworkDevice>(name),
        Rack::KIND => look.shows::<Rack>(name),
        Site::KIND => look.shows::<Site>(name),
        Port::KIND => look.shows::<Port>(name),
        Cable::KIND => look.shows::<Cable>(name),
        Circuit::KIND => look.shows::<Circuit>(name),
        Provider::KIND => look.shows::<Provider>(name),
        Region::KIND => look.shows::<Region>(name),
        _ => false,
    }
}

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

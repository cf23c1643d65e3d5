//! Tables: the columns that the server declares for a kind, with links.

use maud::{Markup, html};
use serde_json::Value;

use crate::kinds::Collection;
use crate::text;
use crate::viewer::Viewer;

/// A column that is shown.
pub struct Column {
    /// Its place among the cells of a row.
    pub at: usize,
    /// Its name.
    pub name: String,
    /// Whether it holds numbers.
    pub is_number: bool,
}

/// The columns of a table of the API: all of them, or those that are always shown.
pub fn columns(table: &Value, wide: bool) -> Vec<Column> {
    let defined = text::items(table, "/columnDefinitions").iter().enumerate();
    let shown = defined.filter(|(_, column)| wide || column["priority"].as_i64().unwrap_or(0) == 0);
    let column = |(at, column): (usize, &Value)| Column {
        at,
        name: text::at(column, "/name").to_owned(),
        is_number: matches!(text::at(column, "/type"), "integer" | "number"),
    };
    shown.map(column).collect()
}

/// The rows of a table.
pub fn rows(table: &Value) -> &[Value] {
    text::items(table, "/rows")
}

/// The text of a cell.
pub fn cell(row: &Value, at: usize) -> String {
    row["cells"].get(at).map(text::shown).unwrap_or_default()
}

/// A cell as it is shown: states have colours, and never by colour alone.
pub fn shown_cell(column: &Column, value: &str) -> Markup {
    let lower = column.name.to_lowercase();
    match (lower.as_str(), value) {
        ("ready" | "available" | "established" | "granted", "True") => html! { span.state.good { "True" } },
        ("ready" | "available" | "established" | "granted", "False") => html! { span.state.bad { "False" } },
        (_, "Unknown" | "Pending" | "Progressing" | "Provisioning") => html! { span.state.wait { (value) } },
        ("phase" | "status" | "state", "Failed" | "Error" | "Lost") => html! { span.state.bad { (value) } },
        (_, "<none>" | "—" | "") => html! { span.muted { "—" } },
        _ => text::foreign(&text::limited(value, 160)),
    }
}

/// The name of the object in a row, linked.
pub fn name(viewer: &Viewer, collection: &Collection, row: &Value) -> Markup {
    let (namespace, name) = identity(row);
    html! { a href=(collection.object_page(viewer, namespace, name, &[])) { (text::foreign(name)) } }
}

/// Namespace and name of the object in a row.
pub fn identity(row: &Value) -> (&str, &str) {
    (text::at(row, "/object/metadata/namespace"), text::at(row, "/object/metadata/name"))
}

/// Orders rows by a column, numbers by their value.
pub fn sort(rows: &mut [Value], at: usize, is_backwards: bool) {
    rows.sort_by(|one, other| {
        let (one, other) = (&one["cells"][at], &other["cells"][at]);
        let order = match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            _ => text::shown(one).to_lowercase().cmp(&text::shown(other).to_lowercase()),
        };
        if is_backwards { order.reverse() } else { order }
    });
}

//! Tables for people, and the same as JSON.

#![allow(clippy::print_stdout, reason = "a report for people: what it prints is what it is for")]

use serde_json::{Value, json};

/// Everything that was measured.
pub struct Report {
    /// Where it was measured.
    pub machine: String,
    tables: Vec<Table>,
}

/// One table of figures.
pub struct Table {
    name: &'static str,
    title: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    note: String,
}

/// One figure.
#[derive(Clone)]
pub enum Cell {
    /// Nothing to say.
    Empty,
    /// Words.
    Text(String),
    /// A figure.
    Number {
        /// The figure.
        value: f64,
        /// How many digits after the point are shown.
        digits: usize,
    },
    /// A figure with a bound that it must keep.
    Bound {
        /// The figure.
        value: f64,
        /// What it must not pass.
        limit: f64,
        /// From which side.
        side: Side,
        /// What it is counted in.
        unit: &'static str,
    },
}

/// On which side of its bound a figure must stay.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Not above it.
    AtMost,
    /// Not below it.
    AtLeast,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A figure.
    pub fn number(value: f64, digits: usize) -> Cell {
        Cell::Number { value, digits }
    }

    /// A ratio that must not be above its limit.
    pub fn at_most(value: f64, limit: f64) -> Cell {
        Cell::Bound { value, limit, side: Side::AtMost, unit: "×" }
    }

    /// A ratio that must not be below its limit.
    pub fn at_least(value: f64, limit: f64) -> Cell {
        Cell::Bound { value, limit, side: Side::AtLeast, unit: "×" }
    }

    /// A time that must not be longer than its limit, in seconds.
    pub fn within(seconds: f64, limit: f64) -> Cell {
        Cell::Bound { value: seconds, limit, side: Side::AtMost, unit: " s" }
    }

    fn holds(&self) -> bool {
        match self {
            Cell::Bound { value, limit, side: Side::AtMost, .. } => value <= limit,
            Cell::Bound { value, limit, side: Side::AtLeast, .. } => value >= limit,
            _ => true,
        }
    }

    fn shown(&self) -> String {
        match self {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Number { value, digits } => grouped(*value, *digits),
            Cell::Bound { value, limit, side, unit } => {
                let sign = if *side == Side::AtMost { "≤" } else { "≥" };
                let digits = if *value < 10.0 { 2 } else { 1 };
                let held = if self.holds() { "ok" } else { "MISSED" };
                format!("{value:.digits$}{unit} ({sign} {limit}) {held}")
            }
        }
    }

    fn to_json(&self) -> Value {
        match self {
            Cell::Empty => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Number { value, .. } => json!(value),
            Cell::Bound { value, limit, .. } => {
                json!({ "value": value, "limit": limit, "ok": self.holds() })
            }
        }
    }
}

impl Table {
    /// An empty table.
    pub fn new(name: &'static str, title: &'static str, columns: &[&'static str]) -> Table {
        Table { name, title, columns: columns.to_vec(), rows: Vec::new(), note: String::new() }
    }

    /// Adds a line; one cell for each column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// What has to be known to read it.
    pub fn note(&mut self, note: &str) {
        self.note = note.to_owned();
    }

    fn print(&self) {
        let shown: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
        let width = |column: usize| {
            let cells = shown.iter().map(|row| row.get(column).map_or(0, |cell| cell.chars().count()));
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.zip(&widths).enumerate().map(|(at, (cell, width))| {
                if at < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        println!("\n{}\n", self.title);
        println!("{}", line(&mut self.columns.iter().copied()));
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        println!("{}", line(&mut rules.iter().map(String::as_str)));
        for row in &shown {
            println!("{}", line(&mut row.iter().map(String::as_str)));
        }
        if !self.note.is_empty() {
            println!("\n({})", self.note);
        }
    }

    fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let cells = self.columns.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), cell.to_json()));
            Value::Object(cells.collect())
        });
        json!({ "name": self.name, "title": self.title, "note": self.note, "rows": rows.collect::<Vec<_>>() })
    }
}

impl Report {
    /// An empty report.
    pub fn new(machine: String) -> Report {
        Report { machine, tables: Vec::new() }
    }

    /// Takes a table in and prints it: a long run is read while it goes on.
    pub fn add(&mut self, table: Table) {
        table.print();
        self.tables.push(table);
    }

    /// Whether every figure keeps its bound.
    pub fn all_floors_hold(&self) -> bool {
        self.tables.iter().flat_map(|table| table.rows.iter().flatten()).all(Cell::holds)
    }

    /// All figures, for machines.
    pub fn to_json(&self) -> String {
        let tables: Vec<Value> = self.tables.iter().map(Table::to_json).collect();
        format!("{:#}\n", json!({ "machine": self.machine, "tables": tables }))
    }
}

/// `1234567.8` as `1,234,568`.
fn grouped(value: f64, digits: usize) -> String {
    let plain = format!("{value:.digits$}");
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

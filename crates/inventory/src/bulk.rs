//! CSV export and import of a kind: one row per object, identified by name; one column per field.

mod cells;
pub mod ends;
mod rows;

use std::collections::BTreeMap;

use krm::Object;
use krm::kind::Kind;
use krm::schema::{JsonType, Node};
use serde_json::{Map, Value};

pub use cells::text;

/// An error in a cell or row, with the fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Number of the row, as a spreadsheet counts: the header is 1.
    pub row: usize,
    /// Header of the column; empty for the whole row.
    pub column: String,
    /// The problem and how to fix it.
    pub problem: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.column.is_empty() {
            true => write!(f, "row {}: {}", self.row, self.problem),
            false => write!(f, "row {}, column {}: {}", self.row, self.column, self.problem),
        }
    }
}

/// A row: an object, as far as its cells describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the row, as a spreadsheet counts: the header is 1.
    pub number: usize,
    /// The object, with the values of the cells.
    pub object: Object,
    /// The revision at which the file was exported, if it has that column.
    pub revision: Option<String>,
    /// The fields with a column, each with the text of its cell. An empty cell clears the field.
    pub given: Vec<(String, String)>,
}

impl Row {
    /// Whether a field of an object equals its cell, possibly in another notation.
    pub fn is_so(&self, object: &Object, column: &str, cell: &str) -> bool {
        text(object, column) == cell || self.value(column) == value_at(object, column)
    }

    /// The value of a cell; `None` if it is empty.
    pub fn value(&self, column: &str) -> Option<&Value> {
        value_at(&self.object, column)
    }
}

/// The path of a column's field in an object.
pub fn path(column: &str) -> &str {
    if column == "labels" { "metadata.labels" } else { column }
}

fn value_at<'a>(object: &'a Object, column: &str) -> Option<&'a Value> {
    object.at(path(column))
}

/// The first columns of every file.
const FIRST: [&str; 3] = ["name", "revision", "labels"];

/// The columns of a kind: name, revision, labels and every field of `spec`. Lists and maps are JSON in one cell.
pub fn columns(kind: &Kind) -> Vec<String> {
    let mut columns = FIRST.map(str::to_owned).to_vec();
    if let Some(spec) = kind.stored().schema.root().property("spec") {
        flatten(spec, "spec", &mut columns);
    }
    columns
}

fn flatten(node: &Node, path: &str, columns: &mut Vec<String>) {
    for (name, inner) in node.properties() {
        let path = format!("{path}.{name}");
        match inner.json_type() == Some(JsonType::Object) && inner.properties().next().is_some() {
            true => flatten(inner, &path, columns),
            false => columns.push(path),
        }
    }
}

/// Objects as CSV: a header and a row for each. Empty columns are omitted.
pub fn write(kind: &Kind, objects: &[Object], revision: Option<&str>) -> String {
    written(kind, objects, revision, None)
}

/// Gives the cells of the ends of a cable.
pub type EndsOf<'a> = &'a dyn Fn(&Object) -> [String; 4];

/// Cables as CSV, with their ends by device and port name: `ends` gives the cells of [`ends::COLUMNS`].
pub fn write_cables(kind: &Kind, objects: &[Object], revision: Option<&str>, ends: EndsOf<'_>) -> String {
    written(kind, objects, revision, Some(ends))
}

fn written(kind: &Kind, objects: &[Object], revision: Option<&str>, ends: Option<EndsOf<'_>>) -> String {
    let cell = |object: &Object, column: &str| {
        let at = ends::COLUMNS.iter().position(|known| *known == column);
        match (column, ends, at) {
            ("revision", ..) => revision.unwrap_or_default().to_owned(),
            (_, Some(ends), Some(at)) => ends(object)[at].clone(),
            (column, ..) => text(object, column),
        }
    };
    let is_used =
        |column: &String| column == "name" || objects.iter().any(|object| !cell(object, column).is_empty());
    let named =
        columns(kind).into_iter().flat_map(|column| match column == ends::ENDPOINTS && ends.is_some() {
            true => ends::COLUMNS.map(str::to_owned).to_vec(),
            false => vec![column],
        });
    let columns: Vec<String> = named.filter(is_used).collect();
    let mut text = rows::line(&columns);
    for object in objects {
        let cells: Vec<String> = columns.iter().map(|column| cell(object, column)).collect();
        text.push_str(&rows::line(&cells));
    }
    text
}

/// Parses a CSV file, or returns all errors in it.
pub fn read(kind: &Kind, text: &str) -> Result<Vec<Row>, Vec<Fault>> {
    let mut rows = rows::parse(text).map_err(|fault| vec![fault])?.into_iter();
    let Some((_, header)) = rows.next() else {
        let problem = format!(
            "the header row is missing; start it with name,{}",
            columns(kind)[FIRST.len()..].join(",")
        );
        return Err(vec![Fault { row: 1, column: String::new(), problem }]);
    };
    let header: Vec<String> = header.iter().map(|column| column.trim().to_owned()).collect();
    let mut faults = header_faults(kind, &header);
    if !faults.is_empty() {
        return Err(faults);
    }
    let (mut found, mut seen) = (Vec::new(), BTreeMap::new());
    for (row, mut cells) in rows {
        let object = object(kind, &header, &cells, row, &mut faults);
        if let Some(first) = seen.insert(object.name().to_owned(), row) {
            let problem = format!("duplicate name: {} is already in row {first}", object.name());
            faults.push(Fault { row, column: "name".into(), problem });
        }
        cells.resize(header.len(), String::new());
        let (mut given, mut revision) = (Vec::new(), None);
        for (column, cell) in header.iter().zip(cells) {
            match column.as_str() {
                "name" => {}
                "revision" => revision = Some(cell).filter(|cell| !cell.is_empty()),
                column => given.push((column.to_owned(), cell)),
            }
        }
        found.push(Row { number: row, object, revision, given });
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// The schema errors of a row for a new object: missing and invalid values.
pub fn faults_of_new(kind: &Kind, row: &Row) -> Vec<Fault> {
    let value = Value::Object(row.object.0.clone());
    let fault = |(column, error): (String, krm::field::FieldError)| {
        let is_given = row.given.iter().any(|(given, _)| *given == column);
        let problem = match error.message() {
            message if message != "Required value" => message,
            message if is_given => format!("{message}; fill the cell"),
            message if column == ends::ENDPOINTS && kind.names.kind == "Cable" => format!(
                "{message}; add the columns {}: {} does not exist yet",
                ends::COLUMNS.join(", "),
                row.object.name()
            ),
            message => format!("{message}; add this column: {} does not exist yet", row.object.name()),
        };
        Fault { row: row.number, column, problem }
    };
    let errors = kind.stored().schema.validate(&value, None).into_iter();
    let by_column = errors.flat_map(|error| {
        let columns = missing_columns(kind, &error.field);
        columns.into_iter().map(move |column| (column, error.clone()))
    });
    by_column.map(fault).collect()
}

/// The columns that a missing field needs: itself, or all required fields in it.
fn missing_columns(kind: &Kind, field: &str) -> Vec<String> {
    let Some(node) = node_at(kind, field) else { return vec![field.to_owned()] };
    let inner: Vec<String> = node
        .required()
        .iter()
        .filter(|_| node.json_type() == Some(JsonType::Object))
        .flat_map(|name| missing_columns(kind, &format!("{field}.{name}")))
        .collect();
    if inner.is_empty() { vec![field.to_owned()] } else { inner }
}

/// The columns of a kind, as they are told to people: the ends of cables by device and port.
fn told_columns(kind: &Kind, columns: &[String]) -> String {
    let is_cable = kind.names.kind == "Cable";
    let told = columns.iter().map(|column| match is_cable && column == ends::ENDPOINTS {
        true => ends::COLUMNS.join(", "),
        false => column.clone(),
    });
    told.collect::<Vec<String>>().join(", ")
}

fn header_faults(kind: &Kind, header: &[String]) -> Vec<Fault> {
    let known = columns(kind);
    let fault = |column: &str, problem: String| Fault { row: 1, column: column.to_owned(), problem };
    let mut faults = Vec::new();
    if !header.iter().any(|column| column == "name") {
        faults.push(fault("name", "this column is required: it names the object of each row".into()));
    }
    for column in header.iter().filter(|column| !known.contains(column)) {
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_lowercase();
        let near = known.iter().find(|other| {
            last(other) == last(column) || other.to_lowercase().ends_with(&column.to_lowercase())
        });
        let hint = near.map_or_else(
            || format!("columns are {}", told_columns(kind, &known)),
            |near| format!("did you mean {near}?"),
        );
        faults.push(fault(column, format!("{} has no such field; {hint}", kind.names.kind)));
    }
    faults
}

fn object(kind: &Kind, header: &[String], cells: &[String], row: usize, faults: &mut Vec<Fault>) -> Object {
    let mut object = Object::new(&kind.api_version(&kind.stored().name), &kind.names.kind);
    let mut spec = Map::new();
    if cells.len() > header.len() {
        let problem = format!(
            "the row has {} cells, the header {}; quote cells that contain a comma",
            cells.len(),
            header.len()
        );
        faults.push(Fault { row, column: String::new(), problem });
    }
    for (column, cell) in header.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
        let mut fault = |problem: String| faults.push(Fault { row, column: column.clone(), problem });
        match column.as_str() {
            "name" => object.set_meta("name", Some(cell.as_str().into())),
            "revision" if cell.bytes().all(|byte| byte.is_ascii_digit()) => {}
            "revision" => {
                fault(format!("{cell:?} is not a revision; keep the exported value, or remove the column"))
            }
            "labels" => match cells::labels(cell) {
                Ok(labels) => object.set_meta("labels", Some(labels.into())),
                Err(problem) => fault(problem),
            },
            path => match cells::typed(node_at(kind, path), cell) {
                Ok(value) => put(&mut spec, path.trim_start_matches("spec."), value),
                Err(problem) => fault(problem),
            },
        }
    }
    if object.name().is_empty() {
        faults.push(Fault {
            row,
            column: "name".into(),
            problem: "empty; every row needs the name of its object".into(),
        });
    }
    object.set("spec", Some(spec.into()));
    object
}

fn node_at<'a>(kind: &'a Kind, path: &str) -> Option<&'a Node> {
    let mut node = kind.stored().schema.root();
    for step in path.split('.') {
        node = node.property(step)?;
    }
    Some(node)
}

fn put(map: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(map.insert(path.to_owned(), value)),
        Some((first, rest)) => {
            let inner = map.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{Size, fleet};

    #[test]
    fn every_kind_goes_out_and_comes_back_the_same() {
        let objects = fleet(Size::SMALL, 3);
        for kind in crate::kinds::all() {
            let of_kind: Vec<Object> =
                objects.iter().filter(|object| object.kind() == kind.names.kind).cloned().collect();
            let text = write(&kind, &of_kind, Some("7"));
            let back = read(&kind, &text).unwrap_or_else(|faults| panic!("{}: {faults:?}", kind.names.kind));
            assert!(back.iter().all(|row| faults_of_new(&kind, row).is_empty()), "{text}");
            assert!(back.iter().all(|row| row.revision.as_deref() == Some("7")), "{text}");
            for (row, object) in back.iter().zip(&of_kind) {
                assert!(row.given.iter().all(|(column, cell)| row.is_so(object, column, cell)), "{text}");
            }
            let back: Vec<Object> = back.into_iter().map(|row| row.object).collect();
            assert_eq!(back, of_kind, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_row_and_column_with_what_would_be_right() {
        let racks = crate::kinds::all().into_iter().find(|kind| kind.names.kind == "Rack").unwrap();
        let told = |text: &str| {
            let faults = read(&racks, text).unwrap_err();
            faults.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
        };
        assert_eq!(
            told("name,heightU\nr1,42\n"),
            "row 1, column heightU: Rack has no such field; did you mean spec.heightU?"
        );
        let faults = told(
            "name,spec.heightU,spec.siteRef.name,spec.powerFeeds\nr1,tall,s,\n,42,s,\nr3,42,s,A\nr4,42,,\nr4,42,s,\n",
        );
        for line in [
            "row 2, column spec.heightU: \"tall\" is not an integer; use digits such as 42",
            "row 3, column name: empty; every row needs the name of its object",
            "row 4, column spec.powerFeeds: must be JSON, such as [{\"name\":\"A\"}]",
            "row 6, column name: duplicate name: r4 is already in row 5",
        ] {
            assert!(faults.contains(line), "{line}\n in\n{faults}");
        }
        let rows = read(&racks, "name,spec.heightU,spec.row\nr4,42,\n").unwrap();
        let given: Vec<&str> = rows[0].given.iter().map(|(column, _)| column.as_str()).collect();
        assert_eq!(given, ["spec.heightU", "spec.row"]);
        assert_eq!(
            faults_of_new(&racks, &rows[0])[0].to_string(),
            "row 2, column spec.siteRef.name: Required value; add this column: r4 does not exist yet"
        );
        let nodes = crate::kinds::all().into_iter().find(|kind| kind.names.kind == "Node").unwrap();
        let rows = read(&nodes, "name\nn1\n").unwrap();
        let mut columns: Vec<String> =
            faults_of_new(&nodes, &rows[0]).into_iter().map(|fault| fault.column).collect();
        columns.sort_unstable();
        assert_eq!(
            columns,
            [
                "spec.hardware.cpuArchitecture",
                "spec.hardware.cpuCores",
                "spec.hardware.memoryBytes",
                "spec.siteRef.name"
            ],
            "all missing columns at once"
        );
        assert!(
            told("name,revision\nr1,then\n").contains("row 2, column revision: \"then\" is not a revision")
        );
        assert_eq!(told("name,spec.row\nr1,\"A\n"), "row 2: unterminated quoted cell; close it with \"");
    }
}

//! Reads import files: manifests as written, rows of CSV files merged into the existing objects.

use std::collections::BTreeMap;
use std::path::Path;

use cli::{Client, Failure, FileFlags, Session};
use inventory::bulk::{self, Fault, Row};
use krm::Object;
use serde_json::Value;

use super::desired::{Desired, Existing, set};
use super::export::kind_of;
use super::ports::Ports;
use super::{ORDER, as_written};
use crate::change::name_of;
use crate::list::select::Selection;
use crate::list::{self, Listed, kinds};

/// An import file.
pub struct Source {
    file: String,
    /// The kind of a CSV file.
    sheet: Option<&'static Listed>,
}

/// The server's objects, read as needed.
pub struct Reading<'a> {
    client: &'a Client,
    /// Current objects.
    pub existing: Existing,
    /// Objects at the revisions of exported CSV files, by kind and revision.
    past: BTreeMap<(&'static str, String), BTreeMap<String, Object>>,
    /// Whether fields that changed since the export are overwritten.
    overwrites: bool,
    /// Ports of the files that were read, by which cables may name their ends.
    imported_ports: Vec<Value>,
}

impl<'a> Reading<'a> {
    /// Without any objects yet.
    pub fn new(client: &'a Client, overwrites: bool) -> Reading<'a> {
        let (existing, past) = (Existing::new(), BTreeMap::new());
        Reading { client, existing, past, overwrites, imported_ports: Vec::new() }
    }

    /// Reads all files, or tells what is wrong with each. Cables come last: their ends may be ports of the other files.
    pub async fn read(&mut self, sources: &[Source], session: &mut Session) -> Result<Vec<Desired>, Failure> {
        let (cables, others): (Vec<&Source>, Vec<&Source>) =
            sources.iter().partition(|source| source.sheet.is_some_and(|sheet| sheet.kind == "Cable"));
        let (mut desired, mut failures) = (Vec::new(), Vec::new());
        for source in others.into_iter().chain(cables) {
            match source.read(self, session).await {
                Ok(found) => {
                    let ports = found.iter().filter(|one| one.object["kind"] == "Port");
                    self.imported_ports.extend(ports.map(|one| one.object.clone()));
                    desired.extend(found);
                }
                Err(Failure::Several(told)) => failures.extend(told),
                Err(failure) => return Err(failure),
            }
        }
        if failures.is_empty() {
            return Ok(desired);
        }
        failures.retain(|failure| !matches!(failure, Failure::Bare(_)));
        failures.push(Failure::Bare(
            "nothing was imported; fix the errors above and run the command again".to_owned(),
        ));
        Err(Failure::Several(failures))
    }

    /// Lists the objects of a kind, once.
    async fn load(&mut self, listed: &Listed) -> Result<(), Failure> {
        // Marks a kind as listed: no object has an empty name.
        let mark = (listed.kind.to_owned(), String::new());
        if self.existing.contains_key(&mark) {
            return Ok(());
        }
        let found = Selection::all(listed.plural).every(self.client).await?;
        self.existing.insert(mark, Value::Null);
        for object in found.items {
            let name = object["metadata"]["name"].as_str().unwrap_or("").to_owned();
            self.existing.insert((listed.kind.to_owned(), name), object);
        }
        Ok(())
    }

    /// The current object.
    fn current(&self, listed: &Listed, name: &str) -> Option<Object> {
        let found = self.existing.get(&(listed.kind.to_owned(), name.to_owned()))?;
        Object::from_value(as_written(found))
    }

    /// The object at the revision of the export; `None` if it is unknown or irrelevant.
    async fn exported(&mut self, listed: &Listed, row: &Row) -> Result<Option<Object>, Failure> {
        let Some(revision) = row.revision.clone().filter(|_| !self.overwrites) else { return Ok(None) };
        let key = (listed.plural, revision);
        if !self.past.contains_key(&key) {
            let selection = Selection { as_of: Some(key.1.clone()), ..Selection::all(listed.plural) };
            let found = selection.every(self.client).await.map_err(|failure| {
                failure.hint(
                    "this server does not know the revision of the CSV file; remove its revision column, or pass \
                     --overwrite to import it as it is",
                )
            })?;
            let objects = found.items.iter().filter_map(|item| Object::from_value(as_written(item)));
            let objects = objects.map(|object| (object.name().to_owned(), object)).collect();
            self.past.insert(key.clone(), objects);
        }
        Ok(self.past.get(&key).and_then(|objects| objects.get(row.object.name())).cloned())
    }
}

impl Source {
    /// The import files, including those in directories.
    pub fn all(files: &[String], kind: Option<&str>) -> Result<Vec<Source>, Failure> {
        let mut sources = Vec::new();
        for file in files {
            match Path::new(file).is_dir() {
                false => sources.push(Source::of(file, kind)?),
                true => {
                    for file in inside(file)? {
                        sources.push(Source::of(&file, kind)?);
                    }
                }
            }
        }
        Ok(sources)
    }

    fn of(file: &str, kind: Option<&str>) -> Result<Source, Failure> {
        if !ends_in(Path::new(file), &["csv"]) {
            return Ok(Source { file: file.to_owned(), sheet: None });
        }
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let word = kind.map_or_else(|| stem.unwrap_or_default(), str::to_owned);
        let sheet = kinds::named(&word).map_err(|failure| match kind {
            Some(_) => failure,
            None => Failure::usage(format!("cannot determine the kind of {file} from its name"))
                .hint("pass --kind, such as --kind nodes, or rename the file to nodes.csv"),
        })?;
        Ok(Source { file: file.to_owned(), sheet: Some(sheet) })
    }

    /// Reads the desired objects.
    async fn read(&self, reading: &mut Reading<'_>, session: &mut Session) -> Result<Vec<Desired>, Failure> {
        match self.sheet {
            Some(listed) => self.read_sheet(listed, reading).await,
            None => self.read_manifests(reading, session).await,
        }
    }

    async fn read_sheet(&self, listed: &Listed, reading: &mut Reading<'_>) -> Result<Vec<Desired>, Failure> {
        let bytes = std::fs::read(&self.file);
        let bytes = bytes.map_err(|error| Failure::other(format!("cannot read {}: {error}", self.file)))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::other(format!("{} is not in UTF-8", self.file)).hint("save it as \"CSV UTF-8\"")
        })?;
        let kind = kind_of(listed)?;
        let text = self.with_ends(listed, text, reading).await?;
        let rows = bulk::read(&kind, &text).map_err(|faults| self.faulty(&faults))?;
        reading.load(listed).await?;
        let (mut desired, mut faults) = (Vec::new(), Vec::new());
        for row in rows {
            let name = row.object.name();
            let object = match reading.current(listed, name) {
                Some(now) if row.given.iter().all(|(column, cell)| row.is_so(&now, column, cell)) => now,
                Some(now) => {
                    let then = reading.exported(listed, &row).await?;
                    merge_row(&now, then.as_ref(), &row, &mut faults)
                }
                None => {
                    if reading.exported(listed, &row).await?.is_some() {
                        let problem = format!(
                            "{} {name} was deleted since the export; remove the row, or pass --overwrite to create it again",
                            listed.kind
                        );
                        faults.push(Fault { row: row.number, column: String::new(), problem });
                    }
                    faults.extend(bulk::faults_of_new(&kind, &row));
                    row.object.clone()
                }
            };
            let object = Value::Object(object.0);
            desired.push(Desired { object, file: self.file.clone(), row: Some(row.number) });
        }
        told_once(&mut faults);
        if faults.is_empty() { Ok(desired) } else { Err(self.faulty(&faults)) }
    }

    /// A file of cables with their ends by device and port name, with `spec.endpoints` instead.
    async fn with_ends(
        &self,
        listed: &Listed,
        text: String,
        reading: &mut Reading<'_>,
    ) -> Result<String, Failure> {
        let header = text.lines().next().unwrap_or("");
        if listed.kind != "Cable" || !bulk::ends::COLUMNS.iter().any(|column| header.contains(column)) {
            return Ok(text);
        }
        let mut ports = Selection::all("ports").every(reading.client).await?.items;
        let imported: BTreeMap<&str, &Value> =
            reading.imported_ports.iter().map(|port| (name_of(port), port)).collect();
        ports.retain(|port| !imported.contains_key(name_of(port)));
        ports.extend(imported.into_values().cloned());
        let ports = Ports::of(ports);
        let resolved = bulk::ends::resolve(&text, &|device, port| ports.find(device, port));
        Ok(resolved.map_err(|faults| self.faulty(&faults))?.unwrap_or(text))
    }

    async fn read_manifests(
        &self,
        reading: &mut Reading<'_>,
        session: &mut Session,
    ) -> Result<Vec<Desired>, Failure> {
        let files = FileFlags { filenames: vec![self.file.clone()], ..FileFlags::default() };
        let mut desired = Vec::new();
        for manifest in files.read(&mut session.console)? {
            let kind = manifest.object["kind"].as_str().unwrap_or("");
            let listed = list::all().iter().find(|listed| listed.kind == kind).ok_or_else(|| {
                Failure::other(format!(
                    "unsupported kind {} in {} (import handles: {})",
                    krm::field::quote(kind),
                    self.file,
                    ORDER.join(", ")
                ))
                .hint("use \"groundplane apply -f\" for other kinds")
            })?;
            reading.load(listed).await?;
            let object = as_written(&manifest.object);
            desired.push(Desired { object, file: manifest.place(), row: None });
        }
        Ok(desired)
    }

    fn faulty(&self, faults: &[Fault]) -> Failure {
        let mut told: Vec<Failure> =
            faults.iter().map(|fault| Failure::other(format!("{} {fault}", self.file))).collect();
        told.push(Failure::Bare(
            "nothing was imported; fix the errors above and run the command again".to_owned(),
        ));
        Failure::Several(told)
    }
}

/// Tells a column that is missing once, not for every row.
fn told_once(faults: &mut Vec<Fault>) {
    let mut seen = std::collections::BTreeSet::new();
    faults.retain(|fault| {
        let is_missing = fault.problem.starts_with("Required value; add th");
        !is_missing || seen.insert(fault.column.clone())
    });
}

/// Merges a row into an object: cells set fields, empty cells clear them, fields without a column keep their value. A cell
/// that equals the exported value changes nothing; an edited cell whose field somebody else changed is a conflict.
fn merge_row(now: &Object, then: Option<&Object>, row: &Row, faults: &mut Vec<Fault>) -> Object {
    let mut object = now.clone();
    for (column, cell) in &row.given {
        if row.is_so(now, column, cell) || then.is_some_and(|then| row.is_so(then, column, cell)) {
            continue;
        }
        let (is, was) = (bulk::text(now, column), then.map(|then| bulk::text(then, column)));
        if let Some(was) = was.filter(|was| *was != is) {
            let problem = format!(
                "conflict: the file changes {was:?} to {cell:?}, but the field was changed to {is:?} since the export; enter {is:?} to keep it, or pass --overwrite"
            );
            faults.push(Fault { row: row.number, column: column.clone(), problem });
            continue;
        }
        set(&mut object.0, bulk::path(column), row.value(column).cloned());
    }
    object
}

/// The import files of a directory, sorted by name.
fn inside(folder: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::other(format!("cannot read the directory {folder}: {error}"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && ends_in(&path, &["csv", "yaml", "yml", "json"]) {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(Failure::other(format!("no files to import in {folder}"))
            .hint("import reads .csv, .yaml, .yml and .json files of a directory")),
        false => Ok(files),
    }
}

fn ends_in(path: &Path, ends: &[&str]) -> bool {
    path.extension().is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Fails if an object occurs twice.
pub fn check_unique(desired: &[Desired]) -> Result<(), Failure> {
    let mut seen: BTreeMap<(String, String), &Desired> = BTreeMap::new();
    for one in desired {
        if let Some(first) = seen.insert(one.key(), one) {
            let (kind, name) = one.key();
            return Err(Failure::other(format!(
                "{kind} {name} is in both {} and {}; remove one of them",
                first.position(),
                one.position()
            )));
        }
    }
    Ok(())
}

impl Desired {
    /// The position in the file: `racks.csv row 4`, or file and line.
    pub fn position(&self) -> String {
        self.row.map_or_else(|| self.file.clone(), |row| format!("{} row {row}", self.file))
    }

    /// An error message with its position.
    pub fn error(&self, field: &str, message: &str) -> String {
        let (kind, name) = self.key();
        // The position names the object already.
        let message = message.strip_prefix(&format!("{kind} {name}: ")).unwrap_or(message);
        match (field, self.row) {
            ("", _) => format!("{}: {kind} {name}: {message}", self.position()),
            (field, Some(_)) => format!("{}, column {field}: {message}", self.position()),
            (field, None) => format!("{}: {kind} {name}: {field}: {message}", self.position()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rack(row: &str, cage: &str) -> Object {
        let spec = json!({"siteRef": {"name": "s"}, "heightU": 42, "row": row, "cage": cage});
        Object::from_value(json!({"kind": "Rack", "metadata": {"name": "r1"}, "spec": spec})).unwrap()
    }

    fn laid(then: Option<&Object>, now: &Object, sheet: &str) -> Result<Object, String> {
        let kind = kind_of(kinds::named("racks").unwrap()).unwrap();
        let rows = bulk::read(&kind, sheet).unwrap();
        let mut faults = Vec::new();
        let object = merge_row(now, then, &rows[0], &mut faults);
        match faults.first() {
            Some(fault) => Err(fault.to_string()),
            None => Ok(object),
        }
    }

    #[test]
    fn cells_that_nobody_edited_leave_what_others_have_changed() {
        let (then, now) = (rack("A", "C-01"), rack("B", "C-01"));
        let sheet = "name,revision,spec.row,spec.cage\nr1,7,A,C-02\n";
        assert_eq!(laid(Some(&then), &now, sheet), Ok(rack("B", "C-02")));
        assert_eq!(laid(None, &now, sheet), Ok(rack("A", "C-02")), "nobody knows what it was");
    }

    #[test]
    fn what_two_have_changed_is_a_conflict_unless_they_agree() {
        let (then, now) = (rack("A", ""), rack("B", ""));
        assert_eq!(
            laid(Some(&then), &now, "name,revision,spec.row\nr1,7,C\n").unwrap_err(),
            "row 2, column spec.row: conflict: the file changes \"A\" to \"C\", but the field was changed to \"B\" since the export; enter \"B\" to keep it, or pass --overwrite"
        );
        assert_eq!(laid(Some(&then), &now, "name,revision,spec.row\nr1,7,B\n"), Ok(now));
    }

    #[test]
    fn another_spelling_of_the_same_is_no_change() {
        let now = Object::from_value(json!({
            "kind": "Rack", "metadata": {"name": "r1"}, "spec": {"heightU": 42, "cage": "", "reservations": []},
        }));
        let now = now.unwrap();
        assert_eq!(laid(None, &now, "name,spec.heightU,spec.cage,spec.reservations\nr1,42.0,,[]\n"), Ok(now));
    }
}

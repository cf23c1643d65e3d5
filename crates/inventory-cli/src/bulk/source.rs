//! What files want: manifests as they are written, rows of spreadsheets laid over what is there.

use std::collections::BTreeMap;
use std::path::Path;

use cli::{Client, Failure, FileFlags, Session};
use inventory::bulk::{self, Fault, Row};
use krm::Object;
use serde_json::Value;

use super::desired::{Desired, Existing, set};
use super::export::kind_of;
use super::{ORDER, as_written};
use crate::list::select::Selection;
use crate::list::{self, Listed, kinds};

/// A file, and what it is.
pub struct Source {
    file: String,
    /// The kind of a spreadsheet.
    sheet: Option<&'static Listed>,
}

/// What is known of the server while files are read.
pub struct Reading<'a> {
    client: &'a Client,
    /// What there is.
    pub existing: Existing,
    /// What there was, by kind and revision, of the revisions that spreadsheets were written at.
    past: BTreeMap<(&'static str, String), BTreeMap<String, Object>>,
    /// Whether what was changed since is overwritten.
    overwrites: bool,
}

impl<'a> Reading<'a> {
    /// Nothing is known yet.
    pub fn new(client: &'a Client, overwrites: bool) -> Reading<'a> {
        Reading { client, existing: Existing::new(), past: BTreeMap::new(), overwrites }
    }

    /// Lists what there is of a kind, once.
    async fn know(&mut self, listed: &Listed) -> Result<(), Failure> {
        // A mark for a kind that was listed: no object has an empty name.
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

    /// An object as it is now.
    fn now(&self, listed: &Listed, name: &str) -> Option<Object> {
        let found = self.existing.get(&(listed.kind.to_owned(), name.to_owned()))?;
        Object::from_value(as_written(found))
    }

    /// An object as it was when a row was written; nothing where that is not known or does not matter.
    async fn then(&mut self, listed: &Listed, row: &Row) -> Result<Option<Object>, Failure> {
        let Some(revision) = row.revision.clone().filter(|_| !self.overwrites) else { return Ok(None) };
        let key = (listed.plural, revision);
        if !self.past.contains_key(&key) {
            let selection = Selection { as_of: Some(key.1.clone()), ..Selection::all(listed.plural) };
            let found = selection.every(self.client).await.map_err(|failure| {
                failure.hint(
                    "the spreadsheet is of a revision that this server does not know; without its column revision, \
                     or with --overwrite, it is imported as it is",
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
    /// Files by their names, and those in folders.
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
            None => Failure::usage(format!("the name of {file} does not tell of which kind its rows are"))
                .hint("add --kind, as in --kind nodes, or call it nodes.csv"),
        })?;
        Ok(Source { file: file.to_owned(), sheet: Some(sheet) })
    }

    /// What it wants.
    pub async fn read(
        &self,
        reading: &mut Reading<'_>,
        session: &mut Session,
    ) -> Result<Vec<Desired>, Failure> {
        match self.sheet {
            Some(listed) => self.read_sheet(listed, reading).await,
            None => self.read_manifests(reading, session).await,
        }
    }

    async fn read_sheet(&self, listed: &Listed, reading: &mut Reading<'_>) -> Result<Vec<Desired>, Failure> {
        let bytes = std::fs::read(&self.file);
        let bytes = bytes.map_err(|error| Failure::other(format!("reading {}: {error}", self.file)))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::other(format!("{} is not in UTF-8", self.file))
                .hint("save it as \"CSV UTF-8\", as spreadsheets call it")
        })?;
        let kind = kind_of(listed)?;
        let rows = bulk::read(&kind, &text).map_err(|faults| self.faulty(&faults))?;
        reading.know(listed).await?;
        let (mut desired, mut faults) = (Vec::new(), Vec::new());
        for row in rows {
            let name = row.object.name();
            let object = match reading.now(listed, name) {
                Some(now) if row.given.iter().all(|(column, cell)| row.is_so(&now, column, cell)) => now,
                Some(now) => {
                    let then = reading.then(listed, &row).await?;
                    laid_over(&now, then.as_ref(), &row, &mut faults)
                }
                None => {
                    if reading.then(listed, &row).await?.is_some() {
                        let problem = format!(
                            "{} {name} was deleted since this was exported; leave the row out, or make it again with --overwrite",
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
        if faults.is_empty() { Ok(desired) } else { Err(self.faulty(&faults)) }
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
                .hint("\"groundplane apply -f\" takes every kind that the server has")
            })?;
            reading.know(listed).await?;
            let object = as_written(&manifest.object);
            desired.push(Desired { object, file: manifest.place(), row: None });
        }
        Ok(desired)
    }

    fn faulty(&self, faults: &[Fault]) -> Failure {
        let mut told: Vec<Failure> =
            faults.iter().map(|fault| Failure::other(format!("{} {fault}", self.file))).collect();
        told.push(Failure::Bare("nothing was changed".to_owned()));
        Failure::Several(told)
    }
}

/// An object with what a row says of it: given cells are set, empty ones cleared, the rest stays. A cell that is as it was
/// exported says nothing; one that was edited while somebody else changed the field is a conflict.
fn laid_over(now: &Object, then: Option<&Object>, row: &Row, faults: &mut Vec<Fault>) -> Object {
    let mut object = now.clone();
    for (column, cell) in &row.given {
        if row.is_so(now, column, cell) || then.is_some_and(|then| row.is_so(then, column, cell)) {
            continue;
        }
        let (is, was) = (bulk::text(now, column), then.map(|then| bulk::text(then, column)));
        if let Some(was) = was.filter(|was| *was != is) {
            let problem = format!(
                "it is to be {cell:?} and was {was:?}, but somebody has made it {is:?} since; write {is:?} to leave it so, or --overwrite"
            );
            faults.push(Fault { row: row.number, column: column.clone(), problem });
            continue;
        }
        set(&mut object.0, bulk::path(column), row.value(column).cloned());
    }
    object
}

/// The files of a folder that can be imported, by name.
fn inside(folder: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::other(format!("reading the folder {folder}: {error}"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && ends_in(&path, &["csv", "yaml", "yml", "json"]) {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(Failure::other(format!("there is nothing to import in {folder}"))
            .hint("files of a folder are taken by their ending: .csv, .yaml, .yml, .json")),
        false => Ok(files),
    }
}

fn ends_in(path: &Path, ends: &[&str]) -> bool {
    path.extension().is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// No object may be told of twice.
pub fn told_once(desired: &[Desired]) -> Result<(), Failure> {
    let mut seen: BTreeMap<(String, String), &Desired> = BTreeMap::new();
    for one in desired {
        if let Some(first) = seen.insert(one.key(), one) {
            let (kind, name) = one.key();
            return Err(Failure::other(format!(
                "{kind} {name} is in {} and in {}; leave one of them out",
                first.place(),
                one.place()
            )));
        }
    }
    Ok(())
}

impl Desired {
    /// `racks.csv row 4`, or the file and line.
    pub fn place(&self) -> String {
        self.row.map_or_else(|| self.file.clone(), |row| format!("{} row {row}", self.file))
    }

    /// What is wrong, with its place.
    pub fn told(&self, field: &str, message: &str) -> String {
        let (kind, name) = self.key();
        // The object is named already.
        let message = message.strip_prefix(&format!("{kind} {name}: ")).unwrap_or(message);
        match (field, self.row) {
            ("", _) => format!("{}: {kind} {name}: {message}", self.place()),
            (field, Some(_)) => format!("{}, column {field}: {message}", self.place()),
            (field, None) => format!("{}: {kind} {name}: {field}: {message}", self.place()),
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
        let object = laid_over(now, then, &rows[0], &mut faults);
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
            "row 2, column spec.row: it is to be \"C\" and was \"A\", but somebody has made it \"B\" since; write \"B\" to leave it so, or --overwrite"
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

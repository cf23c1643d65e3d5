//! Columns that the user names: `-o custom-columns=NAME:.metadata.name,SIZE:.spec.size`.

use std::io::Write;

use krm::jsonpath::JsonPath;
use serde_json::Value;

use super::{go, path};
use crate::failure::Failure;
use crate::tabs;

/// Headers and the paths below them.
pub struct CustomColumns {
    columns: Vec<(String, JsonPath)>,
    no_headers: bool,
}

impl CustomColumns {
    /// Reads `HEADER:path,HEADER:path`.
    pub fn parse(text: &str, no_headers: bool) -> Result<CustomColumns, Failure> {
        let mut columns = Vec::new();
        for part in text.split(',') {
            let Some((header, expression)) = part.split_once(':') else {
                return Err(Failure::usage(format!(
                    "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
                )));
            };
            columns.push((header.to_owned(), path(expression)?));
        }
        Ok(CustomColumns { columns, no_headers })
    }

    /// Reads a file of two lines: headers, and paths below them.
    pub fn of_file(text: &str, no_headers: bool) -> Result<CustomColumns, Failure> {
        let mut lines = text.lines();
        let (headers, paths) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        let (headers, paths): (Vec<&str>, Vec<&str>) =
            (headers.split_whitespace().collect(), paths.split_whitespace().collect());
        if headers.is_empty() || headers.len() != paths.len() {
            return Err(Failure::usage(format!(
                "number of headers ({}) and field specifications ({}) don't match",
                headers.len(),
                paths.len()
            )));
        }
        let columns = headers
            .iter()
            .zip(&paths)
            .map(|(header, expression)| Ok(((*header).to_owned(), path(expression)?)));
        Ok(CustomColumns { columns: columns.collect::<Result<_, Failure>>()?, no_headers })
    }

    pub(super) fn print(&self, out: &mut dyn Write, objects: &[&Value]) -> Result<(), Failure> {
        let mut text = String::new();
        if !self.no_headers {
            let headers: Vec<&str> = self.columns.iter().map(|(header, _)| header.as_str()).collect();
            text += &format!("{}\n", headers.join("\t"));
        }
        for object in objects {
            let cells: Vec<String> = self.columns.iter().map(|(_, path)| cell(path, object)).collect();
            text += &format!("{}\n", cells.join("\t"));
        }
        out.write_all(tabs::lay_out(&text, tabs::TABLE, &mut Vec::new()).as_bytes())?;
        Ok(())
    }
}

fn cell(path: &JsonPath, object: &Value) -> String {
    match path.find_all(object) {
        Ok(found) if !found.is_empty() => {
            let shown: Vec<String> = found.iter().map(|value| go::shown(value)).collect();
            shown.join(",")
        }
        _ => "<none>".to_owned(),
    }
}

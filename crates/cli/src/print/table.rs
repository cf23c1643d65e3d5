//! Tables as the server sends them, for people.

use krm::time::Moment;
use serde_json::Value;

use super::{fit, go};
use crate::discovery::Resource;
use crate::names;
use crate::tabs;

/// What a table shows besides the server's columns.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    pub wide: bool,
    pub no_headers: bool,
    pub show_labels: bool,
    pub label_columns: Vec<String>,
    pub with_namespace: bool,
    pub with_kind: bool,
    /// A column before all others, such as that of the events of a watch.
    pub first: Option<(String, String)>,
    /// How many columns there are to fit into.
    pub width: Option<usize>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Names and priorities.
    columns: Vec<(String, i64)>,
    pub rows: Vec<Row>,
}

/// A row, and the object it is about.
#[derive(Debug, Clone)]
pub struct Row {
    cells: Vec<Value>,
    pub object: Value,
}

impl Table {
    /// Reads a table; an answer that is none becomes one of names and ages.
    pub fn read(answer: &Value, now: Moment) -> Table {
        if answer["kind"] != "Table" {
            return Table::of_objects(super::objects(answer), now);
        }
        let columns = answer["columnDefinitions"].as_array().into_iter().flatten();
        let columns = columns.map(|column| {
            (column["name"].as_str().unwrap_or("").to_owned(), column["priority"].as_i64().unwrap_or(0))
        });
        let rows = answer["rows"].as_array().into_iter().flatten().map(|row| Row {
            cells: row["cells"].as_array().cloned().unwrap_or_default(),
            object: row["object"].clone(),
        });
        Table { columns: columns.collect(), rows: rows.collect() }
    }

    fn of_objects<'a>(objects: impl Iterator<Item = &'a Value>, now: Moment) -> Table {
        let row = |object: &Value| {
            let age = krm::table::age_of(object["metadata"].get("creationTimestamp"), now);
            Row { cells: vec![object["metadata"]["name"].clone(), age.into()], object: object.clone() }
        };
        Table { columns: vec![("Name".into(), 0), ("Age".into(), 0)], rows: objects.map(row).collect() }
    }

    /// Adds the rows of the next page.
    pub fn append(&mut self, mut next: Table) {
        if self.columns.is_empty() {
            self.columns = next.columns;
        }
        self.rows.append(&mut next.rows);
    }

    /// Uses the columns that were told before, as a watch does after its first event.
    pub fn with_columns_of(mut self, before: &Table) -> Table {
        if self.columns.is_empty() {
            self.columns.clone_from(&before.columns);
        }
        self
    }

    /// The lines of the table. `widths` are those of what was printed before.
    pub fn print(
        &self,
        resource: Option<&Resource>,
        options: &TableOptions,
        widths: &mut Vec<usize>,
    ) -> String {
        let shown: Vec<usize> =
            (0..self.columns.len()).filter(|at| options.wide || self.columns[*at].1 == 0).collect();
        let mut lines: Vec<Vec<String>> = Vec::with_capacity(self.rows.len() + 1);
        if !options.no_headers {
            lines.push(self.headers(&shown, options));
        }
        for row in &self.rows {
            lines.push(row.texts(&shown, resource, options));
        }
        let width = options.width.filter(|_| !options.wide);
        let layout = width.map_or(tabs::TABLE, |width| fit::cut(&mut lines, width));
        let text: String = lines.iter().map(|cells| cells.join("\t") + "\n").collect();
        // The last line break belongs to no line.
        tabs::lay_out(&text, layout, widths)
    }

    fn headers(&self, shown: &[usize], options: &TableOptions) -> Vec<String> {
        let mut headers: Vec<String> = options.first.iter().map(|(header, _)| header.clone()).collect();
        headers.extend(options.with_namespace.then(|| "NAMESPACE".to_owned()));
        headers.extend(shown.iter().map(|at| self.columns[*at].0.to_uppercase()));
        let label = |label: &String| label.rsplit('/').next().unwrap_or(label).to_uppercase();
        headers.extend(options.label_columns.iter().map(label));
        headers.extend(options.show_labels.then(|| "LABELS".to_owned()));
        headers
    }
}

impl Row {
    fn texts(&self, shown: &[usize], resource: Option<&Resource>, options: &TableOptions) -> Vec<String> {
        let metadata = &self.object["metadata"];
        let mut texts: Vec<String> = options.first.iter().map(|(_, text)| text.clone()).collect();
        if options.with_namespace {
            texts.push(metadata["namespace"].as_str().unwrap_or("").to_owned());
        }
        for (place, at) in shown.iter().enumerate() {
            let mut text = self.cells.get(*at).map_or(String::new(), cell);
            if place == 0
                && options.with_kind
                && let Some(resource) = resource
            {
                text = format!("{}/{text}", names::typed(&resource.kind, &resource.group));
            }
            texts.push(text);
        }
        let label = |key: &String| metadata["labels"][key].as_str().unwrap_or("").to_owned();
        texts.extend(options.label_columns.iter().map(label));
        if options.show_labels {
            let labels = metadata["labels"].as_object().into_iter().flatten();
            let labels: Vec<String> =
                labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or(""))).collect();
            texts.push(if labels.is_empty() { "<none>".to_owned() } else { labels.join(",") });
        }
        texts
    }
}

/// A cell on one line, with nothing in it that a terminal would obey.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        other => go::shown(other),
    };
    let text = match text.find(['\u{c}', '\n', '\r']) {
        Some(at) => format!("{}...", &text[..at]),
        None => text,
    };
    text.replace('\u{1b}', "^[")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> Table {
        let answer = json!({"kind": "Table",
            "columnDefinitions": [
                {"name": "Name", "priority": 0}, {"name": "Size", "priority": 0}, {"name": "Note", "priority": 1}],
            "rows": [
                {"cells": ["a", 3, "x"], "object": {"metadata": {"namespace": "n", "labels": {"app": "web", "b": "c"}}}},
                {"cells": ["bb", null, "two\nlines"], "object": {"metadata": {"namespace": "n"}}}]});
        Table::read(&answer, Moment::of_seconds(0))
    }

    fn printed(options: &TableOptions) -> String {
        table().print(None, options, &mut Vec::new())
    }

    #[test]
    fn columns_of_little_importance_are_for_wide_tables() {
        assert_eq!(printed(&TableOptions::default()), "NAME   SIZE\na      3\nbb     \n");
        let wide = TableOptions { wide: true, with_namespace: true, ..TableOptions::default() };
        assert_eq!(
            printed(&wide),
            "NAMESPACE   NAME   SIZE   NOTE\nn           a      3      x\nn           bb            two...\n"
        );
    }

    #[test]
    fn labels_are_columns_of_their_own() {
        let options = TableOptions {
            show_labels: true,
            label_columns: vec!["x.dev/app".into(), "app".into()],
            no_headers: true,
            ..TableOptions::default()
        };
        assert_eq!(
            printed(&options),
            "a     3           web   app=web,b=c\nbb                      <none>\n"
        );
    }
}

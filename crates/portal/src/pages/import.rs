//! CSV in: a table of names and fields becomes a plan, which is looked at before anything is written.

use maud::html;
use serde_json::{Map, Value, json};

use crate::kinds::Collection;
use crate::layout::{self, Page};
use crate::refusal::Refusal;
use crate::viewer::Viewer;
use crate::{plans, text};

/// Rows that one file may have.
const MOST: usize = 5_000;

/// The page.
pub fn page(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<Page, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let columns = super::export::columns(&collection.version().openapi);
    let content = html! {
        p { "The first line names the fields; each further line is an object. Objects that exist are changed, others are created. You see a plan before anything is written." }
        form.editor method="post" action=(viewer.path) {
            (layout::csrf(viewer))
            label.code { span { "CSV" } textarea name="csv" rows="16" required spellcheck="false" placeholder=(columns.join(",")) data-drop="" {} }
            div.foot {
                label { span { "File" } input type="file" accept=".csv,text/csv" data-file="csv"; }
                @if collection.kind.is_namespaced() { label { span { "Namespace" } input name="namespace" value="default"; } }
                label { span { "Why" } input name="message" placeholder="for the history"; }
                button.primary { "Preview" }
            }
        }
        details { summary { "Fields of this kind" } p { @for column in &columns { code { (column) } " " } } }
    };
    Ok(Page {
        crumbs: vec![(collection.title(), collection.page(viewer, &[]))],
        at: collection.page(viewer, &[]),
        plane: collection.plane.clone(),
        has_time: false,
        ..Page::new(format!("Import {}", collection.title().to_lowercase()), content)
    })
}

/// Plans what a file says.
pub async fn plan(viewer: &Viewer, plane: &str, group: &str, plural: &str) -> Result<String, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let mut rows = parse(viewer.parameter("csv")).into_iter();
    let header =
        rows.next().filter(|header| header.iter().any(|name| name == "metadata.name" || name == "name"));
    let header = header.ok_or_else(|| {
        Refusal::new(400, "The first line must name the fields, with metadata.name among them.")
    })?;
    let rows: Vec<Vec<String>> = rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
    if rows.len() > MOST {
        return Err(Refusal::new(400, format!("A file may have {MOST} rows; this one has {}.", rows.len())));
    }
    let namespace = if collection.kind.is_namespaced() { viewer.parameter("namespace") } else { "" };
    let schema = &collection.version().openapi;
    let mut items = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let line = index + 2;
        let mut object = json!({});
        for (column, value) in header.iter().zip(row).filter(|(_, value)| !value.is_empty()) {
            let path = if column == "name" { "metadata.name" } else { column };
            set(&mut object, schema, path, value).map_err(|refusal| {
                Refusal::new(400, format!("line {line}, column {column}: {}", refusal.message))
            })?;
        }
        let name = text::at(&object, "/metadata/name").to_owned();
        if name.is_empty() {
            return Err(Refusal::new(400, format!("line {line} has no name.")));
        }
        let exists = viewer.get_now(&collection.path(viewer, namespace, &name), &[]).await.is_ok();
        items.push(match exists {
            true => plans::patch(&collection, namespace, &name, object),
            false => {
                object["apiVersion"] = collection.api_version().into();
                object["kind"] = collection.kind.names.kind.as_str().into();
                if !namespace.is_empty() {
                    object["metadata"]["namespace"] = namespace.into();
                }
                json!({"operation": "create", "object": object})
            }
        });
    }
    plans::make(viewer, &collection.plane, items, viewer.parameter("message")).await
}

/// Sets the field at a dotted path to a text, in the type that the schema has for it.
pub fn set(object: &mut Value, schema: &Value, path: &str, value: &str) -> Result<(), Refusal> {
    let is_label = path.strip_prefix("metadata.labels.");
    let segments: Vec<&str> = match is_label {
        Some(key) => vec!["metadata", "labels", key],
        None => path.split('.').collect(),
    };
    let mut at_schema = Some(schema);
    for segment in &segments {
        at_schema = at_schema.and_then(|schema| schema.get("properties")?.get(*segment));
    }
    let value = value.strip_prefix('\'').unwrap_or(value);
    let typed = match at_schema.map_or("", |schema| text::at(schema, "/type")) {
        "integer" => {
            value.parse::<i64>().map(Value::from).map_err(|_| format!("{value:?} is not a whole number"))
        }
        "number" => value.parse::<f64>().map(Value::from).map_err(|_| format!("{value:?} is not a number")),
        "boolean" => {
            value.parse::<bool>().map(Value::from).map_err(|_| format!("{value:?} is neither true nor false"))
        }
        "object" | "array" => serde_json::from_str(value).map_err(|_| format!("{value:?} is not JSON")),
        "" if segments.first() != Some(&"metadata") => Err(format!("there is no field {path}")),
        _ => Ok(Value::from(value)),
    };
    let typed = typed.map_err(|why| Refusal::new(400, why))?;
    let mut at = object;
    for segment in &segments {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[*segment];
    }
    *at = typed;
    Ok(())
}

/// The rows and cells of a CSV file, as RFC 4180 has them.
fn parse(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) else { break };
        match (letter, is_quoted) {
            ('"', true) if letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            ('"', true) => is_quoted = false,
            ('"', false) if cell.is_empty() => is_quoted = true,
            (',', false) => {
                if let Some(row) = rows.last_mut() {
                    row.push(String::new());
                }
            }
            ('\r', false) => {}
            ('\n', false) => rows.push(vec![String::new()]),
            (letter, _) => cell.push(letter),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_cells_keep_commas_quotes_and_lines() {
        let rows = parse("a,b\r\n\"x, \"\"y\"\"\n2\",z\r\n");
        assert_eq!(rows, [vec!["a", "b"], vec!["x, \"y\"\n2", "z"], vec![""]]);
    }

    #[test]
    fn a_value_has_the_type_of_its_field() {
        let schema = json!({"properties": {"spec": {"properties": {"heightU": {"type": "integer"}, "serial": {"type": "string"}}}}});
        let mut object = json!({});
        set(&mut object, &schema, "spec.heightU", "42").unwrap();
        set(&mut object, &schema, "spec.serial", "007").unwrap();
        set(&mut object, &schema, "metadata.labels.example.com/team", "blue").unwrap();
        let expected = json!({"spec": {"heightU": 42, "serial": "007"}, "metadata": {"labels": {"example.com/team": "blue"}}});
        assert_eq!(object, expected);
        assert_eq!(
            set(&mut object, &schema, "spec.heightU", "x").unwrap_err().message,
            "\"x\" is not a whole number"
        );
        assert!(set(&mut object, &schema, "spec.nothing", "x").unwrap_err().message.contains("no field"));
    }
}

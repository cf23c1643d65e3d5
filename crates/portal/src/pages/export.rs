//! Lists as files: CSV and YAML, page by page, however many objects there are.

use apiserver::answer::{Aborted, Answer};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::answers;
use crate::kinds::Collection;
use crate::refusal::Refusal;
use crate::text;
use crate::viewer::Viewer;

/// The objects of a list, with its filters, as a file.
pub fn answer(
    viewer: &Viewer,
    plane: &str,
    group: &str,
    plural: &str,
    format: &str,
) -> Result<Answer, Refusal> {
    let collection = Collection::find(viewer, plane, group, plural)?;
    let (content_type, is_csv) = match format {
        "csv" => ("text/csv; charset=utf-8", true),
        "yaml" => ("application/yaml", false),
        _ => return Err(Refusal::new(400, "The format is csv or yaml.")),
    };
    let name = format!("{plural}.{format}");
    let (sender, parts) = mpsc::channel::<Result<Frame<Bytes>, Aborted>>(2);
    let viewer = viewer.clone();
    tokio::spawn(async move {
        if let Err(refusal) = send(&viewer, &collection, is_csv, &sender).await {
            // The browser sees that the file is cut off.
            let _ = sender.send(Err(Aborted(refusal.message))).await;
        }
    });
    Ok(answers::download(content_type, &name, StreamBody::new(ReceiverStream::new(parts)).boxed_unsync()))
}

async fn send(
    viewer: &Viewer,
    collection: &Collection,
    is_csv: bool,
    parts: &mpsc::Sender<Result<Frame<Bytes>, Aborted>>,
) -> Result<(), Refusal> {
    let path = collection.path(viewer, viewer.parameter("namespace"), "");
    let columns = if is_csv { columns(&collection.version().openapi) } else { Vec::new() };
    let mut token = String::new();
    let mut is_first = true;
    loop {
        let parameters = [
            ("limit", "500"),
            ("continue", token.as_str()),
            ("labelSelector", viewer.parameter("labels")),
            ("fieldSelector", viewer.parameter("fields")),
        ];
        let list = viewer.get(&path, &parameters).await?;
        let mut content = String::new();
        if is_csv && is_first {
            content += &(columns.iter().map(|column| cell(column)).collect::<Vec<_>>().join(",") + "\r\n");
        }
        is_first = false;
        for item in text::items(&list, "/items") {
            match is_csv {
                true => content += &row(&columns, item),
                false => content += &document(collection, item),
            }
        }
        if parts.send(Ok(Frame::data(content.into()))).await.is_err() {
            return Ok(());
        }
        token = text::at(&list, "/metadata/continue").to_owned();
        if token.is_empty() {
            return Ok(());
        }
    }
}

/// An object without what the server adds, as a document that can be applied again.
fn document(collection: &Collection, item: &Value) -> String {
    let mut item = item.clone();
    item["apiVersion"] = collection.api_version().into();
    item["kind"] = collection.kind.names.kind.as_str().into();
    if let Some(metadata) = item["metadata"].as_object_mut() {
        for field in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
            metadata.remove(field);
        }
    }
    if let Some(object) = item.as_object_mut() {
        object.remove("status");
    }
    format!("---\n{}", krm::encode::to_yaml(&item))
}

/// Columns of a kind: its name, its labels, and the fields of its spec that hold one value.
pub fn columns(schema: &Value) -> Vec<String> {
    let mut columns = vec!["metadata.name".to_owned()];
    leaves(&schema["properties"]["spec"], "spec", 0, &mut columns);
    columns
}

fn leaves(schema: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    if let Some(fields) = schema["properties"].as_object().filter(|_| depth < 4) {
        for (name, field) in fields {
            leaves(field, &format!("{path}.{name}"), depth + 1, found);
        }
    } else if matches!(text::at(schema, "/type"), "string" | "integer" | "number" | "boolean") {
        found.push(path.to_owned());
    }
}

fn row(columns: &[String], item: &Value) -> String {
    let value = |path: &String| {
        let value = path.split('.').try_fold(item, |at, field| at.get(field));
        cell(
            &value
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                .unwrap_or_default(),
        )
    };
    columns.iter().map(value).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A cell. What a spreadsheet would take for a formula begins with an apostrophe, which the import removes.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '@', '\t', '\r'])
        || (text.starts_with('-') && text.parse::<f64>().is_err());
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_quoted_and_no_cell_is_a_formula() {
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!([cell("-5"), cell("-x"), cell("plain")], ["-5", "'-x", "plain"]);
    }

    #[test]
    fn a_row_has_the_single_values_of_an_object() {
        let schema = json!({"properties": {"spec": {"properties": {
            "heightU": {"type": "integer"}, "list": {"type": "array"},
            "siteRef": {"type": "object", "properties": {"name": {"type": "string"}}}}}}});
        let columns = columns(&schema);
        assert_eq!(columns, ["metadata.name", "spec.heightU", "spec.siteRef.name"]);
        let object = json!({"metadata": {"name": "r1"}, "spec": {"heightU": 42, "siteRef": {"name": "a"}}});
        assert_eq!(row(&columns, &object), "r1,42,a\r\n");
    }
}

//! Where a source had a document from: file and line of every value, kept in an annotation per source.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::yaml::{Node, Value};

/// The prefix of the annotations; the source follows.
pub const ORIGIN: &str = "origin.design.groundplane.dev/";

/// Where a document comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The source: the field manager that brought it.
    pub source: String,
    /// The file.
    pub file: String,
    /// The line where the document begins.
    pub line: u32,
    /// `line:column` of each value, in the form of the object's spec. Members with names are found by name.
    pub lines: Json,
}

impl Origin {
    /// The key of the annotation. A source whose name is no annotation key is known by a fingerprint of it.
    pub fn key(source: &str) -> String {
        let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let is_name = source.len() <= 63
            && is_end(source.chars().next())
            && is_end(source.chars().last())
            && source.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        match is_name {
            true => format!("{ORIGIN}{source}"),
            false => format!("{ORIGIN}x{:08x}", super::write::fingerprint(source)),
        }
    }
}

/// The origins of an object, by source.
pub(super) fn of_object(object: &Json) -> Vec<Origin> {
    let annotations = object["metadata"]["annotations"].as_object().into_iter().flatten();
    let ours = annotations.filter(|(key, _)| key.starts_with(ORIGIN));
    ours.filter_map(|(_, text)| serde_json::from_str(text.as_str()?).ok()).collect()
}

/// The lines of the values of a document, in the form of its object.
pub(super) fn lines_of(node: &Node) -> Json {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            map.iter().map(|(key, one)| (key.to_string(), lines_of(one))).collect::<Map<_, _>>().into()
        }
        Value::List(items) if !items.is_empty() => {
            match items.iter().map(name_of).collect::<Option<Vec<_>>>() {
                Some(names) => {
                    names.into_iter().zip(items.iter().map(lines_of)).collect::<Map<_, _>>().into()
                }
                None => items.iter().map(lines_of).collect(),
            }
        }
        _ => format!("{}:{}", node.at.line, node.at.column).into(),
    }
}

fn name_of(item: &Node) -> Option<String> {
    item.get("name")?.value.as_str().map(str::to_owned)
}

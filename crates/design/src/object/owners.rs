//! Who set each field of an object: its field manager, and where that had it from.

use std::sync::Arc;

use serde_json::Value;

use super::origin;
use crate::{
    model::DocumentRef,
    yaml::{File, Position},
};

/// Those who may have set what stands at a place of an object.
#[derive(Clone)]
pub(super) struct Owners<'o> {
    owners: Vec<Owner<'o>>,
    unknown: Arc<File>,
}

#[derive(Clone)]
struct Owner<'o> {
    file: Arc<File>,
    /// The line of the document in the file; 0 for what was written on the server.
    line: u32,
    /// Its fields below the place. One that owns all of it has no more to tell.
    fields: &'o Value,
    /// The lines below the place, or the one of the value.
    lines: Option<&'o Value>,
}

/// An object's origins, which its owners point into.
pub(super) struct Origins(Vec<origin::Origin>);

impl Origins {
    pub(super) fn of(object: &Value) -> Self {
        Self(origin::of_object(object))
    }
}

impl<'o> Owners<'o> {
    /// Of a whole object.
    pub(super) fn of(
        object: &'o Value,
        origins: &'o Origins,
        document: &Arc<DocumentRef>,
        is_secret: bool,
    ) -> Self {
        let file = |name: &str, source: Option<&str>| {
            File::of_source(name, source).of_document(Arc::clone(document), is_secret)
        };
        let owner = |source: &str, origin: Option<&'o origin::Origin>, fields: &'o Value| Owner {
            file: file(origin.map_or("", |origin| &origin.file), Some(source)),
            line: origin.map_or(0, |origin| origin.line),
            fields,
            lines: origin.map(|origin| &origin.lines),
        };
        let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        let mut owners: Vec<Owner<'o>> = entries
            // What is observed is nobody's design.
            .filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty))
            .filter_map(|entry| {
                let source = entry["manager"].as_str()?;
                let origin = origins.0.iter().find(|origin| origin.source == source);
                Some(owner(source, origin, &entry["fieldsV1"]))
            })
            .collect();
        // A revision has no field managers; where its documents come from is kept.
        if owners.is_empty() {
            owners = origins.0.iter().map(|one| owner(&one.source, Some(one), &Value::Null)).collect();
        }
        Self { owners, unknown: file("", None) }
    }

    /// Of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        self.below(&format!("f:{name}"), |lines| lines.get(name))
    }

    /// Of the document's own fields: lines are those of the spec.
    pub(super) fn spec(&self) -> Self {
        self.below("f:spec", Some)
    }

    /// Of a member of a list that has names.
    pub(super) fn member(&self, name: &Value, index: usize) -> Self {
        let key = name.as_str();
        self.below(&format!("k:{{\"name\":{name}}}"), |lines| {
            key.and_then(|key| lines.get(key)).or_else(|| lines.get(index))
        })
    }

    /// Of an entry of a list without names, which has one owner.
    pub(super) fn entry(&self, index: usize) -> Self {
        let owners = self
            .owners
            .iter()
            .map(|owner| Owner { lines: owner.lines.and_then(|lines| lines.get(index)), ..owner.clone() });
        Self { owners: owners.collect(), unknown: Arc::clone(&self.unknown) }
    }

    fn below(&self, key: &str, lines: impl Fn(&'o Value) -> Option<&'o Value>) -> Self {
        let owners = self.owners.iter().filter_map(|owner| {
            let is_whole = owner.fields.as_object().is_none_or(|fields| fields.is_empty());
            let fields = if is_whole { owner.fields } else { owner.fields.get(key)? };
            Some(Owner { fields, lines: owner.lines.and_then(&lines), ..owner.clone() })
        });
        Self { owners: owners.collect(), unknown: Arc::clone(&self.unknown) }
    }

    /// The place in the file of the owner that knows it, else of the first.
    pub(super) fn place(&self) -> Position {
        let known = self.owners.iter().find_map(|owner| Some((owner, first_line(owner.lines?)?)));
        match (known, self.owners.first()) {
            (Some((owner, (line, column))), _) => Position { file: Arc::clone(&owner.file), line, column },
            (None, Some(owner)) => {
                let column = u32::from(owner.line > 0);
                Position { file: Arc::clone(&owner.file), line: owner.line, column }
            }
            (None, None) => Position { file: Arc::clone(&self.unknown), line: 0, column: 0 },
        }
    }
}

/// The line and column of a value, or of the first value in it.
fn first_line(lines: &Value) -> Option<(u32, u32)> {
    match lines {
        Value::String(text) => {
            let (line, column) = text.split_once(':')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        }
        Value::Array(items) => items.iter().find_map(first_line),
        Value::Object(fields) => fields.values().find_map(first_line),
        _ => None,
    }
}

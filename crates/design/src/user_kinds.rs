//! User-defined kinds: a `deckhand/DataSchema/v1` document is the schema of the kind and version that it is named after.
//!
//! Documents of such kinds can be selected by field, substituted into other documents, and are validated against their
//! JSON schema (draft 4).

mod check;

use std::{borrow::Borrow, collections::HashMap};

use crate::{
    document::Document,
    validate::{Diagnostic, Severity},
    yaml::Node,
};

const SCHEMA: &str = "deckhand/DataSchema/v1";

/// The schemas among some documents, by the kind and version they are for.
#[derive(Clone, Debug, Default)]
pub struct UserKinds<'d> {
    by_schema: HashMap<&'d str, &'d Node>,
}

impl<'d> UserKinds<'d> {
    /// Gathers the schemas. Drydock's kinds are typed, and need none.
    pub fn of<D: Borrow<Document>>(documents: &'d [D]) -> Self {
        let schemas =
            documents.iter().map(Borrow::borrow).filter(|document: &&Document| document.schema() == SCHEMA);
        let theirs = schemas.filter(|document| !document.name().starts_with("drydock/"));
        Self { by_schema: theirs.map(|document| (document.name(), &document.data)).collect() }
    }

    /// The kinds that are defined, as `namespace/Kind/version`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_schema.keys().copied()
    }

    /// Whether the schema of a kind marks a field as secret: with `writeOnly`, `format: password` or `x-secret`. Numbers of
    /// lists are not part of the path.
    pub fn is_secret_field(&self, schema: &str, names: &[String]) -> bool {
        let below = |node: &'d Node, name: &str| {
            let of_items = std::iter::successors(Some(node), |node| node.get("items"));
            of_items.filter_map(|node| node.get("properties")?.get(name)).next()
        };
        let Some(root) = self.by_schema.get(schema) else { return false };
        let field = names.iter().try_fold(*root, |node, name| below(node, name));
        field.is_some_and(is_marked)
    }

    /// Validates documents of these kinds. Documents of kinds without a schema are not checked.
    pub fn check<D: Borrow<Document>>(&self, documents: &[D]) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for document in documents.iter().map(Borrow::borrow) {
            let Some(schema) = self.by_schema.get(document.schema()) else { continue };
            for mistake in check::check(&document.data, schema) {
                told.push(Diagnostic {
                    code: "GP6002",
                    drydock_id: None,
                    severity: Severity::Error,
                    message: format!("{}: {}", mistake.path, mistake.message),
                    advice: format!("Correct the document, or the schema of {}.", document.schema()),
                    at: Some(mistake.at),
                    documents: vec![format!("{}/{}", document.id.kind().unwrap_or("?"), document.name())],
                });
            }
        }
        told
    }
}

fn is_marked(schema: &Node) -> bool {
    let is_true = |key: &str| schema.get(key).is_some_and(|one| one.value.as_bool() == Some(true));
    let format = schema.get("format").and_then(|format| format.value.as_str());
    is_true("writeOnly") || is_true("x-secret") || format == Some("password")
}

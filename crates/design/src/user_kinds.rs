//! User-defined kinds: a `deckhand/DataSchema/v1` document is the schema of the kind and version that it is named after.
//!
//! Documents of such kinds can be selected by field, substituted into other documents, and are validated against their
//! JSON schema (draft 4).

mod check;

use std::collections::HashMap;

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
    pub fn of(documents: &'d [Document]) -> Self {
        let schemas = documents.iter().filter(|document| document.schema() == SCHEMA);
        let theirs = schemas.filter(|document| !document.name().starts_with("drydock/"));
        Self { by_schema: theirs.map(|document| (document.name(), &document.data)).collect() }
    }

    /// The kinds that are defined, as `namespace/Kind/version`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_schema.keys().copied()
    }

    /// Validates documents of these kinds. Documents of kinds without a schema are not checked.
    pub fn check(&self, documents: &[Document]) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for document in documents {
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

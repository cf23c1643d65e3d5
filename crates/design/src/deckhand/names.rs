//! Which document a schema and name stand for, replacements considered.

use std::collections::HashMap;

use super::{DocumentRef, Problem, ProblemKind, definition::Definition};
use crate::{
    document::{Document, DocumentId},
    yaml::Warning,
};

/// The documents by schema and name: of each name at most one document, and the replacement for it that is used.
pub(super) struct Names<'a> {
    by_id: HashMap<&'a DocumentId, Named>,
}

#[derive(Clone, Copy, Default)]
struct Named {
    plain: Option<usize>,
    replacement: Option<usize>,
}

impl<'a> Names<'a> {
    /// Indexes the documents and refuses two of one name. As in Deckhand, a document may be replaced in several layers:
    /// the most specific replacement is used. Control documents are never rendered, so their names need not differ.
    pub(super) fn of(
        documents: &'a [Document],
        definitions: &[Definition],
        ranks: &[Option<usize>],
        problems: &mut Vec<Problem>,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let mut by_id: HashMap<&DocumentId, Named> = HashMap::new();
        for (index, (document, definition)) in documents.iter().zip(definitions).enumerate() {
            let named = by_id.entry(&document.id).or_default();
            if !definition.is_replacement {
                match named.plain {
                    None => named.plain = Some(index),
                    Some(first) if definition.is_control => {
                        warnings.push(unused(document, &documents[first], "came first"));
                    }
                    Some(first) => problems.push(duplicate(document, &documents[first])),
                }
                continue;
            }
            match named.replacement {
                None => named.replacement = Some(index),
                Some(other) if ranks[index] > ranks[other] => {
                    warnings.push(unused(&documents[other], document, "is in a more specific layer"));
                    named.replacement = Some(index);
                }
                Some(other) => warnings.push(unused(document, &documents[other], "replaces it already")),
            }
        }
        Self { by_id }
    }

    /// The document that a substitution takes its value from, whether or not it is abstract.
    pub(super) fn effective(&self, id: &DocumentId) -> Option<usize> {
        let named = self.by_id.get(id)?;
        named.replacement.or(named.plain)
    }

    /// The replacement of a schema and name, if there is one.
    pub(super) fn replacement(&self, id: &DocumentId) -> Option<usize> {
        self.by_id.get(id)?.replacement
    }
}

fn duplicate(document: &Document, first: &Document) -> Problem {
    Problem {
        kind: ProblemKind::Duplicate,
        at: document.at.clone(),
        message: format!(
            "a second document {}; the first is at {}:{}",
            document.id, first.at.file, first.at.line
        ),
        documents: vec![DocumentRef::of(document), DocumentRef::of(first)],
    }
}

fn unused(document: &Document, used: &Document, why: &str) -> Warning {
    let message = format!("{} is not used: {} {why}", document.id, DocumentRef::of(used));
    Warning { at: document.at.clone(), message }
}

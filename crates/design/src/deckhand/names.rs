//! Which document a schema and name stand for, replacements considered.

use std::collections::HashMap;

use super::{DocumentRef, Problem, ProblemKind, definition::Definition};
use crate::document::{Document, DocumentId};

/// The documents by schema and name. Of each name there is at most one document and at most one replacement
/// for it.
pub(super) struct Names<'a> {
    by_id: HashMap<&'a DocumentId, Named>,
}

#[derive(Clone, Copy, Default)]
struct Named {
    plain: Option<usize>,
    replacement: Option<usize>,
}

impl<'a> Names<'a> {
    /// Indexes the documents and refuses two of one name.
    pub(super) fn of(
        documents: &'a [Document],
        definitions: &[Definition],
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut by_id: HashMap<&DocumentId, Named> = HashMap::new();
        for (index, (document, definition)) in documents.iter().zip(definitions).enumerate() {
            let named = by_id.entry(&document.id).or_default();
            let place = if definition.is_replacement { &mut named.replacement } else { &mut named.plain };
            match *place {
                None => *place = Some(index),
                Some(first) => {
                    problems.push(duplicate(document, &documents[first], definition.is_replacement))
                }
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

fn duplicate(document: &Document, first: &Document, replacement: bool) -> Problem {
    let what = if replacement { "replacement" } else { "document" };
    Problem {
        kind: ProblemKind::Duplicate,
        at: document.at.clone(),
        message: format!(
            "a second {what} {}; the first is at {}:{}",
            document.id, first.at.file, first.at.line
        ),
        documents: vec![DocumentRef::of(document), DocumentRef::of(first)],
    }
}

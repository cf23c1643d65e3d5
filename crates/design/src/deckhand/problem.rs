//! Errors of rendering.

use std::fmt;

use thiserror::Error;

use crate::{
    document::{Document, DocumentId},
    yaml::Position,
};

/// A document that a problem is about, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRef {
    /// Which.
    pub id: DocumentId,
    /// Where it begins.
    pub at: Position,
}

impl DocumentRef {
    pub(super) fn of(document: &Document) -> Self {
        Self { id: document.id.clone(), at: document.at.clone() }
    }
}

impl fmt::Display for DocumentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.id, self.at.file, self.at.line)
    }
}

/// One reason why documents can't be rendered. The author of the documents can mend all of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct Problem {
    /// What sort of problem.
    pub kind: ProblemKind,
    /// The line to look at first.
    pub at: Position,
    /// What is wrong, the documents concerned named with file and line.
    pub message: String,
    /// The documents concerned, the one that holds the mistake first; for a cycle the chain, closed.
    pub documents: Vec<DocumentRef>,
}

/// The sorts of problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A layering definition, a substitution or the policy is not of the required form.
    Malformed,
    /// A document has a parent selector, but no layering policy says how layers are ordered.
    NoLayeringPolicy,
    /// A document stands in a layer that the policy does not list.
    UnknownLayer,
    /// Two documents have one schema and name, and neither replaces the other.
    Duplicate,
    /// The parent selector matches a document of another schema.
    ParentOfOtherSchema,
    /// The parent selector matches a document whose layer is not above.
    ParentNotAbove,
    /// Several documents of the nearest layer match the parent selector.
    IndeterminateParent,
    /// A replacement has no parent of its schema and name.
    ReplacementWithoutParent,
    /// A replacement replaces another replacement.
    ReplacementOfReplacement,
    /// Documents need each other to be rendered first.
    Cycle,
    /// An action names a path that the child does not have (merge, replace) or that its parent does not have
    /// (delete).
    MissingInAction,
    /// The source of a substitution does not exist, or is abstract.
    MissingSource,
    /// The source of a substitution has nothing at the path.
    MissingInSource,
    /// The value can't be put at the destination of a substitution.
    BadDestination,
    /// A document, or all of them together, grow beyond a limit by what they take from others.
    TooLarge,
}

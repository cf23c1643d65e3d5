//! What was overridden or removed on the way to the effective values.

use std::{fmt, sync::Arc};

use super::field_path::FieldPath;
use crate::{
    model::{DocumentRef, Origin},
    secrets,
};

/// A value that lost its place.
#[derive(Clone, PartialEq, Eq)]
pub struct Change {
    /// The path of the field, such as `interfaces.bond0.networks[private]`.
    pub path: String,
    /// What happened to the value.
    pub manner: Manner,
    /// The value that lost.
    pub lost: String,
    /// Who had set it.
    pub lost_by: Origin,
    /// Who took its place or took it away.
    pub by: Origin,
}

impl Change {
    /// The value that lost, for people to see: a secret is not shown.
    pub fn shown(&self) -> &str {
        secrets::shown(&self.path, &self.lost, Some(&self.lost_by))
    }
}

/// As it is told to people, so that no secret is in it.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Change({self})")
    }
}

/// How a value loses its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Another value stands there now.
    Overridden,
    /// A marker took it away.
    Removed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.manner {
            Manner::Overridden => "overrides",
            Manner::Removed => "removes",
        };
        write!(f, "{}: {} {verb} `{}` of {}", self.path, self.by, self.shown(), self.lost_by)
    }
}

/// The changes one document made, on top of those of the documents it inherits from.
#[derive(Clone, Debug)]
pub struct Ledger {
    document: Arc<DocumentRef>,
    changes: Vec<Change>,
    inherited: Option<Arc<Ledger>>,
}

impl Ledger {
    /// An empty ledger of a document on top of its parent's.
    pub(crate) fn of(document: &Arc<DocumentRef>, inherited: Option<&Arc<Ledger>>) -> Self {
        Self { document: Arc::clone(document), changes: Vec::new(), inherited: inherited.cloned() }
    }

    pub(super) fn note(
        &mut self,
        path: &FieldPath<'_>,
        manner: Manner,
        lost: impl fmt::Display,
        lost_by: &Origin,
        by: &Origin,
    ) {
        self.changes.push(Change {
            path: path.to_string(),
            manner,
            lost: lost.to_string(),
            lost_by: lost_by.clone(),
            by: by.clone(),
        });
    }

    /// The document.
    pub fn document(&self) -> &Arc<DocumentRef> {
        &self.document
    }

    /// The changes the document made itself.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// This ledger and those under it, the nearest to the node first.
    pub fn levels(&self) -> impl Iterator<Item = &Ledger> {
        std::iter::successors(Some(self), |ledger| ledger.inherited.as_deref())
    }
}

/// Level by level, as a chain may be longer than the stack is deep.
impl Drop for Ledger {
    fn drop(&mut self) {
        let mut next = self.inherited.take();
        while let Some(mut ledger) = next.and_then(Arc::into_inner) {
            next = ledger.inherited.take();
        }
    }
}

//! Deckhand's layering, substitution and replacement, as a pure function from documents to documents.
//!
//! A document belongs to a *layer* (global, type, site). It can select a parent in a higher layer by labels, and
//! change it with *actions*. Afterwards *substitutions* copy values between documents. The result is the concrete
//! documents; every value keeps the file and line where it was written.

mod actions;
mod definition;
mod dependencies;
mod layers;
mod limits;
mod names;
mod needed;
mod parents;
mod path;
mod policy;
mod problem;
mod renderer;
mod substitute;

pub use needed::{layer_order, needed};
pub use policy::{LAYERING_POLICY, has_policy, missing_policy, site_without_policy};
pub use problem::{DocumentRef, Problem, ProblemKind};

use crate::{
    document::{Document, DocumentId},
    yaml::Warning,
};

/// What to do about a substitution whose source is not among the documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingSource {
    /// Refuse the whole rendering.
    #[default]
    Refuse,
    /// Leave the destination as it is and warn: for sites whose secrets are kept elsewhere.
    Warn,
}

/// Rendered documents and what was noticed on the way.
#[derive(Clone, Debug, Default)]
pub struct Rendering {
    /// The concrete documents, in the order they were given.
    pub documents: Vec<Document>,
    /// What was done all the same but is probably not meant.
    pub warnings: Vec<Warning>,
    /// Substitutions that were left out because their source is not among the documents.
    pub missing: Vec<MissingValue>,
}

/// A substitution without a source.
#[derive(Clone, Debug)]
pub struct MissingValue {
    /// The document that lacks the value.
    pub document: DocumentId,
    /// Where it asks for it, and for what.
    pub warning: Warning,
}

/// Renders documents. Warnings are dropped: see [`render_with`].
pub fn render(documents: Vec<Document>) -> Result<Vec<Document>, Vec<Problem>> {
    render_with(documents, MissingSource::Refuse).map(|rendering| rendering.documents)
}

/// Renders documents, with a choice about missing sources and with warnings. On failure every problem found
/// is told, sorted by file and line.
pub fn render_with(documents: Vec<Document>, missing: MissingSource) -> Result<Rendering, Vec<Problem>> {
    renderer::render(documents, missing).map_err(|mut problems| {
        problems.sort_by(|a, b| (&a.at, &a.message).cmp(&(&b.at, &b.message)));
        problems
    })
}

//! Deckhand's layering, substitution and replacement, as a pure function from documents to documents.
//!
//! A document stands in a *layer* (global, type, site); it may pick a parent in a layer above by its labels,
//! and say with *actions* what of the parent it changes. Afterwards *substitutions* copy values
//! between documents. What comes out are the concrete documents, each complete in itself; every value still
//! knows the file and line it was written at.

mod actions;
mod definition;
mod dependencies;
mod layers;
mod limits;
mod names;
mod parents;
mod path;
mod problem;
mod renderer;
mod substitute;

pub use problem::{DocumentRef, Problem, ProblemKind};

use crate::{document::Document, yaml::Warning};

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

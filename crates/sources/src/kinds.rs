//! The kinds of `sources.groundplane.dev`.

pub mod source;
pub mod source_finding;

pub use source::Source;
pub use source_finding::SourceFinding;

use krm::kind::{Kind, Resource};

/// All kinds, in the order of the documentation.
pub fn all() -> Vec<Kind> {
    vec![Source::kind(), SourceFinding::kind()]
}

//! `diff`: the nodes and fields that differ between two states of a design.

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;

use super::{design_of, reach};
use crate::compiled_design;

/// Answers `…/designs/<name>/diff?from=&to=`. Defaults to the active revision and the current documents.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let state = |option: &str, unless: &str| {
        compiled_design::at(&design, asked.option(option).unwrap_or(unless), look)
    };
    let (before, after) = (state("from", "live")?, state("to", "documents")?);
    reach::told(asked, &before, &after)
}

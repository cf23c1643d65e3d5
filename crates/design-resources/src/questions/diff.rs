//! Diff: which nodes differ between two states of a design, and in what.

use krm::kind::{Answered, Look, Questioned};
use krm::status::Status;

use super::{design_of, reach};
use crate::drawn::{self, Drawn};

/// Answers `…/designs/<name>/diff?from=&to=`: from what is in force to the documents as they are, unless said.
pub fn answer(asked: &Questioned<'_>, look: &dyn Look) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let state = |option: &str, unless: &str| {
        drawn::at(&design, asked.option(option).unwrap_or(unless), look).map(Drawn::of)
    };
    let (before, after) = (state("from", "live")?, state("to", "documents")?);
    reach::told(asked, &before, &after)
}

//! Size limits of rendered documents: substitution can grow them exponentially.

use super::{ProblemKind, substitute::Failure};
use crate::yaml::{Node, Position, extent::MAX_DEPTH};

/// How many bytes one document may have, roughly.
pub(super) const MAX_DOCUMENT: usize = 16 << 20;

/// How many bytes all documents may have together, roughly.
const MAX_TOTAL: usize = 1 << 30;

/// What is left for the documents still to be rendered.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_TOTAL)
    }
}

impl Room {
    /// Takes the room of a rendered document.
    pub(super) fn take(&mut self, data: &Node, at: &Position) -> Result<(), Failure> {
        let cost = check(data, at)?;
        let refused = || too_large(at, format!("makes all documents exceed {} MiB", MAX_TOTAL >> 20));
        self.0 = self.0.checked_sub(cost).ok_or_else(refused)?;
        Ok(())
    }
}

/// The size of a document's data, if it is within the limits.
pub(super) fn check(data: &Node, at: &Position) -> Result<usize, Failure> {
    let extent = data.extent();
    if extent.height > MAX_DEPTH {
        return Err(too_large(at, format!("becomes nested deeper than {MAX_DEPTH} levels")));
    }
    if extent.cost > MAX_DOCUMENT {
        return Err(too_large(at, format!("becomes larger than {} MiB", MAX_DOCUMENT >> 20)));
    }
    Ok(extent.cost)
}

pub(super) fn too_large(at: &Position, message: String) -> Failure {
    Failure { kind: ProblemKind::TooLarge, at: at.clone(), message }
}

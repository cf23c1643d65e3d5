//! Fields that others own at another value than the one applied.

use std::fmt;

use super::element::FieldPath;
use super::managers::Identity;
use super::set::FieldSet;
use crate::status::{Cause, Details, Status};

/// A field that another manager owns at another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The manager, as messages name it: `"bob" using example.com/v1`.
    pub manager: String,
    /// The field.
    pub field: FieldPath,
}

/// All fields in conflict, by manager.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    pub(super) fn new<'a>(taken: impl Iterator<Item = (&'a Identity, &'a FieldSet)>) -> Conflicts {
        let mut by_manager: Vec<_> = taken.filter(|(_, fields)| !fields.is_empty()).collect();
        by_manager.sort_by_cached_key(|(identity, _)| identity.sort_key());
        let conflicts = by_manager.into_iter().flat_map(|(identity, fields)| {
            let manager = identity.describe();
            fields.paths().into_iter().map(move |field| Conflict { manager: manager.clone(), field })
        });
        Conflicts(conflicts.collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Conflict> {
        self.0.iter()
    }

    pub(super) fn filter(mut self, keep: impl Fn(&Conflict) -> bool) -> Conflicts {
        self.0.retain(keep);
        self
    }

    /// As the answer to the request.
    pub fn status(&self) -> Status {
        let causes = self.0.iter().map(|conflict| Cause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {}", conflict.manager),
            field: conflict.field.to_string(),
        });
        let details = Details { causes: causes.collect(), ..Details::default() };
        Status::failure(409, "Conflict", self.to_string()).about(details)
    }
}

impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [Conflict { manager, field }] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: conflict with {manager}: {field}");
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut before: Option<&str> = None;
        for Conflict { manager, field } in &self.0 {
            if before != Some(manager) {
                let line = if before.is_some() { "\n" } else { "" };
                write!(f, "{line}conflicts with {manager}:")?;
                before = Some(manager);
            }
            write!(f, "\n- {field}")?;
        }
        Ok(())
    }
}

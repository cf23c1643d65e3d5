//! The proposed result of a write before it is checked and stored, so that many can be checked together.

use std::sync::Arc;

use krm::Object;
use krm::kind::RawChange;
use krm::status::Status;
use store::{Entry, View};

use super::sealed::Sealing;
use super::{Decided, Fate, admit, create, update};
use crate::call::Call;

/// A new or changed object, at the call's version.
pub struct Proposal {
    /// What is there, as it is stored.
    pub entry: Option<Arc<Entry>>,
    /// What is there; nothing when it is made.
    pub old: Option<Object>,
    /// What is to be there.
    pub new: Object,
    /// What history calls it.
    pub verb: &'static str,
    /// How many names may be drawn for it.
    pub draws: usize,
    /// What of it is kept in a Secret.
    pub sealing: Sealing,
    /// What the client should know.
    pub warnings: Vec<String>,
}

impl Proposal {
    /// Checks it against everything, and writes it.
    pub fn settle(mut self, call: &Call, view: &mut View) -> Result<Decided, Status> {
        self.check(call, view)?;
        let warnings = std::mem::take(&mut self.warnings);
        let new = std::mem::take(&mut self.new);
        Ok(Decided { fate: self.written(call, view, new)?, warnings })
    }

    /// Everything that is wrong with it.
    pub fn check(&mut self, call: &Call, view: &mut View) -> Result<(), Status> {
        let change =
            RawChange { old: self.old.as_ref(), new: Some(&self.new), subresource: &call.subresource };
        admit::check(call, view, &change, &mut self.warnings)
    }

    /// Writes it, before it is checked.
    pub fn land(&self, call: &Call, view: &mut View) -> Result<Fate, Status> {
        self.written(call, view, self.new.clone())
    }

    fn written(&self, call: &Call, view: &mut View, new: Object) -> Result<Fate, Status> {
        let fate = match (&self.entry, &self.old) {
            (Some(entry), Some(old)) => update::land(call, view, entry, old, new, self.verb)?,
            _ => create::land(call, view, new, self.draws, self.verb)?,
        };
        // Of what is gone nothing is kept.
        match &fate {
            Fate::Gone(_) | Fate::Deleted(_) => {}
            Fate::Created(object) | Fate::Changed(object) => self.sealing.land(call, view, object.name())?,
            Fate::Unchanged(..) => self.sealing.land(call, view, &call.name)?,
        }
        Ok(fate)
    }
}

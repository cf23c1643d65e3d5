//! Evaluates all items on one view: writes all of them first, then checks all of them.

use std::collections::HashMap;
use std::sync::Arc;

use krm::Object;
use krm::status::Status;
use store::{Entry, Key, View};

use super::Work;
use super::item::{Doing, Item, Named, Operation};
use super::order;
use crate::call::Call;
use crate::past::{restore, undo};
use crate::write::delete::{self, Deletion};
use crate::write::patch::Patch;
use crate::write::{Fate, Proposal, admit, create, patch, update};

/// What came of one item.
pub struct Tried {
    /// Its place among those that were sent.
    pub index: usize,
    /// What it is about.
    pub named: Named,
    /// What it is.
    pub operation: Operation,
    /// What it does, or what is against it.
    pub outcome: Result<Done, Status>,
}

/// What an item does.
pub struct Done {
    /// `created`, `configured`, `unchanged`, `deleted` or `deleting`.
    pub result: &'static str,
    /// The object before it.
    pub before: Option<Object>,
    /// The object after it, as the version that was named has it; nothing where it is as it was, or gone.
    pub after: Option<Object>,
    /// Whether its values are secret.
    pub secret: bool,
    /// What the client should know.
    pub warnings: Vec<String>,
    key: Option<Key>,
}

impl Done {
    fn without_object(result: &'static str) -> Done {
        Done { result, before: None, after: None, secret: false, warnings: Vec::new(), key: None }
    }

    /// The object as it is then, if it is there.
    pub fn object(&self) -> Option<&Object> {
        match self.result {
            "unchanged" => self.before.as_ref(),
            _ => self.after.as_ref(),
        }
    }
}

/// Tries every item on the view.
pub fn decide(work: &Work, view: &mut View) -> Vec<Tried> {
    let order = order::of(&work.call.catalog, &work.items);
    let mut steps: Vec<Option<Step<'_>>> = work.items.iter().map(|_| None).collect();
    let mut outcomes: Vec<Option<Result<Done, Status>>> = work.items.iter().map(|_| None).collect();
    for index in &order {
        let Some(item) = work.items.get(*index) else { continue };
        match Step::land(item, view) {
            Ok((step, done)) => {
                steps[*index] = Some(step);
                outcomes[*index] = Some(Ok(done));
            }
            Err(status) => outcomes[*index] = Some(Err(status)),
        }
    }
    for index in order {
        let Some(step) = steps.get_mut(index).and_then(Option::as_mut) else { continue };
        match (step.check(view), &mut outcomes[index]) {
            (Ok(warnings), Some(Ok(done))) => {
                done.warnings = warnings;
                done.before = step.before();
            }
            (Err(status), outcome) => *outcome = Some(Err(status)),
            (Ok(_), _) => {}
        }
        // Of tens of thousands of objects nothing is kept longer than it is needed.
        steps[index] = None;
    }
    let told = work.items.iter().zip(outcomes).map(|(item, outcome)| Tried {
        index: item.index,
        named: item.named.clone(),
        operation: item.operation,
        outcome: outcome.unwrap_or_else(|| Err(Status::internal("an item was not processed"))),
    });
    told.collect()
}

/// An item that stands in the view, and is still to be checked.
struct Step<'a> {
    call: &'a Arc<Call>,
    change: Change,
}

enum Change {
    Write(Box<Proposal>),
    Delete(Box<Deletion>),
    /// What is to be deleted is gone already, and that is fine.
    Gone,
    /// A record, which is no object.
    Record,
}

impl<'a> Step<'a> {
    fn land(item: &'a Item, view: &mut View) -> Result<(Step<'a>, Done), Status> {
        let (call, doing) = item.doing.as_ref().map_err(Clone::clone)?;
        if let Doing::Record(record) = doing {
            let result = if record.put(view) { "configured" } else { "unchanged" };
            return Ok((Step { call, change: Change::Record }, Done::without_object(result)));
        }
        let change = propose(item, call, doing, view)?;
        let fate = match &change {
            Change::Write(proposal) => proposal.land(call, view)?,
            Change::Delete(deletion) => deletion.as_ref().clone().land(call, view)?,
            Change::Gone | Change::Record => {
                return Ok((Step { call, change }, Done::without_object("unchanged")));
            }
        };
        let is_deletion = matches!(change, Change::Delete(_));
        let (result, after) = match fate {
            Fate::Created(object) => ("created", Some(object)),
            Fate::Changed(object) if is_deletion => ("deleting", Some(object)),
            Fate::Changed(object) => ("configured", Some(object)),
            Fate::Unchanged(..) => ("unchanged", None),
            Fate::Gone(_) | Fate::Deleted(_) => ("deleted", None),
        };
        let done = Done {
            result,
            before: None,
            after: after.map(|object| call.convert(object, u64::MAX)).transpose()?,
            secret: call.kind.secret,
            warnings: Vec::new(),
            key: (result != "unchanged").then(|| call.key()).transpose()?,
        };
        Ok((Step { call, change }, done))
    }

    fn check(&mut self, view: &mut View) -> Result<Vec<String>, Status> {
        match &mut self.change {
            Change::Write(proposal) => {
                proposal.check(self.call, view)?;
                Ok(std::mem::take(&mut proposal.warnings))
            }
            Change::Delete(deletion) => deletion.check(self.call, view).map(|()| Vec::new()),
            Change::Gone | Change::Record => Ok(Vec::new()),
        }
    }

    /// The object before it, once it was checked.
    fn before(&mut self) -> Option<Object> {
        match &mut self.change {
            Change::Write(proposal) => proposal.old.take(),
            Change::Delete(deletion) => Some(std::mem::take(&mut deletion.old)),
            Change::Gone | Change::Record => None,
        }
    }
}

fn propose(item: &Item, call: &Call, doing: &Doing, view: &mut View) -> Result<Change, Status> {
    let options = &item.options;
    let proposal = match doing {
        Doing::Create(object) => {
            let (object, warnings) = shaped(item, call, object)?;
            create::propose(call, view, options, object, warnings)?
        }
        Doing::Update(object) => {
            let (object, warnings) = shaped(item, call, object)?;
            update::propose(call, view, options, object, warnings)?
        }
        Doing::UpdateWhole(object) => {
            let (object, warnings) = shaped(item, call, object)?;
            update::propose_whole(call, view, options, object, warnings)?
        }
        Doing::Event(event) => event.propose(call, view, options)?,
        Doing::Record(_) => return Ok(Change::Record),
        Doing::Patch(patch) => {
            let proposal = patch::propose(call, view, options, patch)?;
            if proposal.old.is_none() && matches!(**patch, Patch::Apply(..)) {
                call.may("create", "")?;
            }
            proposal
        }
        Doing::Undo(back) => undo::propose(call, view, options, back)?,
        Doing::Restore(state) => restore::propose(call, view, options, state)?,
        Doing::TakeBack(changes) => undo::TakenBack::propose_all(changes, call, view, options)?,
        Doing::Delete(options) => {
            return match delete::propose(call, view, options) {
                Err(status) if status.code == 404 && item.ignores_not_found => Ok(Change::Gone),
                deletion => deletion.map(|deletion| Change::Delete(Box::new(deletion))),
            };
        }
    };
    Ok(Change::Write(Box::new(proposal)))
}

/// An object of an item in the shape of its kind.
fn shaped(item: &Item, call: &Call, object: &Object) -> Result<(Object, Vec<String>), Status> {
    let (object, dropped) = admit::shape(call, object.clone()).map_err(|why| admit::unfit(call, &why))?;
    let mut warnings = Vec::new();
    admit::complain(dropped, item.options.validation, &mut warnings)
        .map_err(|why| admit::unfit(call, &why))?;
    Ok((object, warnings))
}

impl Tried {
    /// Takes over what the commit made of the object.
    pub fn committed(&mut self, entries: &HashMap<Key, Arc<Entry>>) {
        let Ok(done) = &mut self.outcome else { return };
        let entry = done.key.as_ref().and_then(|key| entries.get(key));
        if let (Some(entry), Some(object)) = (entry, &mut done.after) {
            object.set_meta("resourceVersion", Some(entry.version().to_string().into()));
        }
    }
}

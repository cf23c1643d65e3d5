//! Undo: writes an earlier state of an object as a new revision.

use krm::Object;
use krm::diff::{self, Difference, Step};
use krm::status::{Cause, Status};
use serde_json::Value;
use store::{Change, Version, View};

use super::history;
use super::revision;
use crate::call::Call;
use crate::request::query::WriteOptions;
use crate::secrets;
use crate::write::{self, Proposal, admit, ownership, update};

/// Changes read at a time.
const PAGE: usize = 50;

/// How far back an undo goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To what the object was right after a revision.
    Revision(String),
    /// To what it was in a generation of it.
    Generation(i64),
    /// To what it was before the last so many changes that somebody made; those of controllers are not counted.
    Steps(u32),
}

/// What an object is to be again.
#[derive(Clone)]
pub struct Back {
    /// The older state, as it was stored.
    state: Object,
    /// It was counted back from this version.
    from: Option<Version>,
}

/// Somebody changed the object after it was decided how far back it goes.
pub const OVERTAKEN: &str = "Overtaken";

impl Back {
    /// Finds the older state.
    pub async fn find(call: &Call, target: &Target) -> Result<Back, Status> {
        super::as_of::kept(call)?;
        let key = call.key()?;
        match target {
            Target::Revision(text) => {
                let entry = history::state(call, text).await?;
                let state = revision::read(call, &key, &entry)?;
                Ok(Back { state: Object::from_value(state).unwrap_or_default(), from: None })
            }
            Target::Generation(number) => Ok(Back::to(super::rollout::state(call, *number).await?)),
            Target::Steps(steps) => Back::count(call, *steps).await,
        }
    }

    /// A state that was found in another way.
    pub fn to(state: Object) -> Back {
        Back { state, from: None }
    }

    async fn count(call: &Call, steps: u32) -> Result<Back, Status> {
        if steps == 0 {
            return Err(Status::bad_request("steps: must be at least 1"));
        }
        let key = call.key()?;
        let now = super::as_of::present(call).await?;
        let live = now.get(&key).ok_or_else(|| call.not_found())?;
        let (mut counted, mut beyond) = (0, None);
        loop {
            let changes = history::changes(call, beyond, PAGE).await?;
            for change in &changes.items {
                // Earlier lives of the name are other objects.
                let (Some(before), Some(after), true) =
                    (&change.before, &change.after, change.uid == live.uid())
                else {
                    return Err(too_few(call, counted, change.pruned_before && change.uid == live.uid()));
                };
                let before = Object::from_value(revision::read(call, &key, before)?).unwrap_or_default();
                let after = Object::from_value(revision::read(call, &key, after)?).unwrap_or_default();
                // What a controller made of a change goes back with it.
                if !is_of_a_controller(&change.user) && wanted(call, &before) != wanted(call, &after) {
                    counted += 1;
                }
                if counted == steps {
                    return Ok(Back { state: before, from: Some(live.version()) });
                }
            }
            match changes.next {
                Some(next) => beyond = Some(next),
                None => return Err(too_few(call, counted, false)),
            }
        }
    }
}

/// Whether a change was made by a part of the system, not by somebody who would take it back: the administrator and
/// service accounts are called `system:` too, and are somebody.
fn is_of_a_controller(user: &str) -> bool {
    user.strip_prefix("system:")
        .is_some_and(|part| !matches!(part, "admin" | "anonymous") && !part.starts_with("serviceaccount:"))
}

fn too_few(call: &Call, counted: u32, pruned: bool) -> Status {
    let resource = call.kind.resource();
    match pruned {
        true => Status::expired(format!(
            "only the last {counted} changes of {resource} {:?} can be undone; earlier history was removed by retention",
            call.name
        )),
        false => Status::bad_request(format!(
            "{resource} {:?} has only {counted} changes that can be undone since its creation",
            call.name
        )),
    }
}

/// What an undo brings back of an object: all but metadata and what is observed, and of the metadata labels and
/// annotations.
fn wanted(call: &Call, object: &Object) -> Value {
    let mut wanted = object.clone();
    for field in ["apiVersion", "kind", "metadata"] {
        wanted.set(field, None);
    }
    if call.version().has_status() || call.kind.shape.is_some() {
        wanted.set("status", None);
    }
    for field in ["labels", "annotations"] {
        let value = object.meta(field).filter(|value| value.as_object().is_some_and(|map| !map.is_empty()));
        wanted.set_meta(field, value.cloned());
    }
    wanted.into_value()
}

/// The object of the call with the older state in it.
pub fn propose(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    back: &Back,
) -> Result<Proposal, Status> {
    admit::kind_is_current(call, view, None)?;
    let (entry, old) = write::current(call, view)?.ok_or_else(|| call.not_found())?;
    if back.from.is_some_and(|from| from != entry.version()) {
        let why = format!("{} {:?} was changed concurrently", call.kind.resource(), call.name);
        return Err(Status::failure(409, OVERTAKEN, why));
    }
    let mut new = old.clone();
    let past = &back.state;
    let back = wanted(call, past);
    let kept = wanted(call, &old);
    for field in fields(&kept).filter(|field| back.get(*field).is_none()) {
        new.set(field, None);
    }
    for field in fields(&back) {
        new.set(field, back.get(field).cloned());
    }
    for field in ["labels", "annotations"] {
        new.set_meta(field, back.get("metadata").and_then(|metadata| metadata.get(field)).cloned());
    }
    ownership::on_return(call, &old, &mut new, past, options);
    finish(call, view, options, (entry, old), new)
}

fn fields(value: &Value) -> impl Iterator<Item = &str> {
    let fields = value.as_object().into_iter().flat_map(|map| map.keys());
    fields.map(String::as_str).filter(|field| *field != "metadata")
}

/// What one change did to an object, to be taken back field by field.
#[derive(Clone)]
pub struct TakenBack {
    differences: Vec<Difference>,
    /// The state before it, whose owners come back, too.
    before: Object,
    force: bool,
}

impl TakenBack {
    /// Takes back what lies between two states; with `force` also where somebody else has changed it since.
    pub fn between(before: &Value, after: &Value, force: bool) -> TakenBack {
        let mut differences = diff::between(Some(before), Some(after));
        differences.retain(|difference| is_wanted(&difference.path));
        let before = Object::from_value(before.clone()).unwrap_or_default();
        TakenBack { differences, before, force }
    }

    /// Leaves out values of a Secret that the change did not set, for a caller who may not see them.
    pub fn retain_claimed(&mut self, change: &Change, after: &Value) {
        secrets::retain_claimed(&mut self.differences, change, Some(after));
    }

    /// Whether there is nothing to take back.
    pub fn is_nothing(&self) -> bool {
        self.differences.is_empty()
    }

    /// The object of the call without these changes, of which the newest comes first.
    pub fn propose_all(
        changes: &[TakenBack],
        call: &Call,
        view: &mut View,
        options: &WriteOptions,
    ) -> Result<Proposal, Status> {
        admit::kind_is_current(call, view, None)?;
        let (entry, old) = write::current(call, view)?.ok_or_else(|| call.not_found())?;
        let mut new = old.clone();
        let mut changed_again = Vec::new();
        for change in changes {
            let mut earlier = new.clone().into_value();
            change.take_from(&mut earlier, &mut changed_again);
            let mut earlier = Object::from_value(earlier).unwrap_or_default();
            ownership::on_return(call, &new, &mut earlier, &change.before, options);
            new = earlier;
        }
        if !changed_again.is_empty() {
            return Err(conflict(call, &changed_again));
        }
        finish(call, view, options, (entry, old), new)
    }

    fn take_from(&self, object: &mut Value, changed_again: &mut Vec<String>) {
        for difference in &self.differences {
            let now = diff::at(object, &difference.path);
            if now == difference.before.as_ref() {
                continue;
            }
            let is_as_left = now == difference.after.as_ref();
            let may = is_as_left || self.force;
            if !may || !diff::set(object, &difference.path, difference.before.clone()) {
                changed_again.push(difference.shown_path());
            }
        }
    }
}

fn conflict(call: &Call, fields: &[String]) -> Status {
    let why = format!(
        "{} changed again by a later revision; check the history, or set force to overwrite",
        listed(fields)
    );
    let mut status = Status::conflict(&call.kind.resource(), &call.name, why);
    if let Some(details) = &mut status.details {
        details.causes = fields
            .iter()
            .map(|field| Cause {
                reason: "ChangedAgain".into(),
                message: "changed again by a later revision".into(),
                field: field.clone(),
            })
            .collect();
    }
    status
}

fn listed(fields: &[String]) -> String {
    const FEW: usize = 5;
    let named = fields.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join(", ");
    match fields.len() {
        0 | 1 => format!("{named} was"),
        more if more > FEW => format!("{named} and {} more were", more - FEW),
        _ => format!("{named} were"),
    }
}

/// Whether a field is one that an undo brings back.
fn is_wanted(path: &[Step]) -> bool {
    match path {
        [Step::Field(first), rest @ ..] if first == "metadata" => {
            matches!(rest.first(), Some(Step::Field(field)) if matches!(field.as_str(), "labels" | "annotations"))
        }
        [Step::Field(first), ..] => !matches!(first.as_str(), "status" | "apiVersion" | "kind"),
        _ => false,
    }
}

fn finish(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    found: (std::sync::Arc<store::Entry>, Object),
    new: Object,
) -> Result<Proposal, Status> {
    // What it was may not be of today's shape.
    let (new, dropped) = admit::shape(call, new).map_err(|why| admit::unfit(call, &why))?;
    let mut warnings = Vec::new();
    admit::complain(dropped, options.validation, &mut warnings).map_err(|why| admit::unfit(call, &why))?;
    update::begin(call, view, options, found, new, "undo", warnings)
}

//! Delete: immediately, or marked first if there are finalizers.

use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::RawChange;
use krm::status::{Details, Status, Subject};
use serde_json::Value;
use store::{Entry, Key, View};

use super::guarded::Guarded;
use super::update::is_finished;
use super::{Decided, Fate, Written, admit, current, effects, put, references, remove};
use crate::authz::AuthorizerPlugin;
use crate::call::Call;
use crate::client::Client;
use crate::keys;
use crate::request::query::{Query, WriteOptions, dry_run};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// Namespaces that everything expects to be there.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// What happens to the objects that the deleted one owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// How an object is to be deleted.
#[derive(Debug, Clone, Default)]
pub struct DeleteOptions {
    /// Only this life of it.
    pub uid: Option<String>,
    /// Only at this version.
    pub resource_version: Option<String>,
    /// What happens to what it owns.
    pub propagation: Option<Propagation>,
    /// Only rehearse it.
    pub dry_run: bool,
}

impl DeleteOptions {
    /// Reads and checks them: the body's if there is one, else the query's.
    pub fn read(query: &Query, body: Option<&Value>) -> Result<DeleteOptions, Status> {
        let mut errors = Vec::new();
        let none = Value::Null;
        let body_or_none = body.unwrap_or(&none);
        let text = |field: &str| body_or_none.get(field).and_then(Value::as_str).map(str::to_owned);
        let (policy, orphan, dry_runs) = match body {
            Some(body) => (
                text("propagationPolicy"),
                body.get("orphanDependents").and_then(Value::as_bool),
                body.get("dryRun")
                    .and_then(Value::as_array)
                    .map_or(Vec::new(), |list| list.iter().filter_map(Value::as_str).collect()),
            ),
            None => {
                query.number("gracePeriodSeconds")?;
                let policy = query.get("propagationPolicy").map(str::to_owned);
                (policy, query.flag("orphanDependents"), query.all("dryRun"))
            }
        };
        let dry_run = dry_run(&dry_runs, &mut errors);
        let path = Path::of("propagationPolicy");
        let propagation = match (policy.as_deref(), orphan) {
            (Some(policy), Some(_)) => {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid_text(&path, policy, why));
                None
            }
            (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some(other), _) => {
                let allowed = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(&path, &Value::from(other), &allowed));
                None
            }
            (None, None) => None,
        };
        if !errors.is_empty() {
            return Err(Status::invalid(&Subject::new("meta.k8s.io", "DeleteOptions"), "", &errors));
        }
        let precondition = |field: &str| {
            let text = body_or_none.get("preconditions")?.get(field)?.as_str()?;
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        Ok(DeleteOptions {
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            propagation,
            dry_run,
        })
    }
}

/// Deletes the object of the call.
pub async fn delete(call: &Arc<Call>, options: &DeleteOptions) -> Result<Written, Status> {
    let write = WriteOptions { dry_run: options.dry_run, ..WriteOptions::default() };
    let options = options.clone();
    super::run(call, &write, move |call, view| decide(call, view, &options)).await
}

/// What a client is told of an object that is gone: that it is, and which it was.
pub fn success(call: &Call, last: &Object) -> Status {
    Status::success(Some(Details {
        name: last.name().to_owned(),
        group: call.kind.group.clone(),
        kind: call.kind.names.plural.clone(),
        uid: last.uid().to_owned(),
        ..Details::default()
    }))
}

/// The last state of what was deleted.
pub fn last_state(bytes: &Bytes) -> Result<Object, Status> {
    crate::encode::read(bytes)
}

/// Decides on a deletion.
pub fn decide(call: &Call, view: &mut View, options: &DeleteOptions) -> Result<Decided, Status> {
    let deletion = propose(call, view, options)?;
    deletion.check(call, view)?;
    Ok(Decided { fate: deletion.land(call, view)?, warnings: Vec::new() })
}

/// A deletion before it is checked: what the object would be.
#[derive(Clone)]
pub struct Deletion {
    entry: Arc<Entry>,
    /// What is there.
    pub old: Object,
    new: Object,
}

/// What a deletion would make of the object.
pub fn propose(call: &Call, view: &mut View, options: &DeleteOptions) -> Result<Deletion, Status> {
    admit::kind_is_current(call, view, None)?;
    let Some((entry, old)) = current(call, view)? else { return Err(call.not_found()) };
    preconditions(call, &old, options)?;
    let is_namespace = call.kind.group.is_empty() && call.kind.names.plural == "namespaces";
    if is_namespace && IMMORTAL.contains(&old.name()) {
        return Err(Status::forbidden(
            &call.kind.resource(),
            old.name(),
            "this namespace may not be deleted",
        ));
    }
    let mut new = old.clone();
    new.set_finalizers(finalizers(&old, options.propagation));
    let goes_at_once = call.kind.mark.is_none() && is_finished(&new);
    if !old.is_deleting() && !goes_at_once {
        mark(call, &mut new);
    }
    Ok(Deletion { entry, old, new })
}

impl Deletion {
    /// Whether something is against it.
    pub fn check(&self, call: &Call, view: &mut View) -> Result<(), Status> {
        if !self.old.is_deleting() || is_finished(&self.new) {
            references::nobody_refers(call, view, &self.old)?;
        }
        if !self.old.is_deleting() {
            let change = RawChange { old: Some(&self.old), new: None, subresource: "" };
            admit::check(call, view, &change, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Takes the object away, or marks it where something has to happen before.
    pub fn land(self, call: &Call, view: &mut View) -> Result<Fate, Status> {
        if is_finished(&self.new) {
            remove(call, view, &self.old)?;
            return Ok(Fate::Deleted(super::to_storage(call, self.new)?));
        }
        if super::is_same(&self.old, &self.new) {
            return Ok(Fate::Unchanged(call.key()?, self.entry));
        }
        let stored = super::to_storage(call, self.new)?;
        put(call, view, &stored, "delete", false)?;
        Ok(Fate::Changed(stored))
    }
}

/// Takes an object away without asking anybody, because all of its plane goes. What it holds elsewhere is released, and what
/// has to be known of it later stays.
pub fn take_away(client: &Client, view: &mut View, key: &Key) -> Result<(), Status> {
    let held = keys::parts(key).and_then(|parts| {
        let catalog = client.api().kinds().of(&parts.plane());
        let kind = catalog.resource(parts.group, parts.plural)?;
        let call = client.call(kind, parts.namespace, parts.name, "");
        let leaves = |other: &Arc<dyn AuthorizerPlugin>| other.leaves(&parts);
        let leaves_something = client.api().followers().rights.others().iter().any(leaves);
        (leaves_something || effects::has_effects(&call)).then_some((parts.plane(), call))
    });
    let Some((plane, call)) = held else {
        view.delete(key.clone(), "delete");
        return Ok(());
    };
    let Some((_, gone)) = Guarded::new(view, &plane).entry(key)? else { return Ok(()) };
    remove(&call, view, &gone)
}

fn mark(call: &Call, object: &mut Object) {
    let now = call.api.now().to_string();
    if let Some(mark) = &call.kind.mark {
        return mark(object, &now);
    }
    object.set_meta("deletionTimestamp", Some(now.into()));
    object.set_meta("deletionGracePeriodSeconds", Some(Value::from(0)));
    if object.generation() > 0 {
        object.set_meta("generation", Some(Value::from(object.generation() + 1)));
    }
}

fn preconditions(call: &Call, old: &Object, options: &DeleteOptions) -> Result<(), Status> {
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != old.uid()) {
        let why = format_args!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            old.uid()
        );
        return Err(Status::conflict(&call.kind.subject(), old.name(), why));
    }
    if let Some(version) =
        options.resource_version.as_deref().filter(|version| *version != old.resource_version())
    {
        let why = format_args!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            old.resource_version()
        );
        return Err(Status::conflict(&call.kind.subject(), old.name(), why));
    }
    Ok(())
}

/// What has to happen before the object may go, given what is to become of the objects it owns.
fn finalizers(object: &Object, propagation: Option<Propagation>) -> Vec<String> {
    let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
    let Some(propagation) = propagation else { return finalizers };
    finalizers.retain(|finalizer| finalizer != ORPHAN && finalizer != FOREGROUND);
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
        Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
    }
    finalizers
}

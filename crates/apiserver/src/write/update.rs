//! Update of an object, its status or another subresource.

use std::sync::Arc;

use krm::Object;
use krm::status::Status;
use serde_json::Value;
use store::{Entry, View};

use super::sealed::{self, Sealing};
use super::{
    Decided, Fate, Proposal, admit, current, effects, ownership, put, references, remove, stored_change,
};
use crate::call::Call;
use crate::request::query::WriteOptions;
use crate::secrets;

/// Somebody else was first.
const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Decides on an object that replaces what is there.
pub fn decide(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    object: Object,
    warnings: Vec<String>,
) -> Result<Decided, Status> {
    propose(call, view, options, object, warnings)?.settle(call, view)
}

/// What an object that replaces what is there would be.
pub fn propose(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    object: Object,
    warnings: Vec<String>,
) -> Result<Proposal, Status> {
    admit::kind_is_current(call, view, None)?;
    match current(call, view)? {
        Some(found) => begin(call, view, options, found, object, "update", warnings),
        None if call.kind.create_on_update && call.subresource.is_empty() => {
            super::create::propose(call, view, options, made_of(call, object)?, warnings)
        }
        None => Err(call.not_found()),
    }
}

/// What an object and its status that replace what is there would be, as one change.
pub fn propose_whole(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    object: Object,
    warnings: Vec<String>,
) -> Result<Proposal, Status> {
    let proposed = propose(call, view, options, object.clone(), warnings)?;
    let (Some(entry), Some(old)) = (proposed.entry, proposed.old) else { return Err(call.not_found()) };
    let mut status = call.clone();
    "status".clone_into(&mut status.subresource);
    let mut rest = proposed.new;
    rest.set_meta("resourceVersion", Some(old.resource_version().into()));
    let mut wanted = object;
    wanted.set_meta("managedFields", rest.meta("managedFields").cloned());
    let with_status =
        begin(&status, view, options, (entry.clone(), rest), wanted, "update", proposed.warnings)?;
    let sealing = proposed.sealing.and(with_status.sealing);
    Ok(Proposal { entry: Some(entry), old: Some(old), sealing, ..with_status })
}

/// What is created by an update of something that is not there: any version will do, but no uid.
fn made_of(call: &Call, mut object: Object) -> Result<Object, Status> {
    if !object.uid().is_empty() {
        return Err(uid_differs(call, object.uid(), ""));
    }
    check_version(object.resource_version())?;
    object.set_meta("resourceVersion", None);
    Ok(object)
}

/// A version that can't be one is an error of its own.
fn check_version(version: &str) -> Result<(), Status> {
    if version.is_empty() || version.parse::<u64>().is_ok() {
        return Ok(());
    }
    let why = match version.bytes().all(|byte| byte.is_ascii_digit()) {
        true => "value out of range",
        false => "invalid syntax",
    };
    Err(Status::failure(500, "", format!("strconv.ParseUint: parsing {version:?}: {why}")))
}

/// Everything before a replacement of what was found is checked.
pub fn begin(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    found: (Arc<Entry>, Object),
    mut new: Object,
    verb: &'static str,
    mut warnings: Vec<String>,
) -> Result<Proposal, Status> {
    let (entry, old) = found;
    if let Some(stray) = call.tokens.stray(&call.key()?, &new) {
        return Err(secrets::moves_a_value(call, &stray));
    }
    versions_agree(call, &old, &new, verb)?;
    // What is applied was sealed before it became part of the object.
    let mut sealing = match verb {
        "apply" => Sealing::default(),
        _ => {
            let sealing = sealed::take(call, view, Some(&old), &call.name, &mut new)?;
            if call.subresource.is_empty() {
                sealed::may_move(call, &old, &new, &sealing)?;
            }
            sealing
        }
    };
    warnings.append(&mut sealing.warnings);
    keep(call, &old, &mut new);
    // An apply, a change of scale and an undo have settled that already.
    if !matches!(verb, "apply" | "scale" | "undo") {
        ownership::on_write(call, Some(&old), &mut new, options);
    }
    if call.kind.shape.is_none() {
        restrict(call, &old, &mut new);
    }
    stored_change::prepare(call, &mut new, Some(&old));
    if call.subresource.is_empty() {
        for other in call.api.followers().rights.others() {
            other.prepare(call, view, &mut new);
        }
    }
    count_generation(call, &old, &mut new);
    Ok(Proposal { entry: Some(entry), old: Some(old), new, verb, draws: 1, sealing, warnings })
}

/// Writes `new` in place of `old`; an object that waited for nothing else goes.
pub fn land(
    call: &Call,
    view: &mut View,
    entry: &Arc<Entry>,
    old: &Object,
    mut new: Object,
    verb: &'static str,
) -> Result<Fate, Status> {
    if new.is_deleting() && is_finished(&new) {
        // While it waited to go, somebody may have come to refer to it.
        references::nobody_refers(call, view, &new)?;
        remove(call, view, &new)?;
        new.set_meta("resourceVersion", Some(old.resource_version().into()));
        return Ok(Fate::Gone(super::to_storage(call, new)?));
    }
    let effects = effects::decide(call, view, Some(old), &mut new)?;
    krm::ownership::keep_times(old, &mut new);
    let is_same = super::is_same(old, &new);
    new.set_meta("resourceVersion", Some(old.resource_version().into()));
    let stored = super::to_storage(call, new)?;
    if is_same && super::is_stored_so(call, entry, &stored) {
        effects.land(call, view)?;
        return Ok(Fate::Unchanged(call.key()?, entry.clone()));
    }
    let status_only = call.subresource == "status";
    put(call, view, &stored, verb, status_only)?;
    effects.land(call, view)?;
    Ok(Fate::Changed(stored))
}

/// Whether nothing has to happen any more before the object may go.
pub fn is_finished(object: &Object) -> bool {
    let of_namespace =
        object.at("spec.finalizers").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    object.finalizers().is_empty() && !(object.kind() == "Namespace" && of_namespace)
}

/// The write must be about the version it was read at, if it says one, and about the same life of the object.
fn versions_agree(call: &Call, old: &Object, new: &Object, verb: &str) -> Result<(), Status> {
    version_agrees(call, old, new, verb)?;
    // A patch that says another uid changes a field that may not change; an update means another object.
    if verb == "update" && !new.uid().is_empty() && new.uid() != old.uid() {
        return Err(uid_differs(call, new.uid(), old.uid()));
    }
    Ok(())
}

fn version_agrees(call: &Call, old: &Object, new: &Object, verb: &str) -> Result<(), Status> {
    let resource = call.kind.resource();
    let version = new.resource_version();
    // First, since what was written before in the same transaction is at version 0.
    if !version.is_empty() && version == old.resource_version() {
        return Ok(());
    }
    if version.is_empty() || version == "0" {
        if matches!(verb, "update" | "patch") && !call.kind.unconditional_update {
            let error = krm::meta::resource_version_required();
            return Err(Status::invalid(&resource, &call.name, &[error]));
        }
    } else {
        check_version(version)?;
    }
    if !matches!(version, "" | "0") && version != old.resource_version() {
        return Err(Status::conflict(&resource, &call.name, MODIFIED));
    }
    Ok(())
}

/// The object is another life of the same name.
pub fn uid_differs(call: &Call, wanted: &str, found: &str) -> Status {
    // Kubernetes keeps its own kinds without their group, but for definitions.
    let has_group = !call.kind.strategic || call.kind.group == "apiextensions.k8s.io";
    let group = if has_group { call.kind.group.clone() } else { String::new() };
    let at = [&group, &call.kind.names.plural, &call.namespace, &call.name];
    let at: Vec<&str> = at.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    Status::conflict(
        &call.kind.resource(),
        &call.name,
        format_args!(
            "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
            at.join("/")
        ),
    )
}

/// What a client may leave out, and what it may not decide.
fn keep(call: &Call, old: &Object, new: &mut Object) {
    krm::meta::keep_on_update(new, old);
    new.set_meta("selfLink", None);
    let namespace = call.kind.is_namespaced().then(|| call.namespace.as_str().into());
    new.set_meta("namespace", namespace);
    new.set_meta("resourceVersion", Some(old.resource_version().into()));
}

/// A subresource changes its part alone; the object itself everything but that part.
fn restrict(call: &Call, old: &Object, new: &mut Object) {
    match call.subresource.as_str() {
        "" if call.version().has_status() => {
            new.set("status", old.get("status").cloned());
        }
        "status" => {
            let managed = new.meta("managedFields").cloned();
            let status = new.get("status").cloned();
            let deleting = new.meta("deletionTimestamp").cloned();
            *new = old.clone();
            new.set("status", status);
            new.set_meta("managedFields", managed);
            new.set_meta("deletionTimestamp", deleting);
        }
        _ => {}
    }
}

fn count_generation(call: &Call, old: &Object, new: &mut Object) {
    if call.kind.generations && super::spec_differs(old, new) && call.subresource != "status" {
        new.set_meta("generation", Some(Value::from(old.generation() + 1)));
    }
}

//! Writes what effects say, as any write, in the name of the code that has them.

use std::sync::Arc;

use krm::Object;
use krm::kind::{
    Addition, Address, Amendment, Effect, EffectPlane, EffectWrite, Refusal, Sum, split_api_version,
};
use krm::status::Status;
use store::{Put, View};

use super::{DEEPEST, Landing, options};
use crate::call::Call;
use crate::encode;
use crate::identity::{AUTHENTICATED, Identity, MASTERS};
use crate::plane::Plane;
use crate::planes;
use crate::secrets::tokens::Tokens;
use crate::write::delete::{self, DeleteOptions};
use crate::write::{admit, create, current, is_same, level, put, to_storage, uid_of, update};

/// The reason of a refusal by the effects of an object that is itself written as an effect.
const REFUSED: &str = "RefusedEffect";

impl Landing {
    /// Writes it. It comes after the object itself, which is the first write of the commit.
    pub fn land(self, call: &Call, view: &mut View) -> Result<(), Status> {
        let Landing { name, effects } = self;
        if effects.is_empty() {
            return Ok(());
        }
        let asker = call.asker.clone().unwrap_or_else(|| Arc::new(call.clone()));
        for (manager, Effect { plane, write }) in effects {
            let (plane, at) = target_of(call, &plane, &write)
                .map_err(|failed| hidden(call, &call.address_of(&name), failed))?;
            let of = inside(call, asker.clone(), plane, &at, &manager);
            let landed = of.and_then(|of| {
                planes::guard(&of, view)?;
                write_one(&of, view, &manager, write)
            });
            landed.map_err(|failed| told(call, &name, &at, failed))?;
        }
        Ok(())
    }
}

/// The plane of an effect with the life of its project, and where in it the object is.
fn target_of(
    call: &Call,
    plane: &EffectPlane,
    write: &EffectWrite,
) -> Result<((Plane, Option<store::Uid>), Address), Status> {
    let plane = match plane {
        EffectPlane::Same => (call.plane.clone(), call.project),
        EffectPlane::Root => (Plane::root(), None),
        EffectPlane::Project(project) => (Plane::project(&project.name), Some(uid_of(&project.uid))),
    };
    let at = match write {
        EffectWrite::Status(at, _)
        | EffectWrite::Labels(at, _)
        | EffectWrite::Count(at, _)
        | EffectWrite::Amend(at, _)
        | EffectWrite::Delete(at) => at.clone(),
        EffectWrite::Create(object) => {
            let (group, _) = split_api_version(object.api_version());
            let kind = call.api.kinds().of(&plane.0).kind(group, object.kind()).cloned();
            let kind = kind.ok_or_else(Status::no_such_resource)?;
            Address {
                group: kind.group.clone(),
                plural: kind.names.plural.clone(),
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
            }
        }
        EffectWrite::OwnStatus(_) => {
            return Err(Status::internal("a plugin sets the status of another kind"));
        }
    };
    Ok((plane, at))
}

/// A call about the target of an effect, by the code that has the effect.
pub fn inside(
    call: &Call,
    asker: Arc<Call>,
    (plane, project): (Plane, Option<store::Uid>),
    at: &Address,
    manager: &str,
) -> Result<Call, Status> {
    if call.depth >= DEEPEST {
        return Err(Status::internal("effects of effects have no end"));
    }
    let catalog = if plane == call.plane { call.catalog.clone() } else { call.api.kinds().of(&plane) };
    let kind = catalog.resource(&at.group, &at.plural).cloned().ok_or_else(Status::no_such_resource)?;
    Ok(Call {
        api: call.api.clone(),
        plane,
        project,
        catalog,
        version: kind.storage,
        kind,
        namespace: at.namespace.clone(),
        name: at.name.clone(),
        subresource: String::new(),
        who: Identity::new(&format!("system:{manager}"), &[MASTERS, AUTHENTICATED]),
        really: None,
        agent: call.agent.clone(),
        message: call.message.clone(),
        only: None,
        redacts: false,
        tokens: Tokens::default(),
        budget: Arc::default(),
        fence: call.fence.clone(),
        held: call.held.clone(),
        all_planes: call.all_planes,
        depth: call.depth + 1,
        asker: Some(asker),
        conversions: None,
    })
}

fn write_one(of: &Call, view: &mut View, manager: &str, write: EffectWrite) -> Result<(), Status> {
    match write {
        EffectWrite::OwnStatus(_) => Ok(()),
        EffectWrite::Status(_, status) => change(of, view, manager, Part::Status, |object| {
            object.set("status", Some(status).filter(|status| !status.is_null()));
            Ok(())
        }),
        EffectWrite::Labels(_, labels) => change(of, view, manager, Part::Object, |object| {
            labels.iter().for_each(|(key, value)| object.set_label(key, value.as_deref()));
            Ok(())
        }),
        EffectWrite::Count(_, addition) => {
            change(of, view, manager, Part::Counter, |object| count(of, object, &addition))
        }
        EffectWrite::Amend(_, amendment) => amend(of, view, amendment),
        EffectWrite::Create(object) => make(of, view, manager, object),
        EffectWrite::Delete(_) => match delete::decide(of, view, &DeleteOptions::default()) {
            Err(status) if status.code == 404 => Ok(()),
            decided => decided.map(drop),
        },
    }
}

fn count(of: &Call, object: &mut Object, addition: &Addition) -> Result<(), Status> {
    match addition.apply(object) {
        Sum::Counted(_) => Ok(()),
        Sum::Short(by) => {
            let kind = &of.kind.names.kind;
            tracing::error!(kind, name = object.name(), by, "more was given back than a counter has");
            Ok(())
        }
        Sum::Refused(refusal) => Err(inner(refusal)),
    }
}

/// The part of an object that an effect changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything but its status.
    Object,
    /// Its status.
    Status,
    /// A status of which history keeps every change.
    Counter,
}

/// Changes an object as an update of it or of its status would, but without effects of its own.
pub fn change(
    of: &Call,
    view: &mut View,
    manager: &str,
    part: Part,
    change: impl FnOnce(&mut Object) -> Result<(), Status>,
) -> Result<(), Status> {
    let subresource = if part == Part::Object { "" } else { "status" };
    let of = &Call { subresource: subresource.to_owned(), ..of.clone() };
    admit::kind_is_current(of, view, None)?;
    let Some(found) = current(of, view)? else { return Err(of.not_found()) };
    let old = found.1.clone();
    let mut new = old.clone();
    change(&mut new)?;
    let mut proposal = update::begin(of, view, &options(manager), found, new, "update", Vec::new())?;
    proposal.check(of, view)?;
    let mut new = proposal.new;
    krm::ownership::keep_times(&old, &mut new);
    if is_same(&old, &new) {
        return Ok(());
    }
    new.set_meta("resourceVersion", Some(old.resource_version().into()));
    put(of, view, &to_storage(of, new)?, "update", part == Part::Status)
}

/// Has the status of an object changed at the commit.
fn amend(of: &Call, view: &mut View, amendment: Amendment) -> Result<(), Status> {
    let key = of.key()?;
    let level = level(&of.kind, true);
    debug_assert!(of.kind.is_found_by_spec, "{} can't be amended", of.kind.names.kind);
    let (kinds, amended, at) = (of.api.kinds().clone(), of.api.amended().clone(), key.clone());
    let is_possible = view.amend(&key, move |entry| {
        let mut object = match amended.take(&at, entry) {
            Some(object) => object,
            None => kinds.in_storage_version(&at, encode::read(entry.bytes()).ok()?),
        };
        let is_changed = amendment.apply(&mut object);
        let body = is_changed.then(|| encode::body(&object).ok()).flatten()?;
        amended.keep(&at, &body, object);
        Some(Put::new(at.clone(), entry.uid(), body).verb("update").level(level))
    });
    let why = "it was changed at the same time; try again";
    if is_possible { Ok(()) } else { Err(Status::conflict(&of.kind.resource(), &of.name, why)) }
}

/// Creates an object as anybody would, with effects of its own.
pub fn make(of: &Call, view: &mut View, manager: &str, object: Object) -> Result<(), Status> {
    if of.kind.is_namespaced() {
        planes::furnish_namespace(of, view)?;
    }
    let (object, _) = admit::shape(of, object).map_err(|why| admit::unfit(of, &why))?;
    create::decide(of, view, &options(manager), object, Vec::new()).map(drop)
}

/// What the code of an effect says no with: its words are for whoever writes the object.
pub fn inner(refusal: Refusal) -> Status {
    match refusal {
        Refusal::Forbidden(why) | Refusal::Denied(why) => Status::failure(403, REFUSED, why),
        Refusal::Conflict(why) => Status::failure(409, REFUSED, why),
        Refusal::Invalid(errors) => {
            let whys: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Status::internal(whys.join("; "))
        }
    }
}

/// The error for the writer of an object whose effect could not be written.
fn told(call: &Call, name: &str, at: &Address, failed: Status) -> Status {
    match (failed.reason, failed.code) {
        (REFUSED, _) if call.depth > 0 => failed,
        (REFUSED, 403) => Status::forbidden(&call.kind.resource(), name, failed.message),
        (REFUSED, _) => Status::conflict(&call.kind.resource(), name, failed.message),
        _ => hidden(call, at, failed),
    }
}

/// Why an effect could not be written is for the log: whoever writes the object may not be allowed to see its target.
pub fn hidden(call: &Call, at: &Address, failed: Status) -> Status {
    if failed.reason == admit::STALE_KIND || call.depth > 0 {
        return failed;
    }
    let kind = &call.kind.names.kind;
    tracing::error!(kind, plane = %call.plane, target = ?at, error = failed.message, "effect of a change failed");
    Status::internal(format!(
        "an object that {kind} depends on could not be updated; the server's log says why"
    ))
}

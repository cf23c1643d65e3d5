//! Declared references: targets must exist, immutable ones stay, and referenced objects are not deleted.

use krm::Object;
use krm::field::{Fault, FieldError, Path};
use krm::kind::{Address, Kind, Missing, OnDelete, RawChange, Reader, Reference};
use krm::status::{Cause, Status};
use serde_json::Value;
use store::View;

use super::guarded::Guarded;
use crate::authz::Attributes;
use crate::call::Call;
use crate::catalog::Catalog;
use crate::keys;
use crate::plane::Plane;

/// How many of those who refer a message names.
const NAMED: usize = 10;
/// Those who refer and may not be seen by who asks.
const UNSEEN: &str = "others that you are not allowed to see";
/// What is wrong with a target that is marked as being deleted.
const GOING: &str = "is being deleted and cannot be referenced";
/// How many of each kind the words of a webhook name.
const COUNTED: usize = 5;
/// How many of them an answer lists.
const MOST_CAUSES: usize = 100;

/// What is wrong with the references of a new or changed object.
pub fn check(call: &Call, view: &mut View, change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    let mut errors = Vec::new();
    for reference in &call.kind.references {
        let now = reference.names(new);
        let before = change.old.map(|old| reference.names(old)).unwrap_or_default();
        if reference.immutable && !before.is_empty() && now != before {
            let (field, name) = now.first().or(before.first()).cloned().unwrap_or_default();
            errors.push(FieldError::invalid(&Path::of(&field), &Value::from(name), "field is immutable"));
            continue;
        }
        if reference.missing != Missing::Refuse || reference.absent.is_some() {
            continue;
        }
        // What was there before and stays is looked after by its target, which can't go.
        for (field, name) in now.iter().filter(|found| !before.contains(found)) {
            let found = find(call, view, reference, &target(reference, new, name));
            let (at, name) = (Path::of(field), Value::from(*name));
            match found {
                Found::Nothing => errors.push(FieldError::with(Fault::NotFound, &at, &name, "")),
                Found::Going => errors.push(FieldError::invalid(&at, &name, GOING)),
                Found::There => {}
            }
        }
    }
    errors
}

/// Refuses a new reference to what is not there, where its kind has words of its own for that.
pub fn targets_exist(call: &Call, view: &mut View, change: &RawChange<'_>) -> Result<(), Status> {
    let Some(new) = change.new else { return Ok(()) };
    let mut missing = Vec::new();
    for reference in call.kind.references.iter().filter(|reference| reference.missing == Missing::Refuse) {
        let Some(says) = reference.absent else { continue };
        let before = change.old.map(|old| reference.names(old)).unwrap_or_default();
        let now = reference.names(new);
        for (field, name) in now.iter().filter(|found| !before.contains(found)) {
            let why = match find(call, view, reference, &target(reference, new, name)) {
                Found::Nothing => says.replace("{}", name),
                Found::Going => format!("{} {name} {GOING}", reference.plural),
                Found::There => continue,
            };
            // One field may refer to several kinds: what comes first in it is told first.
            let declared = call.kind.references.iter().position(|other| other.path == reference.path);
            missing.push((declared, field.clone(), why));
        }
    }
    match missing.into_iter().min() {
        Some((_, _, why)) => Err(super::admit::denied(call, &why)),
        None => Ok(()),
    }
}

/// Whoever newly names a target needs the verb on it that the reference takes. Controllers and effects act for somebody who
/// needed it.
pub fn may_refer(call: &Call, change: &RawChange<'_>) -> Result<(), Status> {
    let Some(new) = change.new.filter(|_| call.depth == 0 && call.who.compiled_role.is_none()) else {
        return Ok(());
    };
    for reference in &call.kind.references {
        let Some(verb) = reference.verb else { continue };
        let before = change.old.map(|old| reference.names(old)).unwrap_or_default();
        for (_, name) in reference.names(new).iter().filter(|found| !before.contains(found)) {
            let at = target(reference, new, name);
            let what =
                Attributes::resource(verb, &at.group, &at.plural).in_namespace(&at.namespace).named(&at.name);
            let decision = call.api.followers().rights.decide(&call.plane, &call.who, &what);
            if !decision.allowed {
                return Err(what.forbidden(&call.who, &decision.reason));
            }
        }
    }
    Ok(())
}

/// What there is of a target, as far as the writer may know.
enum Found {
    Nothing,
    Going,
    There,
}

/// Looks for a target; what is found guards the commit. One in the root that the writer may not see is not looked for:
/// it must make no difference whether it exists.
fn find(call: &Call, view: &mut View, reference: &Reference, target: &Address) -> Found {
    let plane = plane_of(reference, &call.plane);
    if !reference.shared && plane != call.plane && !call.may_see_in(&plane, target) {
        return Found::Nothing;
    }
    let mut guarded = Guarded::new(view, &plane);
    match guarded.exists(target) {
        false => Found::Nothing,
        true if guarded.is_going(target) => Found::Going,
        true => Found::There,
    }
}

/// The plane of the targets of a reference in an object of this plane.
fn plane_of(reference: &Reference, referring: &Plane) -> Plane {
    if reference.in_root { Plane::root() } else { referring.clone() }
}

/// What a reference of `object` points at.
pub fn target(reference: &Reference, object: &Object, name: &str) -> Address {
    reference.target(object, name)
}

/// Somebody who refers to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referrer {
    /// The kind of who refers.
    pub kind: String,
    /// The plane it is in.
    pub plane: Plane,
    /// Where it is there.
    pub at: Address,
    /// Its `apiVersion`.
    pub api_version: String,
    /// The field that refers.
    pub field: String,
    /// Whether it keeps its target from going.
    pub blocks: bool,
    /// What it still does to its target.
    pub tie: &'static str,
}

/// Everybody among `objects` who refers to `to` in the call's plane. Each is read as its own plane's kinds have it: a
/// project may refer to the root.
pub fn referrers<'a>(
    call: &Call,
    to: &Address,
    objects: impl Iterator<Item = (&'a store::Key, &'a Object)>,
) -> Vec<Referrer> {
    let mut found = Vec::new();
    for (key, object) in objects {
        let Some(parts) = keys::parts(key) else { continue };
        let plane = parts.plane();
        let catalog = match plane == call.plane {
            true => call.catalog.clone(),
            false => call.api.kinds().of(&plane),
        };
        let Some(kind) = catalog.resource(parts.group, parts.plural) else { continue };
        let to = (&call.plane, to);
        found.extend(fields_of(kind, (&plane, object), to).map(|(field, blocks, tie)| Referrer {
            kind: kind.names.kind.clone(),
            plane: plane.clone(),
            at: parts.address(),
            api_version: object.api_version().to_owned(),
            field,
            blocks,
            tie,
        }));
    }
    found
}

fn fields_of<'a>(
    kind: &'a Kind,
    (plane, object): (&'a Plane, &'a Object),
    (target_plane, to): (&'a Plane, &'a Address),
) -> impl Iterator<Item = (String, bool, &'static str)> + 'a {
    let there = kind.references.iter().filter(|reference| plane_of(reference, plane) == *target_plane);
    there.flat_map(move |reference| {
        let blocks = reference.on_delete == OnDelete::Block;
        let names = reference.names(object).into_iter();
        let here = names.filter(move |(_, name)| target(reference, object, name) == *to);
        here.map(move |(field, _)| (field, blocks, reference.tie))
    })
}

/// Everybody among `objects` who names an object of this kind where any may be named.
pub fn mentioners<'a>(
    catalog: &Catalog,
    to: (&Address, &str),
    objects: impl Iterator<Item = (&'a store::Key, &'a Object)>,
) -> Vec<Referrer> {
    let mut found = Vec::new();
    for (key, object) in objects {
        let Some(parts) = keys::parts(key) else { continue };
        let Some(kind) = catalog.resource(parts.group, parts.plural) else { continue };
        let (at, target_kind) = to;
        let wanted =
            Mention { group: &at.group, kind: target_kind, namespace: &at.namespace, name: &at.name };
        let paths = kind.mentions.iter().filter(|path| Mention::at(object, path) == Some(wanted));
        found.extend(paths.map(|path| Referrer {
            kind: kind.names.kind.clone(),
            plane: parts.plane(),
            at: parts.address(),
            api_version: object.api_version().to_owned(),
            field: path.clone(),
            blocks: false,
            tie: "refer to it",
        }));
    }
    found
}

/// An object of any kind, as another one names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention<'a> {
    /// Its group.
    pub group: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its namespace; empty when none is said.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl<'a> Mention<'a> {
    /// What `object` names at `path`.
    pub fn at(object: &'a Object, path: &str) -> Option<Mention<'a>> {
        let named = object.at(path)?;
        let text = |field: &str| named.get(field).and_then(Value::as_str);
        Some(Mention {
            group: text("apiGroup")?,
            kind: text("kind")?,
            namespace: text("namespace").unwrap_or_default(),
            name: text("name")?,
        })
    }
}

/// Refuses to let an object go while others refer to it in a way that forbids it, naming them.
pub fn nobody_refers(call: &Call, view: &mut View, object: &Object) -> Result<(), Status> {
    let Some((why, causes)) = kept_by(call, view, object) else { return Ok(()) };
    let mut status = match &call.kind.webhook {
        Some(_) => super::admit::denied(call, &why),
        None => Status::conflict(&call.kind.resource(), object.name(), why),
    };
    if status.details.is_none() {
        status = status.about(krm::status::Details {
            name: object.name().to_owned(),
            group: call.kind.group.clone(),
            kind: call.kind.names.plural.clone(),
            ..Default::default()
        });
    }
    if let Some(details) = &mut status.details {
        details.causes = causes;
    }
    Err(status)
}

/// What keeps an object from going: a sentence, and everybody who refers to it in a way that forbids it.
fn kept_by(call: &Call, view: &mut View, object: &Object) -> Option<(String, Vec<Cause>)> {
    let to = call.address_of(object.name());
    let members = Guarded::of(view, call).referrers(&to);
    let referrers = referrers(call, &to, members.iter().map(|(key, object)| (key, object)));
    let mut blocking: Vec<Referrer> = referrers.into_iter().filter(|referrer| referrer.blocks).collect();
    blocking.retain(|referrer| referrer.plane != call.plane || referrer.at != to);
    if blocking.is_empty() {
        return None;
    }
    // Whoever deletes need not be allowed to see all who refer: of the others it is told that there are some.
    let all = blocking.len();
    blocking.retain(|referrer| call.may_see_in(&referrer.plane, &referrer.at));
    let has_unseen = blocking.len() < all;
    let name = |referrer: &Referrer| {
        let at = &referrer.at;
        let namespace = if at.namespace.is_empty() { String::new() } else { format!("{}/", at.namespace) };
        let project = match referrer.plane == call.plane {
            true => String::new(),
            false => format!(" of project {}", referrer.plane),
        };
        format!("{} {namespace}{}{project} ({})", referrer.kind, at.name, referrer.field)
    };
    let mut named: Vec<String> = blocking.iter().take(NAMED).map(name).collect();
    if blocking.len() > NAMED {
        named.push(format!("and {} more", blocking.len() - NAMED));
    }
    if has_unseen {
        named.push(UNSEEN.to_owned());
    }
    let causes = blocking.iter().take(MOST_CAUSES).map(|referrer| Cause {
        reason: "StillReferredTo".into(),
        message: name(referrer),
        field: referrer.field.clone(),
    });
    let why = match &call.kind.webhook {
        Some(webhook) => {
            let kind = &call.kind.names.kind;
            let mut told = counted(&blocking, webhook.order);
            if has_unseen {
                told.push_str(if told.is_empty() { "" } else { "; " });
                told.push_str(&format!("{UNSEEN} still refer to it"));
            }
            format!("cannot delete {kind} {}: {told}", object.name())
        }
        None => format!("still referenced by {}; change or delete those first", named.join(", ")),
    };
    Some((why, causes.collect()))
}

/// Those who refer, kind by kind: `2 Node(s) still placed in it: [n1 n2]; 1 Rack(s) still reference it: [r1]`.
fn counted(blocking: &[Referrer], order: &[&str]) -> String {
    let mut kinds: Vec<(usize, &str, &str)> = blocking
        .iter()
        .map(|referrer| {
            let place = order.iter().position(|kind| *kind == referrer.kind).unwrap_or(order.len());
            (place, referrer.kind.as_str(), referrer.tie)
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let told = kinds.iter().map(|(_, kind, tie)| {
        let mut names: Vec<&str> = blocking
            .iter()
            .filter(|referrer| referrer.kind == *kind && referrer.tie == *tie)
            .map(|referrer| referrer.at.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let first = names[..names.len().min(COUNTED)].join(" ");
        let more = match names.len().saturating_sub(COUNTED) {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        format!("{} {kind}(s) still {tie}: [{first}]{more}", names.len())
    });
    told.collect::<Vec<String>>().join("; ")
}

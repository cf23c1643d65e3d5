//! Declared references: their targets exist, they don't change where they may not, and what is referred to stays.

use krm::Object;
use krm::field::{Fault, FieldError, Path};
use krm::kind::{Address, Kind, Missing, OnDelete, RawChange, Reader, Reference};
use krm::status::{Cause, Status};
use serde_json::Value;
use store::View;

use super::guarded::Guarded;
use crate::call::Call;
use crate::catalog::Catalog;
use crate::keys;

/// How many of those who refer a message names.
const NAMED: usize = 10;
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
        if reference.missing != Missing::Refuse {
            continue;
        }
        let mut guarded = Guarded::new(view, &call.plane);
        // What was there before and stays is looked after by its target, which can't go.
        for (field, name) in now.iter().filter(|found| !before.contains(found)) {
            let target = target(reference, new, name);
            let (at, name) = (Path::of(field), Value::from(*name));
            if !guarded.exists(&target) {
                errors.push(FieldError::with(Fault::NotFound, &at, &name, ""));
            } else if guarded.is_going(&target) {
                errors.push(FieldError::invalid(&at, &name, "is being deleted; refer to one that stays"));
            }
        }
    }
    errors
}

/// What a reference of `object` points at.
pub fn target(reference: &Reference, object: &Object, name: &str) -> Address {
    Address {
        group: reference.group.clone(),
        plural: reference.plural.clone(),
        namespace: if reference.same_namespace { object.namespace().to_owned() } else { String::new() },
        name: name.to_owned(),
    }
}

/// Somebody who refers to an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referrer {
    /// The kind of who refers.
    pub kind: String,
    /// Where it is.
    pub at: Address,
    /// Its `apiVersion`.
    pub api_version: String,
    /// The field that refers.
    pub field: String,
    /// Whether it keeps its target from going.
    pub blocks: bool,
}

/// Everybody among `objects` who refers to `to`.
pub fn referrers<'a>(
    catalog: &Catalog,
    to: &Address,
    objects: impl Iterator<Item = (&'a store::Key, &'a Object)>,
) -> Vec<Referrer> {
    let mut found = Vec::new();
    for (key, object) in objects {
        let Some(parts) = keys::parts(key) else { continue };
        let Some(kind) = catalog.resource(parts.group, parts.plural) else { continue };
        found.extend(fields_of(kind, object, to).map(|(field, blocks)| Referrer {
            kind: kind.names.kind.clone(),
            at: parts.address(),
            api_version: object.api_version().to_owned(),
            field,
            blocks,
        }));
    }
    found
}

fn fields_of<'a>(
    kind: &'a Kind,
    object: &'a Object,
    to: &'a Address,
) -> impl Iterator<Item = (String, bool)> + 'a {
    kind.references.iter().flat_map(move |reference| {
        let blocks = reference.on_delete == OnDelete::Block;
        let names = reference.names(object).into_iter();
        let here = names.filter(move |(_, name)| target(reference, object, name) == *to);
        here.map(move |(field, _)| (field, blocks))
    })
}

/// Refuses to let an object go while others refer to it in a way that forbids it, naming them.
pub fn nobody_refers(call: &Call, view: &mut View, object: &Object) -> Result<(), Status> {
    let Some((why, causes)) = kept_by(call, view, object) else { return Ok(()) };
    let mut status = Status::conflict(&call.kind.resource(), object.name(), why);
    if let Some(details) = &mut status.details {
        details.causes = causes;
    }
    Err(status)
}

/// What keeps an object from going: a sentence, and everybody who refers to it in a way that forbids it.
fn kept_by(call: &Call, view: &mut View, object: &Object) -> Option<(String, Vec<Cause>)> {
    let to = call.address_of(object.name());
    let members = Guarded::new(view, &call.plane).referrers(&to);
    let referrers = referrers(&call.catalog, &to, members.iter().map(|(key, object)| (key, object)));
    let mut blocking: Vec<Referrer> = referrers.into_iter().filter(|referrer| referrer.blocks).collect();
    blocking.retain(|referrer| referrer.at != to);
    if blocking.is_empty() {
        return None;
    }
    let name = |referrer: &Referrer| {
        let at = &referrer.at;
        let namespace = if at.namespace.is_empty() { String::new() } else { format!("{}/", at.namespace) };
        format!("{} {namespace}{} ({})", referrer.kind, at.name, referrer.field)
    };
    let mut named: Vec<String> = blocking.iter().take(NAMED).map(name).collect();
    if blocking.len() > NAMED {
        named.push(format!("and {} more", blocking.len() - NAMED));
    }
    let causes = blocking.iter().take(MOST_CAUSES).map(|referrer| Cause {
        reason: "StillReferredTo".into(),
        message: name(referrer),
        field: referrer.field.clone(),
    });
    let why = format!("it is still referred to by {}; change or delete those first", named.join(", "));
    Some((why, causes.collect()))
}

//! Restore: recreates a deleted object.

use krm::Object;
use krm::kind::split_api_version;
use krm::status::Status;
use serde_json::Value;
use store::{Key, View};

use super::history;
use super::revision;
use crate::call::Call;
use crate::keys;
use crate::request::query::WriteOptions;
use crate::write::guarded::Guarded;
use crate::write::{Proposal, admit, create, sealed};

/// The state in which an object is to be made again: the last before it was deleted, or the one after `at`.
pub async fn find(call: &Call, at: Option<&str>) -> Result<Object, Status> {
    super::as_of::kept(call)?;
    let key = call.key()?;
    let entry = match at {
        Some(text) => history::state(call, text).await?,
        None => {
            let changes = history::changes(call, None, 1).await?;
            let Some(last) = changes.items.first() else { return Err(call.not_found()) };
            if last.after.is_some() {
                return Err(Status::already_exists(&call.kind.resource(), &call.name));
            }
            let why = || {
                Status::expired(format!(
                    "the last state of {} {:?} before its deletion was removed by retention",
                    call.kind.resource(),
                    call.name
                ))
            };
            last.before.clone().ok_or_else(why)?
        }
    };
    Ok(Object::from_value(revision::read(call, &key, &entry)?).unwrap_or_default())
}

/// The object of the call, made again from an older state.
pub fn propose(
    call: &Call,
    view: &mut View,
    options: &WriteOptions,
    state: &Object,
) -> Result<Proposal, Status> {
    admit::kind_is_current(call, view, Some(&call.name))?;
    let mut object = state.clone();
    object.set_type(&call.api_version(), &call.kind.names.kind);
    object.set("status", None);
    for field in ["finalizers", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generateName"]
    {
        object.set_meta(field, None);
    }
    let owned = object.meta("managedFields").cloned();
    keep_living_owners(call, view, &mut object)?;
    create::fill_in(call, &mut object)?;
    let (mut object, dropped) = admit::shape(call, object).map_err(|why| admit::unfit(call, &why))?;
    let mut warnings = Vec::new();
    admit::complain(dropped, options.validation, &mut warnings).map_err(|why| admit::unfit(call, &why))?;
    // Who owned which fields owns them again.
    object.set_meta("managedFields", owned);
    // What was sealed went with the object that was deleted.
    let mut sealing = sealed::take(call, view, None, &call.name, &mut object)?;
    warnings.append(&mut sealing.warnings);
    Ok(Proposal { sealing, ..create::begin(call, view, object, "restore", warnings)? })
}

/// Owners that are not there any more, or are other objects of the same name, are left out.
fn keep_living_owners(call: &Call, view: &mut View, object: &mut Object) -> Result<(), Status> {
    let Some(owners) = object.meta("ownerReferences").and_then(Value::as_array).cloned() else {
        return Ok(());
    };
    let mut living = Vec::new();
    for owner in owners {
        if let Some(key) = key_of(call, object.namespace(), &owner)
            && let Some((_, found)) = Guarded::new(view, &call.plane).entry(&key)?
            && owner["uid"] == found.uid()
            && !found.is_deleting()
        {
            living.push(owner);
        }
    }
    object.set_meta("ownerReferences", (!living.is_empty()).then_some(Value::Array(living)));
    Ok(())
}

fn key_of(call: &Call, namespace: &str, owner: &Value) -> Option<Key> {
    let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
    let (group, _) = split_api_version(text("apiVersion"));
    let kind = call.catalog.kind(group, text("kind"))?;
    let at = krm::kind::Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: if kind.is_namespaced() { namespace.to_owned() } else { String::new() },
        name: text("name").to_owned(),
    };
    keys::object(&call.plane, &at).ok()
}

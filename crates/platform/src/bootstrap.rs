//! Bootstrap objects: the system namespace, a ProtectedResource for every kind, and the built-in roles and
//! activity policies. They are created on an empty store and corrected at every start.

use std::collections::HashMap;

use apiserver::api::Api;
use apiserver::catalog::Kinds;
use apiserver::client::Client;
use apiserver::plane::Plane;
use apiserver::write::{self, batch::in_batches, create::fill_in};
use krm::Object;
use krm::condition::Finding;
use krm::kind::{Address, split_api_version};
use krm::status::Status;
use serde_json::{Value, json};
use store::{Author, View};

use crate::activity::shipping;
use crate::iam::roles::{At, Roles, SYSTEM_NAMESPACE};
use crate::iam::shipped;

/// Makes what is missing, and puts right what differs.
pub async fn run(api: &Api) -> Result<(), Status> {
    let client = Client::system(api, "groundplane");
    let now = api.now().to_string();
    let wanted = objects(api.kinds(), &now);
    let mut stale = Vec::new();
    for object in wanted {
        match client.get_like(&object).await {
            Some(existing) if is_as_wanted(&existing, &object) => {}
            existing => stale.push(merged(existing, object)),
        }
    }
    let author = Author::new("system:groundplane", "groundplane");
    let writing = client.clone();
    let put = move |view: &mut View, object: &Object| put(&writing, view, object);
    in_batches(api, &author, stale, |_| Ok(()), put).await?;
    api.caught_up(api.store().latest().version()).await;
    Ok(())
}

fn objects(kinds: &Kinds, now: &str) -> Vec<Object> {
    let mut wanted = vec![namespace()];
    wanted.extend(with_status(shipped::objects(kinds), now));
    wanted.extend(shipping::objects(kinds, now));
    wanted
}

/// All of it, by where it is.
pub fn shipped(kinds: &Kinds) -> HashMap<Address, Object> {
    let catalog = kinds.of(&Plane::root());
    let at = |object: &Object| {
        let (group, _) = split_api_version(object.api_version());
        Some(Address {
            group: group.to_owned(),
            plural: catalog.kind(group, object.kind())?.names.plural.clone(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
        })
    };
    objects(kinds, "").into_iter().filter_map(|object| Some((at(&object)?, object))).collect()
}

fn namespace() -> Object {
    let mut namespace = Object::new("v1", "Namespace");
    namespace.set_meta("name", Some(SYSTEM_NAMESPACE.into()));
    namespace
}

/// What ships says at once how it is: nobody has to wait for a controller to see what a role grants.
fn with_status(mut objects: Vec<Object>, now: &str) -> Vec<Object> {
    let mut roles = Roles::default();
    let at = |object: &Object| At::new("", object.namespace(), object.name());
    for role in objects.iter().filter(|object| object.kind() == "Role") {
        roles.put(&at(role), role);
    }
    for object in &mut objects {
        object.set_meta("generation", Some(1.into()));
        if let Some(effective) = roles.get(&at(object)).filter(|_| object.kind() == "Role") {
            let status = json!({ "effectivePermissions": effective.permissions(), "observedGeneration": 1 });
            object.set("status", Some(status));
        }
        let message = if object.kind() == "Role" { "Role can be bound" } else { "Reconciled" };
        Finding::holds("Ready", "Ready", message).tell(object, now);
    }
    objects
}

fn is_as_wanted(existing: &Object, wanted: &Object) -> bool {
    let has = |field: &str| {
        let pairs = wanted.meta(field).and_then(Value::as_object).into_iter().flatten();
        pairs.into_iter().all(|(key, value)| existing.meta(field).and_then(|all| all.get(key)) == Some(value))
    };
    (wanted.get("spec").is_none() || existing.get("spec") == wanted.get("spec"))
        && has("labels")
        && has("annotations")
}

/// The existing object with what is wanted of it; what else it says stays.
fn merged(existing: Option<Object>, wanted: Object) -> Object {
    let Some(mut object) = existing else { return wanted };
    for field in ["labels", "annotations"] {
        let mut pairs = object.meta(field).and_then(Value::as_object).cloned().unwrap_or_default();
        pairs.extend(wanted.meta(field).and_then(Value::as_object).cloned().unwrap_or_default());
        object.set_meta(field, (!pairs.is_empty()).then(|| pairs.into()));
    }
    if object.get("spec") != wanted.get("spec") {
        object.set_meta("generation", Some((object.generation() + 1).into()));
    }
    object.set("spec", wanted.get("spec").cloned());
    let mut status = wanted.get("status").cloned();
    if let Some(seen) = status.as_mut().and_then(|status| status.get_mut("observedGeneration")) {
        *seen = object.generation().into();
    }
    object.set("status", status);
    object
}

/// Writes an object as it stands.
fn put(client: &Client, view: &mut View, object: &Object) -> Result<(), Status> {
    let kind = client.kind_of(object)?;
    let call = client.call(&kind, object.namespace(), object.name(), "");
    let mut object = object.clone();
    let is_new = object.uid().is_empty();
    if is_new {
        fill_in(&call, &mut object)?;
        kind.complete.iter().for_each(|complete| complete(&mut object));
    }
    if object.get("status").is_none() {
        kind.prepare.iter().for_each(|prepare| prepare(&mut object, None, ""));
    }
    // Another server of the same store may be first; both write the same.
    if is_new && view.get(&call.key()?).is_some() {
        return Ok(());
    }
    write::put(&call, view, &object, if is_new { "create" } else { "update" }, false)
}

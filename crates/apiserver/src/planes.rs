//! The control planes of projects: which there are, who belongs to them, what each begins with, and how they end.
//!
//! A plane is there when the root holds an object of its name, of the kind that a module declares for that
//! ([`PlaneKind`](crate::plane::PlaneKind)). The server asks nothing else of that kind.

use std::sync::Arc;

use krm::Object;
use krm::kind::Address;
use krm::status::Status;
use serde_json::json;
use store::{Author, Entry, Key, Put, Refused, Uid, View};

use crate::api::{Api, store_failure};
use crate::authz::RBAC_GROUP;
use crate::call::Call;
use crate::catalog::Kinds;
use crate::client::Client;
use crate::encode;
use crate::identity::{Identity, MASTERS};
use crate::keys;
use crate::plane::{Plane, PlaneKind};
use crate::request::query::WriteOptions;
use crate::write;
use crate::write::guarded::Guarded;

/// Keeps a project until its plane is empty.
pub const FINALIZER: &str = "groundplane.dev/control-plane";
/// The binding that makes whoever made a project its administrator.
pub const CREATOR: &str = "project-creator";
/// Namespaces that clients expect to be there.
pub const NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];
/// One more of the root, for heartbeats of nodes that some programs keep there. Projects have none.
pub const NODE_LEASES: &str = "kube-node-lease";
/// The group of all service accounts; a plane believes only the tokens of its own.
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
/// What the name of a service account begins with.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// Where the project of a plane is.
pub fn key(kinds: &Kinds, plane: &Plane) -> Option<Key> {
    let at = kinds.planes()?.address(plane);
    keys::object(&Plane::root(), &at).ok().filter(|_| !plane.is_root())
}

/// The project of a plane: where it is, and which life of it.
pub fn project_of(api: &Api, plane: &Plane) -> Option<(Key, Uid)> {
    let key = key(api.kinds(), plane)?;
    let uid = api.store().latest().get(&key)?.uid();
    Some((key, uid))
}

/// When the project of a plane was made, in microseconds since 1970; nothing for the root.
pub fn born(api: &Api, plane: &Plane) -> Option<u64> {
    Some(api.store().latest().get(&key(api.kinds(), plane)?)?.born())
}

/// Lets in who belongs to the plane. For everybody else it reads as one that is not there.
///
/// Tells which life of the project it is.
pub fn admit(api: &Api, plane: &Plane, who: &Identity) -> Result<Option<Uid>, Status> {
    if plane.is_root() {
        return Ok(None);
    }
    let project = project_of(api, plane);
    let belongs =
        || who.is_in(MASTERS) || who.is_in(SERVICE_ACCOUNTS) || api.followers().rights.knows(plane, who);
    match project.filter(|_| belongs()) {
        Some((_, uid)) => Ok(Some(uid)),
        None => Err(missing(api.kinds(), plane)),
    }
}

/// What those are told to whom a plane does not exist.
pub(crate) fn missing(kinds: &Kinds, plane: &Plane) -> Status {
    match kinds.planes() {
        Some(planes) => Status::not_found(&planes.subject(), plane.as_str()),
        None => Status::no_such_resource(),
    }
}

/// Whether a name means somebody in one plane only: another plane may have a service account of the same name.
pub fn is_of_one_plane(who: &Identity) -> bool {
    who.is_in(SERVICE_ACCOUNTS) || who.user.starts_with(SERVICE_ACCOUNT)
}

/// What an identity says of where it acts: the project of the plane. Nobody says it of himself.
pub fn put_in_context(kinds: &Kinds, plane: &Plane, who: &mut Identity) {
    let Some(planes) = kinds.planes() else { return };
    for key in planes.context {
        who.extra.remove(key);
    }
    if plane.is_root() {
        return;
    }
    for (key, value) in planes.context.into_iter().zip([planes.group, planes.kind, plane.as_str()]) {
        who.extra.insert(key.to_owned(), vec![value.to_owned()]);
    }
}

/// A write lands only while the project lives in whose plane it was admitted: a later one of the same name inherits
/// nothing. Other changes of the project don't disturb it.
pub fn guard(call: &Call, view: &mut View) -> Result<(), Status> {
    let Some(key) = key(call.api.kinds(), &call.plane) else { return Ok(()) };
    match call.project.is_some_and(|uid| view.lives(&key, uid)) {
        true => Ok(()),
        false => Err(missing(call.api.kinds(), &call.plane)),
    }
}

/// Refuses new content in a plane that is being deleted; that it is not guards the commit.
pub fn takes_content(call: &Call, view: &mut View) -> Result<(), Status> {
    if call.plane.is_root() {
        return Ok(());
    }
    guard(call, view)?;
    let root = Plane::root();
    let Some(planes) = call.api.kinds().planes() else { return Ok(()) };
    match Guarded::new(view, &root).is_going(&planes.address(&call.plane)) {
        false => Ok(()),
        true => Err(ending(planes, &call.plane)),
    }
}

fn ending(planes: &PlaneKind, plane: &Plane) -> Status {
    let kind = planes.kind.to_lowercase();
    let why = format!("the {kind} is being deleted: nothing can be created in its control plane");
    Status::forbidden(&planes.subject(), plane.as_str(), why)
}

/// Whether a plane is gone or being deleted, as far as this server knows: for work that is not worth starting then.
pub fn is_ending(api: &Api, plane: &Plane) -> bool {
    !plane.is_root() && project(api, plane).is_none_or(|entry| encode::is_deleting(&entry))
}

fn project(api: &Api, plane: &Plane) -> Option<Arc<Entry>> {
    api.store().latest().get(&key(api.kinds(), plane)?).cloned()
}

/// Makes what every plane begins with, when the first request comes: the namespaces that clients expect.
pub async fn furnish(api: &Api, plane: &Plane) -> Result<(), Status> {
    let missing = |api: &Api| {
        let snapshot = api.store().latest();
        let at = |name: &str| keys::object(plane, &namespace_address(name)).ok();
        NAMESPACES.into_iter().find(|name| at(name).is_some_and(|key| snapshot.get(&key).is_none()))
    };
    if plane.is_root() || missing(api).is_none() || is_ending(api, plane) {
        return Ok(());
    }
    let client = Client::system(api, "groundplane").in_plane(plane);
    let Some(kind) = api.kinds().of(plane).resource("", "namespaces").cloned() else { return Ok(()) };
    let calls = NAMESPACES.map(|name| client.call(&kind, "", name, ""));
    let made = api.store().transact(Author::new("system:groundplane", "groundplane"), move |view| {
        calls.iter().try_for_each(|call| make_namespace(call, view))
    });
    match made.await {
        Ok(_) => Ok(()),
        Err(Refused::Store(error)) => Err(store_failure(&error)),
        // It went meanwhile: whoever asks is told so by what they ask for.
        Err(Refused::Decision(_)) if is_ending(api, plane) => Ok(()),
        Err(Refused::Decision(status)) => Err(status),
    }
}

fn namespace_address(name: &str) -> Address {
    Address {
        group: String::new(),
        plural: "namespaces".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

/// Makes the namespace that an effect creates an object in, if that is one of those that every plane begins with: no
/// request may have come there yet.
pub fn furnish_namespace(call: &Call, view: &mut View) -> Result<(), Status> {
    if call.plane.is_root() || !NAMESPACES.contains(&call.namespace.as_str()) {
        return Ok(());
    }
    let Some(kind) = call.catalog.resource("", "namespaces").cloned() else { return Ok(()) };
    let version = kind.storage;
    make_namespace(&call.about(kind, version, String::new(), call.namespace.clone()), view)
}

/// The namespace of a call, made if it is missing.
pub fn ensure_namespace(call: &Call, view: &mut View) -> Result<(), Status> {
    let Some(kind) = call.catalog.resource("", "namespaces").cloned() else { return Ok(()) };
    let version = kind.storage;
    make_namespace(&call.about(kind, version, String::new(), call.namespace.clone()), view)
}

fn make_namespace(call: &Call, view: &mut View) -> Result<(), Status> {
    if view.exists(&call.key()?) {
        return Ok(());
    }
    let mut namespace = Object::new("v1", "Namespace");
    namespace.set_meta("name", Some(call.name.as_str().into()));
    let (namespace, _) =
        write::admit::shape(call, namespace).map_err(|why| write::admit::unfit(call, &why))?;
    let options = WriteOptions { manager: "groundplane".to_owned(), ..WriteOptions::default() };
    write::create::decide(call, view, &options, namespace, Vec::new()).map(drop)
}

/// Whether a call is about the objects that have planes.
pub fn is_project(call: &Call) -> bool {
    let is_one =
        |planes: &PlaneKind| call.kind.group == planes.group && call.kind.names.plural == planes.plural;
    call.plane.is_root() && call.api.kinds().planes().is_some_and(is_one)
}

/// With a project comes its administrator: whoever makes it, unless they are one everywhere.
pub fn begin(call: &Call, view: &mut View, project: &Object) -> Result<(), Status> {
    if call.who.is_in(MASTERS) {
        return Ok(());
    }
    let plane = Plane::project(project.name());
    let at = Address {
        group: RBAC_GROUP.to_owned(),
        plural: "clusterrolebindings".to_owned(),
        namespace: String::new(),
        name: CREATOR.to_owned(),
    };
    let key = keys::object(&plane, &at).map_err(|error| Status::bad_request(error.to_string()))?;
    let mut binding = Object::new("rbac.authorization.k8s.io/v1", "ClusterRoleBinding");
    binding.set_meta("name", Some(CREATOR.into()));
    let uid = call.api.new_object_uid()?;
    binding.set_meta("uid", Some(uid.as_str().into()));
    binding.set_meta("creationTimestamp", Some(call.api.now().to_string().into()));
    binding.set(
        "roleRef",
        Some(json!({ "apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": "cluster-admin" })),
    );
    let subject = json!([{ "apiGroup": RBAC_GROUP, "kind": "User", "name": &*call.who.user }]);
    binding.set("subjects", Some(subject));
    view.put(Put::new(key, write::uid(&binding), encode::body(&binding)?).verb("create"));
    Ok(())
}

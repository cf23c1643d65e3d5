//! The control planes of projects: which there are, who belongs to them, what each begins with, and how they end.
//!
//! A plane is there when the root holds a Project of its name. The server asks nothing else of that kind.

use std::sync::Arc;

use krm::Object;
use krm::kind::Address;
use krm::status::{Status, Subject};
use serde_json::json;
use store::{Author, Entry, Key, Put, Refused, Uid, View};

use crate::api::{Api, store_failure};
use crate::authz::RBAC_GROUP;
use crate::call::Call;
use crate::client::Client;
use crate::encode;
use crate::identity::{Identity, MASTERS};
use crate::keys;
use crate::plane::Plane;
use crate::request::query::WriteOptions;
use crate::write;

/// The group of projects.
pub const GROUP: &str = "resourcemanager.miloapis.com";
/// Their resource.
pub const PLURAL: &str = "projects";
/// Keeps a project until its plane is empty.
pub const FINALIZER: &str = "groundplane.dev/control-plane";
/// The binding that makes whoever made a project its administrator.
pub const CREATOR: &str = "project-creator";
/// Namespaces that clients expect to be there.
pub const NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];
/// Under which keys an identity says of which object's control plane it asks: the group, the kind and the name.
pub const PARENT: [&str; 3] =
    ["iam.miloapis.com/parent-api-group", "iam.miloapis.com/parent-type", "iam.miloapis.com/parent-name"];
/// The group of all service accounts; a plane believes only the tokens of its own.
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// Where the project of a plane is.
pub fn key(plane: &Plane) -> Option<Key> {
    let at = Address {
        group: GROUP.to_owned(),
        plural: PLURAL.to_owned(),
        namespace: String::new(),
        name: plane.as_str().to_owned(),
    };
    keys::object(&Plane::root(), &at).ok().filter(|_| !plane.is_root())
}

/// The project of a plane: where it is, and which life of it.
pub fn project_of(api: &Api, plane: &Plane) -> Option<(Key, Uid)> {
    let key = key(plane)?;
    let uid = api.store().latest().get(&key)?.uid();
    Some((key, uid))
}

/// When the project of a plane was made, in microseconds since 1970; nothing for the root.
pub fn born(api: &Api, plane: &Plane) -> Option<u64> {
    Some(api.store().latest().get(&key(plane)?)?.born())
}

/// Lets in who belongs to the plane. For everybody else it reads as one that is not there.
pub fn admit(api: &Api, plane: &Plane, who: &Identity) -> Result<(), Status> {
    if plane.is_root() {
        return Ok(());
    }
    let there = project(api, plane).is_some();
    let belongs =
        || who.is_in(MASTERS) || who.is_in(SERVICE_ACCOUNTS) || api.followers().rights.knows(plane, who);
    match there && belongs() {
        true => Ok(()),
        false => Err(Status::not_found(&Subject::new(GROUP, PLURAL), plane.as_str())),
    }
}

/// What an identity says of where it acts: the project, as Milo's services read it. Nobody says it of himself.
pub fn put_in_context(plane: &Plane, who: &mut Identity) {
    for key in PARENT {
        who.extra.remove(key);
    }
    if plane.is_root() {
        return;
    }
    for (key, value) in PARENT.into_iter().zip([GROUP, "Project", plane.as_str()]) {
        who.extra.insert(key.to_owned(), vec![value.to_owned()]);
    }
}

/// Refuses new content in a plane that is being deleted.
pub fn takes_content(api: &Api, plane: &Plane) -> Result<(), Status> {
    let Some(entry) = project(api, plane) else { return Ok(()) };
    if !is_going(&entry) {
        return Ok(());
    }
    let why = "the project is being deleted: nothing can be created in its control plane";
    Err(Status::forbidden(&Subject::new(GROUP, PLURAL), plane.as_str(), why))
}

fn project(api: &Api, plane: &Plane) -> Option<Arc<Entry>> {
    api.store().latest().get(&key(plane)?).cloned()
}

fn is_going(entry: &Entry) -> bool {
    const MARK: &[u8] = b"\"deletionTimestamp\"";
    // Asked with every write: it is read only where the word is in it at all.
    let bytes = entry.bytes();
    bytes.windows(MARK.len()).any(|part| part == MARK)
        && encode::read(bytes).is_ok_and(|object| object.is_deleting())
}

/// Makes what every plane begins with, when the first request comes: the namespaces that clients expect.
pub async fn furnish(api: &Api, plane: &Plane) -> Result<(), Status> {
    let missing = |api: &Api| {
        let snapshot = api.store().latest();
        let at = |name: &str| keys::object(plane, &namespace_address(name)).ok();
        NAMESPACES.into_iter().find(|name| at(name).is_some_and(|key| snapshot.get(&key).is_none()))
    };
    if plane.is_root() || missing(api).is_none() || takes_content(api, plane).is_err() {
        return Ok(());
    }
    let client = Client::system(api, "groundplane").in_plane(plane);
    let Some(kind) = api.kinds().of(plane).resource("", "namespaces").cloned() else { return Ok(()) };
    let project = key(plane);
    let made = api.store().transact(Author::new("system:groundplane", "groundplane"), move |view| {
        // Not where the project has gone meanwhile.
        if !project.as_ref().is_some_and(|key| view.exists(key)) {
            return Ok(());
        }
        for name in NAMESPACES {
            let call = client.call(&kind, "", name, "");
            if view.exists(&call.key()?) {
                continue;
            }
            let mut namespace = Object::new("v1", "Namespace");
            namespace.set_meta("name", Some(name.into()));
            let (namespace, _) =
                write::admit::shape(&call, namespace).map_err(|why| write::admit::unfit(&call, &why))?;
            let options = WriteOptions { manager: "groundplane".to_owned(), ..WriteOptions::default() };
            write::create::decide(&call, view, &options, namespace, Vec::new())?;
        }
        Ok(())
    });
    match made.await {
        Ok(_) => Ok(()),
        Err(Refused::Store(error)) => Err(store_failure(&error)),
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

/// Whether a call is about projects.
pub fn is_project(call: &Call) -> bool {
    call.plane.is_root() && call.kind.group == GROUP && call.kind.names.plural == PLURAL
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
    let uid = write::new_uid();
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

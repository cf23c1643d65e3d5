//! The IAM controller: writes the status of roles, bindings, users and accounts.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use apiserver::api::Api;
use apiserver::authn::PublicKey;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use apiserver::plane::Plane;
use apiserver::write::delete::DeleteOptions;
use apiserver::{encode, keys};
use krm::Object;
use krm::condition::Finding;
use krm::kind::{Address, Kind};
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::authorizer::Iam;
use super::directory::machine_address;
use super::roles::At;
use super::{GROUP, complete, machine_keys, selector};
use crate::tenancy::GROUP as TENANCY;

/// After this a key that ends some day is looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Reconciles the kinds of the group.
pub struct IamController(pub Arc<Iam>);

impl Controller for IamController {
    const NAME: &'static str = "iam-controller";

    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) = keys::parts(key) else { return };
        let at = At::new(parts.plane, parts.namespace, parts.name);
        let comes_or_goes = before.is_none() || after.is_none();
        if comes_or_goes {
            self.bindings_on(&parts, queue);
        }
        if parts.group != GROUP || (!comes_or_goes && is_same_spec(before, after)) {
            return;
        }
        if after.is_some() {
            queue.add(key.clone());
        }
        let index = self.0.index();
        match parts.plural {
            "roles" => {
                for role in index.roles.heirs_of(&at) {
                    let bindings =
                        index.policies.giving(&role).map(|(binding, _)| ("policybindings", binding));
                    let all = std::iter::once(("roles", &role)).chain(bindings);
                    all.filter_map(|(plural, at)| key_at(plural, at)).for_each(|key| queue.add(key));
                }
            }
            "users" | "groups" if comes_or_goes => {
                let memberships = index.directory.memberships_of(parts.plural, &at);
                memberships.filter_map(|at| key_at("groupmemberships", at)).for_each(|key| queue.add(key));
            }
            _ => {}
        }
        drop(index);
        let _ = api;
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let client = client.in_plane(&plane);
        let Some(kind) = client.api().kinds().of(&plane).resource(parts.group, parts.plural).cloned() else {
            return Ok(Next::Done);
        };
        // The index may be a little behind what this controller was told of.
        client.api().caught_up(client.api().store().latest().version()).await;
        let Some(object) = client.read(&kind, parts.namespace, parts.name) else { return Ok(Next::Done) };
        let at = At::new(parts.plane, parts.namespace, parts.name);
        if parts.plural == "policybindings"
            && self.is_of_a_tenant_that_has_gone(client.api(), &plane, &object)
        {
            return remove(&client, &kind, &object).await;
        }
        let mut new = object.clone();
        let finding = self.look(&at, parts.plural, &plane, client.api(), &mut new);
        finding.tell(&mut new, &client.api().now().to_string());
        // A key runs out without anybody changing it.
        let next = match left(&object).filter(|left| parts.plural == "machineaccountkeys" && !left.is_zero())
        {
            Some(left) => Next::After((left + Duration::from_secs(1)).min(LONGEST_WAIT)),
            None => Next::Done,
        };
        if new.get("status") == object.get("status") {
            return Ok(next);
        }
        match client.update_status(new).await {
            Err(status) if status.code == 404 => Ok(Next::Done),
            written => written.map(|_| next),
        }
    }
}

impl IamController {
    /// Those bindings that are about an object look whether it is there.
    fn bindings_on(&self, parts: &keys::Parts<'_>, queue: &Queue<Key>) {
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let catalog = self.0.kinds().of(&plane);
        let Some(kind) = catalog.resource(parts.group, parts.plural) else { return };
        let place = selector::ResourceLocation {
            plane: parts.plane,
            group: parts.group,
            kind: &kind.names.kind,
            namespace: parts.namespace,
            name: parts.name,
        };
        let selector = selector::object(&place);
        let index = self.0.index();
        let about = index.policies.about(&selector);
        about.filter_map(|at| key_at("policybindings", at)).for_each(|key| queue.add(key));
    }

    fn is_of_a_tenant_that_has_gone(&self, api: &Api, plane: &Plane, binding: &Object) -> bool {
        let Some(reference) = binding.at("spec.resourceSelector.resourceRef") else { return false };
        let of_tenancy = reference.get("apiGroup").and_then(Value::as_str) == Some(TENANCY);
        of_tenancy
            && complete::uid_of(api, plane, reference).as_deref()
                != reference.get("uid").and_then(Value::as_str)
    }

    fn look(&self, at: &At, plural: &str, plane: &Plane, api: &Api, object: &mut Object) -> Finding {
        match plural {
            "roles" => self.role(at, object),
            "policybindings" => self.binding(at, plane, api, object),
            "groupmemberships" => self.membership(object),
            "machineaccounts" => {
                let state = object.at("spec.state").cloned().unwrap_or_else(|| json!("Active"));
                let email = machine_address(&at.plane, &at.namespace, &at.name);
                put(object, "email", email.into());
                put(object, "audience", self.0.audience().into());
                put(object, "state", state.clone());
                match state == "Inactive" {
                    true => Finding::fails(
                        "Ready",
                        "Inactive",
                        "spec.state is Inactive; set it to Active to allow authentication",
                    ),
                    false => ready("Machine account can authenticate with its keys"),
                }
            }
            "machineaccountkeys" => self.key(at, object),
            "users" => ready("User is registered"),
            _ => ready("Reconciled"),
        }
    }

    fn role(&self, at: &At, object: &mut Object) -> Finding {
        let index = self.0.index();
        let effective =
            index.effective(at, "").map(|role| role.permissions().iter().map(ToString::to_string).collect());
        let effective: Vec<String> = effective.unwrap_or_default();
        let (missing, inherits_itself) = index.roles.faults(at);
        drop(index);
        put(object, "effectivePermissions", effective.into());
        put(object, "observedGeneration", object.generation().into());
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
            return Finding::fails(
                "Ready",
                "InheritedRoleNotFound",
                format!("Inherited Role {} does not exist", names.join(", ")),
            );
        }
        match inherits_itself {
            true => Finding::fails(
                "Ready",
                "InheritsItself",
                "Role inherits from itself, directly or through other roles",
            ),
            false => ready("Role can be bound"),
        }
    }

    fn binding(&self, at: &At, plane: &Plane, api: &Api, object: &mut Object) -> Finding {
        put(object, "observedGeneration", object.generation().into());
        let role = at.role(object.at("spec.roleRef").unwrap_or(&Value::Null));
        if self.0.index().effective(&role, &at.plane).is_none() {
            return Finding::fails("Ready", "RoleNotFound", format!("Role {role} does not exist"));
        }
        if let Some(reference) = object.at("spec.resourceSelector.resourceRef")
            && complete::uid_of(api, plane, reference).as_deref()
                != reference.get("uid").and_then(Value::as_str)
        {
            return Finding::fails(
                "Ready",
                "ResourceNotFound",
                "The object in spec.resourceSelector.resourceRef does not exist, or has another uid",
            );
        }
        ready("Role is granted")
    }

    fn key(&self, at: &At, object: &mut Object) -> Finding {
        let text = |path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let Ok(key) = PublicKey::from_pem(&text("spec.publicKey")) else {
            return Finding::fails(
                "Ready",
                "NoPublicKey",
                "spec.publicKey is not a valid public key; create another MachineAccountKey",
            );
        };
        let account = At { name: text("spec.machineAccountName").into(), ..at.clone() };
        put(object, "authProviderKeyID", key.id().into());
        let uid = self.0.index().directory.machine_uid(&account).cloned();
        if uid.as_deref().is_none() || uid.as_deref() != machine_keys::owner(object) {
            let why = format!(
                "MachineAccount {account} does not exist, or is not the one that the key was created for"
            );
            return Finding::fails("Ready", "MachineAccountNotFound", why);
        }
        match left(object).is_some_and(|left| left.is_zero()) {
            true => Finding::fails("Ready", "Expired", "Key has expired; create another MachineAccountKey"),
            false => ready("Tokens signed with the key are accepted"),
        }
    }

    fn membership(&self, object: &Object) -> Finding {
        let text = |path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default();
        let index = self.0.index();
        if index.directory.user_of(text("spec.userRef.name")).is_none() {
            return Finding::fails(
                "Ready",
                "UserNotFound",
                format!("User {:?} does not exist", text("spec.userRef.name")),
            );
        }
        let group = At::new("", text("spec.groupRef.namespace"), text("spec.groupRef.name"));
        match index.directory.group_uid(&group) {
            Some(_) => ready("User is a member of the group"),
            None => Finding::fails("Ready", "GroupNotFound", format!("Group {group} does not exist")),
        }
    }
}

/// Time until a key expires; none if it does not expire.
fn left(key: &Object) -> Option<Duration> {
    Some(machine_keys::expiry(key)?.duration_since(SystemTime::now()).unwrap_or_default())
}

fn ready(message: &str) -> Finding {
    Finding::holds("Ready", "Ready", message)
}

fn put(object: &mut Object, field: &str, value: Value) {
    let mut status = object.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
    status.insert(field.to_owned(), value);
    object.set("status", Some(status.into()));
}

async fn remove(client: &Client, kind: &Arc<Kind>, object: &Object) -> Result<Next, Status> {
    match client.delete(kind, object.namespace(), object.name(), &DeleteOptions::default()).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        other => other.map(|()| Next::Done),
    }
}

fn key_at(plural: &str, at: &At) -> Option<Key> {
    let plane = if at.plane.is_empty() { Plane::root() } else { Plane::project(&at.plane) };
    let address = Address {
        group: GROUP.to_owned(),
        plural: plural.to_owned(),
        namespace: at.namespace.to_string(),
        name: at.name.to_string(),
    };
    keys::object(&plane, &address).ok()
}

fn is_same_spec(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let read = |entry: Option<&Entry>| entry.and_then(|entry| encode::read(entry.bytes()).ok());
    match (read(before), read(after)) {
        (Some(before), Some(after)) => before.get("spec") == after.get("spec") && before.uid() == after.uid(),
        _ => false,
    }
}

//! The tenancy controller: reports the readiness of organizations, and binds the roles of their members.

use std::collections::BTreeMap;
use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use apiserver::plane::Plane;
use apiserver::write::delete::DeleteOptions;
use apiserver::{encode, keys};
use krm::Object;
use krm::condition::Finding;
use krm::kind::Kind;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::{GROUP, IAM_API_VERSION, OF_MEMBERSHIP, ORGANIZATION, owned};
use crate::iam::Iam;
use crate::iam::roles::At;

/// Reconciles organizations and memberships.
pub struct TenancyController(pub Arc<Iam>);

impl Controller for TenancyController {
    const NAME: &'static str = "tenancy-controller";

    fn map(&self, api: &Api, key: &Key, before: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) = keys::parts(key).filter(|parts| parts.plane.is_empty()) else { return };
        let is_ours =
            parts.group == GROUP && matches!(parts.plural, "organizations" | "organizationmemberships");
        if is_ours && after.is_some() && !is_same(before, after) {
            queue.add(key.clone());
        }
        // Memberships report whether the user and the organization that they refer to exist.
        let named = (parts.group == GROUP && parts.plural == "organizations")
            || (parts.group == crate::iam::GROUP && parts.plural == "users");
        if named && !is_same(before, after) {
            let about = apiserver::index::referring_to(&Plane::root(), &parts.address());
            for referrer in api.store().latest().having(&about) {
                if keys::parts(referrer).is_some_and(|parts| parts.plural == "organizationmemberships") {
                    queue.add(referrer.clone());
                }
            }
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let catalog = client.api().kinds().of(&Plane::root());
        let Some(kind) = catalog.resource(parts.group, parts.plural).cloned() else { return Ok(Next::Done) };
        let Some(object) = client.read(&kind, parts.namespace, parts.name) else { return Ok(Next::Done) };
        client.api().caught_up(client.api().store().latest().version()).await;
        let now = client.api().now().to_string();
        let mut new = object.clone();
        match parts.plural {
            "organizations" => {
                Finding::holds("Ready", "Ready", "Organization is ready for use").tell(&mut new, &now)
            }
            _ => self.membership(client, &mut new, &now).await?,
        }
        set(&mut new, "observedGeneration", object.generation().into());
        if new.get("status") == object.get("status") {
            return Ok(Next::Done);
        }
        match client.update_status(new).await {
            Err(status) if status.code == 404 => Ok(Next::Done),
            written => written.map(|_| Next::Done),
        }
    }
}

impl TenancyController {
    /// Binds the roles of a member, takes back those that are no longer among them, and tells what came of it.
    async fn membership(&self, client: &Client, membership: &mut Object, now: &str) -> Result<(), Status> {
        let root = client.api().kinds().of(&Plane::root());
        let (Some(users), Some(organizations), Some(bindings)) = (
            root.resource(crate::iam::GROUP, "users"),
            root.resource(GROUP, "organizations"),
            root.resource(crate::iam::GROUP, "policybindings"),
        ) else {
            return Ok(());
        };
        let text = |path: &str| membership.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let user = client.read(users, "", &text("spec.userRef.name"));
        let organization = client.read(organizations, "", &text("spec.organizationRef.name"));
        let (Some(user), Some(organization)) = (user, organization) else {
            let reason = Finding::fails("Ready", "NotFound", "The user or the organization does not exist");
            reason.tell(membership, now);
            return Ok(());
        };
        if self.is_of_an_earlier(client, membership, &user) {
            let why = "the membership was made for an earlier User of this name; delete it, and make it again for this one";
            Finding::fails("Ready", "EarlierUser", why).tell(membership, now);
            return Ok(());
        }
        let wanted = self.wanted(membership, &user, &organization);
        self.take_back(client, bindings, membership, &wanted).await?;
        let mut applied = Vec::new();
        for (role, binding) in &wanted {
            applied.push(self.bind(client, role, binding, now).await);
        }
        let failed = applied.iter().filter(|role| role["status"] != "Applied").count();
        set(membership, "appliedRoles", applied.into());
        set(membership, "user", member(&user));
        set(membership, "organization", joined(&organization));
        Finding::holds("Ready", "Ready", "The user is a member of the organization").tell(membership, now);
        let roles = match (wanted.is_empty(), failed) {
            (true, _) => Finding::holds("RolesApplied", "NoRolesSpecified", "No roles are specified"),
            (false, 0) => Finding::holds("RolesApplied", "AllRolesApplied", "All roles are bound"),
            (false, failed) => {
                let message = format!("Failed to bind {failed} of {} roles", wanted.len());
                Finding::fails("RolesApplied", "PartialRolesApplied", message)
            }
        };
        roles.tell(membership, now);
        Ok(())
    }

    /// Whether a membership was made for an earlier user of the same name.
    fn is_of_an_earlier(&self, client: &Client, membership: &Object, user: &Object) -> bool {
        let at = krm::kind::Address {
            group: GROUP.to_owned(),
            plural: "organizationmemberships".to_owned(),
            namespace: membership.namespace().to_owned(),
            name: membership.name().to_owned(),
        };
        let key = keys::object(&Plane::root(), &at).ok();
        let born = key.and_then(|key| Some(client.api().store().latest().get(&key)?.born()));
        born.is_some_and(|born| born <= self.0.index().directory.former.gone_at(user.name()))
    }

    /// A binding for each role.
    fn wanted(&self, membership: &Object, user: &Object, organization: &Object) -> Vec<(At, Object)> {
        let at = At::new("", membership.namespace(), membership.name());
        let roles = membership.at("spec.roles").and_then(Value::as_array).into_iter().flatten();
        let make = |reference: &Value| {
            let role = at.role(reference);
            let name = format!("{}-{}", membership.name(), role.name);
            let mut binding =
                owned(IAM_API_VERSION, "PolicyBinding", membership.namespace(), &name, membership);
            binding.set_meta("labels", Some(json!({ OF_MEMBERSHIP: membership.uid() })));
            let reference = json!({
                "apiGroup": GROUP, "kind": ORGANIZATION, "name": organization.name(), "uid": organization.uid(),
            });
            let spec = json!({
                "roleRef": { "name": &*role.name, "namespace": &*role.namespace },
                "subjects": [{ "kind": "User", "name": user.name(), "uid": user.uid() }],
                "resourceSelector": { "resourceRef": reference },
            });
            binding.set("spec", Some(spec));
            (role, binding)
        };
        roles.map(make).collect()
    }

    async fn bind(&self, client: &Client, role: &At, binding: &Object, now: &str) -> Value {
        let mut told = json!({ "name": &*role.name, "namespace": &*role.namespace });
        if self.0.index().effective(role, "").is_none() {
            told["status"] = "Failed".into();
            told["message"] =
                format!("role '{}' not found in namespace '{}'", role.name, role.namespace).into();
            return told;
        }
        let existing = client.get_like(binding).await;
        let made = match &existing {
            Some(existing) if existing.get("spec") == binding.get("spec") => Ok(existing.clone()),
            _ => client.apply(binding.clone()).await,
        };
        match made {
            Ok(made) => {
                let since = made.meta_text("creationTimestamp");
                told["status"] = "Applied".into();
                told["appliedAt"] = if since.is_empty() { now } else { since }.into();
                told["policyBindingRef"] =
                    json!({ "name": binding.name(), "namespace": binding.namespace() });
            }
            Err(status) => {
                told["status"] = "Failed".into();
                told["message"] = format!("Failed to create PolicyBinding: {}", status.message).into();
            }
        }
        told
    }

    /// Removes the bindings of roles that a member no longer has.
    async fn take_back(
        &self,
        client: &Client,
        bindings: &Arc<Kind>,
        membership: &Object,
        wanted: &[(At, Object)],
    ) -> Result<(), Status> {
        let prefix = keys::in_namespace(
            &Plane::root(),
            &bindings.group,
            &bindings.names.plural,
            membership.namespace(),
        );
        let snapshot = client.api().store().latest();
        let names: Vec<String> = snapshot
            .list(prefix.as_bytes())
            .filter_map(|(_, entry)| encode::read(entry.bytes()).ok())
            .filter(|binding| binding.labels().any(|label| label == (OF_MEMBERSHIP, membership.uid())))
            .map(|binding| binding.name().to_owned())
            .filter(|name| wanted.iter().all(|(_, binding)| binding.name() != name))
            .collect();
        for name in names {
            match client.delete(bindings, membership.namespace(), &name, &DeleteOptions::default()).await {
                Err(status) if status.code != 404 => return Err(status),
                _ => {}
            }
        }
        Ok(())
    }
}

fn member(user: &Object) -> Value {
    let mut told = BTreeMap::new();
    for (field, path) in [
        ("email", "spec.email"),
        ("givenName", "spec.givenName"),
        ("familyName", "spec.familyName"),
        ("avatarUrl", "status.avatarUrl"),
    ] {
        if let Some(value) = user.at(path) {
            told.insert(field, value.clone());
        }
    }
    json!(told)
}

fn joined(organization: &Object) -> Value {
    let mut told = json!({});
    if let Some(name) = organization.annotation("kubernetes.io/display-name") {
        told["displayName"] = name.into();
    }
    if let Some(email) = organization.at("spec.contactInfo.email") {
        told["contactEmail"] = email.clone();
    }
    told
}

fn set(object: &mut Object, field: &str, value: Value) {
    let mut status = object.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
    status.insert(field.to_owned(), value);
    object.set("status", Some(status.into()));
}

fn is_same(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let read = |entry: Option<&Entry>| entry.and_then(|entry| encode::read(entry.bytes()).ok());
    match (read(before), read(after)) {
        (Some(before), Some(after)) => {
            before.generation() == after.generation()
                && before.meta("annotations") == after.meta("annotations")
        }
        _ => false,
    }
}

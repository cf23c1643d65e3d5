//! The IAM controller: writes the status of roles, bindings, users and accounts.

use std::sync::Arc;
use std::time::Duration;

use apiserver::authn::PublicKey;
use krm::Object;
use krm::condition::Finding;
use krm::kind::{Address, Planes};
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{Changed, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::authorizer::Iam;
use super::directory::machine_address;
use super::roles::At;
use super::{GROUP, machine_keys, selector};
use crate::tenancy::GROUP as TENANCY;

/// After this a key that ends some day is looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Reconciles the kinds of the group.
pub struct IamController(pub Arc<Iam>);

impl IamController {
    /// Its name.
    pub const NAME: &'static str = "iam-controller";
}

impl Reconciler for IamController {
    fn name(&self) -> &'static str {
        IamController::NAME
    }

    fn description(&self) -> &'static str {
        "Sets the status of users, roles, bindings, machine accounts and their keys."
    }

    fn scope(&self) -> Scope {
        Scope::Groups(vec![GROUP], Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        const STATUS: [&str; 8] = [
            "groupmemberships/status",
            "groups/status",
            "machineaccountkeys/status",
            "machineaccounts/status",
            "policybindings/status",
            "protectedresources/status",
            "roles/status",
            "users/status",
        ];
        vec![Rule::new(GROUP, &STATUS, &["update"]), Rule::new(GROUP, &["policybindings"], &["delete"])]
    }

    /// Bindings are about objects of any kind.
    fn observes(&self) -> Scope {
        Scope::Everything
    }

    fn affected(&self, change: &Changed<'_>, queue: &mut dyn FnMut(Target)) {
        let (plane, at) = (&*change.target.plane, &change.target.at);
        if change.comes_or_goes() {
            self.bindings_on(change, queue);
        }
        if at.group != GROUP || change.is_status_only {
            return;
        }
        let place = At::new(plane, &at.namespace, &at.name);
        let index = self.0.index();
        match at.plural.as_str() {
            "roles" => {
                for role in index.roles.heirs_of(&place) {
                    let bindings =
                        index.policies.giving(&role).map(|(binding, _)| ("policybindings", binding));
                    let all = std::iter::once(("roles", &role)).chain(bindings);
                    all.for_each(|(plural, at)| queue(target_at(plural, at)));
                }
            }
            "users" | "groups" if change.comes_or_goes() => {
                let memberships = index.directory.memberships_of(&at.plural, &place);
                memberships.for_each(|at| queue(target_at("groupmemberships", at)));
            }
            _ => {}
        }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let (plural, now) = (target.at.plural.as_str(), context.now());
        if plural == "policybindings" && is_of_a_tenant_that_has_gone(object, context) {
            plan.write(Write::Delete(target.clone(), Deletion::default()));
            return plan;
        }
        let at = At::new(&target.plane, &target.at.namespace, &target.at.name);
        let mut new = Object::clone(object);
        let finding = self.look(&at, plural, context, &mut new);
        finding.tell(&mut new, &now.to_string());
        // A key runs out without anybody changing it.
        if let Some(left) = left(object, now).filter(|it| plural == "machineaccountkeys" && !it.is_zero()) {
            plan.again_after((left + Duration::from_secs(1)).min(LONGEST_WAIT));
        }
        plan.change(&target.plane, object, new);
        plan
    }
}

impl IamController {
    /// Those bindings that are about an object look whether it is there.
    fn bindings_on(&self, change: &Changed<'_>, queue: &mut dyn FnMut(Target)) {
        let (plane, at) = (&*change.target.plane, &change.target.at);
        let Some(kind) = change.world.kinds(plane).resource(&at.group, &at.plural) else { return };
        let place = selector::ResourceLocation {
            plane,
            group: &at.group,
            kind: &kind.names.kind,
            namespace: &at.namespace,
            name: &at.name,
        };
        let selector = selector::object(&place);
        let index = self.0.index();
        index.policies.about(&selector).for_each(|at| queue(target_at("policybindings", at)));
    }

    fn look(&self, at: &At, plural: &str, context: &Context<'_>, object: &mut Object) -> Finding {
        match plural {
            "roles" => self.role(at, object),
            "policybindings" => self.binding(at, context, object),
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
            "machineaccountkeys" => self.key(at, object, context.now()),
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

    fn binding(&self, at: &At, context: &Context<'_>, object: &mut Object) -> Finding {
        put(object, "observedGeneration", object.generation().into());
        let role = at.role(object.at("spec.roleRef").unwrap_or(&Value::Null));
        if self.0.index().effective(&role, &at.plane).is_none() {
            return Finding::fails("Ready", "RoleNotFound", format!("Role {role} does not exist"));
        }
        if let Some(selected) = object.at("spec.resourceSelector.resourceKind")
            && !is_served(selected, context)
        {
            let text = |field: &str| selected.get(field).and_then(Value::as_str).unwrap_or_default();
            let why = format!(
                "No kind {:?} of group {:?} is served, so nothing is granted; a binding is about one kind",
                text("kind"),
                text("apiGroup")
            );
            return Finding::fails("Ready", "ResourceKindNotFound", why);
        }
        if let Some(reference) = object.at("spec.resourceSelector.resourceRef")
            && uid_of(reference, context)
                .is_none_or(|uid| Some(uid.as_str()) != reference.get("uid").and_then(Value::as_str))
        {
            return Finding::fails(
                "Ready",
                "ResourceNotFound",
                "The object in spec.resourceSelector.resourceRef does not exist, or has another uid",
            );
        }
        ready("Role is granted")
    }

    fn key(&self, at: &At, object: &mut Object, now: Moment) -> Finding {
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
        match left(object, now).is_some_and(|left| left.is_zero()) {
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

/// Whether a binding is about an organization or a project that is gone.
fn is_of_a_tenant_that_has_gone(binding: &Object, context: &Context<'_>) -> bool {
    let Some(reference) = binding.at("spec.resourceSelector.resourceRef") else { return false };
    let of_tenancy = reference.get("apiGroup").and_then(Value::as_str) == Some(TENANCY);
    of_tenancy && uid_of(reference, context).as_deref() != reference.get("uid").and_then(Value::as_str)
}

/// Whether a kind is served in the plane or, for a binding in the root, in projects.
fn is_served(selected: &Value, context: &Context<'_>) -> bool {
    let text = |field: &str| selected.get(field).and_then(Value::as_str).unwrap_or_default();
    let (group, kind) = (text("apiGroup"), text("kind"));
    context.kind(group, kind).is_some()
        || (context.plane().is_empty() && context.world().kinds("-").kind(group, kind).is_some())
}

/// The uid of the object that a reference names by group, kind, namespace and name.
fn uid_of(reference: &Value, context: &Context<'_>) -> Option<String> {
    let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
    let kind = context.kind(text("apiGroup"), text("kind"))?;
    let at = Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: if kind.is_namespaced() { text("namespace").to_owned() } else { String::new() },
        name: text("name").to_owned(),
    };
    // Whether it is there is shown by `affected`: a binding about a large fleet does not look again at every change of it.
    Some(context.world().metadata(&Target::new(context.plane(), at))?.uid().to_owned())
}

/// Time until a key expires; none if it does not expire.
fn left(key: &Object, now: Moment) -> Option<Duration> {
    Some(machine_keys::expiry(key)?.duration_since(time_of(now)).unwrap_or_default())
}

fn time_of(now: Moment) -> std::time::SystemTime {
    let seconds = u64::try_from(now.seconds).unwrap_or_default();
    std::time::SystemTime::UNIX_EPOCH + Duration::new(seconds, now.nanoseconds)
}

fn ready(message: &str) -> Finding {
    Finding::holds("Ready", "Ready", message)
}

fn put(object: &mut Object, field: &str, value: Value) {
    let mut status = object.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
    status.insert(field.to_owned(), value);
    object.set("status", Some(status.into()));
}

fn target_at(plural: &str, at: &At) -> Target {
    let address = Address {
        group: GROUP.to_owned(),
        plural: plural.to_owned(),
        namespace: at.namespace.to_string(),
        name: at.name.to_string(),
    };
    Target::new(&*at.plane, address)
}

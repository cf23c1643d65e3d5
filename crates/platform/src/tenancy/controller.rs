//! The tenancy controller: reports the readiness of organizations, and binds the roles of their members.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Address, Planes};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::{GROUP, IAM_API_VERSION, OF_MEMBERSHIP, ORGANIZATION, Organization, owned};
use crate::iam::Iam;
use crate::iam::kinds::User;
use crate::iam::roles::At;

/// Reconciles organizations and memberships.
pub struct TenancyController(pub Arc<Iam>);

impl TenancyController {
    /// Its name.
    pub const NAME: &'static str = "tenancy-controller";
}

impl Reconciler for TenancyController {
    fn name(&self) -> &'static str {
        TenancyController::NAME
    }

    fn description(&self) -> &'static str {
        "Maintains organizations, their namespaces, and the bindings of their members."
    }

    fn scope(&self) -> Scope {
        let resources = ["organizations", "organizationmemberships"];
        Scope::Resources(resources.map(|plural| (GROUP.into(), plural.into())).into(), Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(GROUP, &["organizations/status", "organizationmemberships/status"], &["update"]),
            Rule::new(crate::iam::GROUP, &["policybindings"], &["patch", "delete"]),
            // Whether a membership may have a role is decided when the membership is written.
            Rule::new(crate::iam::GROUP, &["roles"], &["bind"]),
        ]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let now = context.now().to_string();
        let (mut plan, mut new) = (Plan::nothing(), Object::clone(object));
        match target.at.plural.as_str() {
            "organizations" => {
                Finding::holds("Ready", "Ready", "Organization is ready for use").tell(&mut new, &now);
            }
            _ => self.membership(target, &mut new, context, &mut plan),
        }
        // What was bound is told once it is there.
        let is_binding = plan.independent.iter().any(|write| matches!(write, Write::Apply(..)));
        if !is_binding {
            set(&mut new, "observedGeneration", object.generation().into());
            plan.change(&target.plane, object, new);
        }
        plan
    }
}

impl TenancyController {
    /// Binds the roles of a member, takes back those that are no longer among them, and tells what came of it.
    fn membership(&self, target: &Target, membership: &mut Object, context: &Context<'_>, plan: &mut Plan) {
        let now = context.now().to_string();
        let text = |path: &str| membership.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(resolution) = context.resolve(target, membership).filter(|it| !it.is_ready()) {
            return resolution.tell(membership, &now);
        }
        let user = context.get(&Target::of::<User>("", "", &text("spec.userRef.name")));
        let organization =
            context.get(&Target::of::<Organization>("", "", &text("spec.organizationRef.name")));
        let (Some(user), Some(organization)) = (user, organization) else { return };
        let born = context.world().born(target);
        if born.is_some_and(|born| born <= self.0.index().directory.former.gone_at(user.name())) {
            let why = "the membership was made for an earlier User of this name; delete it, and make it again for this one";
            return Finding::fails("Ready", "EarlierUser", why).tell(membership, &now);
        }
        let wanted = self.wanted(membership, &user, &organization);
        take_back(membership, &wanted, context, plan);
        let applied: Vec<Value> =
            wanted.iter().map(|(role, binding)| self.bind(role, binding, context, plan)).collect();
        let failed = applied.iter().filter(|role| role["status"] != "Applied").count();
        set(membership, "appliedRoles", applied.into());
        set(membership, "user", member(&user));
        set(membership, "organization", joined(&organization));
        Finding::holds("Ready", "Ready", "The user is a member of the organization").tell(membership, &now);
        let roles = match (wanted.is_empty(), failed) {
            (true, _) => Finding::holds("RolesApplied", "NoRolesSpecified", "No roles are specified"),
            (false, 0) => Finding::holds("RolesApplied", "AllRolesApplied", "All roles are bound"),
            (false, failed) => {
                let message = format!("Failed to bind {failed} of {} roles", wanted.len());
                Finding::fails("RolesApplied", "PartialRolesApplied", message)
            }
        };
        roles.tell(membership, &now);
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

    /// Binds a role, unless it is bound; what the membership tells of it.
    fn bind(&self, role: &At, binding: &Object, context: &Context<'_>, plan: &mut Plan) -> Value {
        let mut told = json!({ "name": &*role.name, "namespace": &*role.namespace });
        // The role may come and go: it is read for that alone, since shipped roles need not be objects.
        context.metadata(&Target::new("", address("roles", &role.namespace, &role.name)));
        if self.0.index().effective(role, "").is_none() {
            told["status"] = "Failed".into();
            told["message"] =
                format!("role '{}' not found in namespace '{}'", role.name, role.namespace).into();
            return told;
        }
        let place = Target::new("", address("policybindings", binding.namespace(), binding.name()));
        if let Some(refused) = context.refused().iter().find(|refused| refused.target == place) {
            told["status"] = "Failed".into();
            told["message"] = format!("Failed to create PolicyBinding: {}", refused.status.message).into();
            return told;
        }
        let existing = context.get(&place);
        let bound = existing.as_ref().filter(|existing| existing.get("spec") == binding.get("spec"));
        if bound.is_none() {
            plan.independent.push(Write::Apply(String::new(), binding.clone()));
        }
        let now = context.now().to_string();
        let since = existing.as_ref().map(|existing| existing.meta_text("creationTimestamp"));
        told["status"] = "Applied".into();
        told["appliedAt"] = since.filter(|since| !since.is_empty()).unwrap_or(&now).into();
        told["policyBindingRef"] = json!({ "name": binding.name(), "namespace": binding.namespace() });
        told
    }
}

/// Removes the bindings of roles that a member no longer has.
fn take_back(membership: &Object, wanted: &[(At, Object)], context: &Context<'_>, plan: &mut Plan) {
    for owned in context.owned(membership.uid()) {
        let is_binding = owned.is(crate::iam::GROUP, "policybindings");
        let Some(binding) = context.listed(&owned).filter(|_| is_binding) else { continue };
        let is_ours = binding.labels().any(|label| label == (OF_MEMBERSHIP, membership.uid()));
        if is_ours && wanted.iter().all(|(_, wanted)| wanted.name() != binding.name()) {
            plan.independent.push(Write::Delete(owned, Deletion::default()));
        }
    }
}

fn address(plural: &str, namespace: &str, name: &str) -> Address {
    Address {
        group: crate::iam::GROUP.to_owned(),
        plural: plural.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
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

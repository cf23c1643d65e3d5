//! Privilege escalation check: a principal cannot grant permissions that it does not hold. It applies to
//! roles, bindings, memberships and email addresses; the verbs `escalate` and `bind` are exempt, as with
//! RBAC.

use std::collections::BTreeSet;
use std::sync::Arc;

use apiserver::authz::{Attributes, Authorizer};
use apiserver::call::Call;
use apiserver::identity::{AUTHENTICATED, Identity, MASTERS};
use krm::field::{FieldError, Path};
use krm::kind::Address;
use krm::{Object, Status};
use serde_json::{Value, json};

use super::GROUP;
use super::authorizer::Iam;
use super::complete::{new_subject, subject_uid, uid_of};
use super::directory::{by_uid, machine_address, organization_of_namespace};
use super::permission::Permission;
use super::policies::Binding;
use super::roles::{At, Effective, SYSTEM_NAMESPACE};
use super::{selector, sign_in};
use crate::tenancy::{self, GROUP as TENANCY, ORGANIZATION, PROJECT};

/// How many missing permissions a refusal names.
const MOST_TOLD: usize = 10;

/// Whether a write gives away nothing that its writer has not.
pub fn check(
    iam: &Iam,
    rights: &dyn Authorizer,
    call: &Call,
    view: &mut store::View,
    (old, new): (Option<&Object>, &Object),
) -> Result<(), Status> {
    if !call.subresource.is_empty() || old.is_some_and(|old| old.get("spec") == new.get("spec")) {
        return Ok(());
    }
    let writer = Writer { iam, rights, call, is_master: call.who.is_in(MASTERS) };
    let at = At::new(call.plane.as_str(), &call.namespace, new.name());
    match (call.kind.group.as_str(), call.kind.names.plural.as_str()) {
        (GROUP, "roles") => writer.role(&at, new),
        (GROUP, "policybindings") => {
            writer.subjects_are_who_they_are_called(view, new)?;
            writer.binding(view, &at, new)
        }
        (GROUP, "groupmemberships") => writer.membership(view, new),
        (GROUP, "users") => writer.user(view, old, new),
        (GROUP, "machineaccountkeys") => writer.machine_key(view, new),
        (TENANCY, "projects") => writer.project(old, new),
        (TENANCY, "organizationmemberships") => writer.organization_membership(view, &at, new),
        _ => Ok(()),
    }
}

struct Writer<'a> {
    iam: &'a Iam,
    rights: &'a dyn Authorizer,
    call: &'a Call,
    is_master: bool,
}

impl Writer<'_> {
    /// A role counts wherever it is bound: its writer holds what it grants on all that it can be bound to.
    fn role(&self, at: &At, new: &Object) -> Result<(), Status> {
        self.refers_within(
            at,
            new.at("spec.inheritedRoles").and_then(Value::as_array).into_iter().flatten(),
        )?;
        if self.is_master || self.may("escalate", "roles", &at.namespace, &at.name) {
            return Ok(());
        }
        let effective = self.iam.index().roles.would_be(at, new);
        let (place, told) = match (at.plane.is_empty(), organization_of_namespace(&at.namespace)) {
            (false, _) => (vec![selector::project(&at.plane)], format!("in project {:?}", at.plane)),
            (true, Some(name)) => (vec![selector::organization(name)], format!("on Organization {name:?}")),
            (true, None) => (Vec::new(), "on the whole platform".to_owned()),
        };
        self.holds(&effective, &place, &told)
    }

    fn binding(&self, view: &mut store::View, at: &At, new: &Object) -> Result<(), Status> {
        self.refers_within(at, new.at("spec.roleRef"))?;
        self.selects_within(view, at, new)?;
        let Some(binding) = Binding::read(at, new) else { return Ok(()) };
        self.gives(view, &binding.role, &binding.selector)
    }

    /// Whether the writer may give a role on something: he holds all of it there, or may `bind` it.
    fn gives(&self, view: &mut store::View, role: &At, selector: &str) -> Result<(), Status> {
        if self.is_master || self.may("bind", "roles", &role.namespace, &role.name) {
            return Ok(());
        }
        let known = self.iam.index().effective(role, self.call.plane.as_str()).cloned();
        let effective = known.or_else(|| self.new_role(view, role));
        let missing = || format!("Role {:?} does not exist; create it first", role.to_string());
        let effective = effective.ok_or_else(|| self.forbidden(missing()))?;
        let selectors = self.covering(view, selector);
        self.holds(&effective, &selectors, &format!("on {}", selector::told(selector)))
    }

    /// A role that the same transaction makes. What it inherits of roles that are new too is checked where those are made.
    fn new_role(&self, view: &mut store::View, role: &At) -> Option<Arc<Effective>> {
        if *role.plane != *self.call.plane.as_str() {
            return None;
        }
        let object = self.in_view(view, GROUP, "roles", &role.namespace, &role.name)?;
        Some(Arc::new(self.iam.index().roles.would_be(role, &object)))
    }

    /// The organization of a project, as it will be after this transaction.
    fn organization_of(&self, view: &mut store::View, project: &str) -> Option<String> {
        let object = self.in_view(view, TENANCY, "projects", "", project)?;
        object.at("spec.ownerRef.name").and_then(Value::as_str).map(str::to_owned)
    }

    /// An object of this plane, as it will be after this transaction.
    fn in_view(
        &self,
        view: &mut store::View,
        group: &str,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> Option<Object> {
        let address = Address {
            group: group.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        let key = apiserver::keys::object(&self.call.plane, &address).ok()?;
        let entry = view.get(&key)?;
        let bytes = self.call.api.reveal(&key, &entry).ok()?;
        apiserver::encode::read(&bytes).ok()
    }

    /// Adding a member to a group grants everything that the group has.
    fn membership(&self, view: &mut store::View, new: &Object) -> Result<(), Status> {
        let text = |path: &str| new.at(path).and_then(Value::as_str).unwrap_or_default();
        let (namespace, name) = (text("spec.groupRef.namespace"), text("spec.groupRef.name"));
        if self.call.namespace != namespace && self.call.namespace != SYSTEM_NAMESPACE {
            let why = format!("must be the namespace of the membership, {:?}", self.call.namespace);
            return Err(self.invalid(
                new,
                FieldError::invalid_text(
                    &Path::of("spec").field("groupRef").field("namespace"),
                    namespace,
                    why,
                ),
            ));
        }
        let index = self.iam.index();
        let uid = index.directory.group_uid(&At::new("", namespace, name)).cloned();
        drop(index);
        let Some(uid) = uid else {
            // A group that the same transaction makes has nothing yet, and what is bound to it is checked there.
            if self.in_view(view, GROUP, "groups", namespace, name).is_some() {
                return Ok(());
            }
            let why = format!("no Group of this name exists in namespace {namespace:?}; create it first");
            return Err(self.invalid(
                new,
                FieldError::invalid_text(&Path::of("spec").field("groupRef").field("name"), name, why),
            ));
        };
        self.gives_all_of(view, &by_uid(&uid))
    }

    /// Changing a user's email address lets somebody else authenticate as that user.
    fn user(&self, view: &mut store::View, old: Option<&Object>, new: &Object) -> Result<(), Status> {
        let Some(old) = old.filter(|old| old.at("spec.email") != new.at("spec.email")) else { return Ok(()) };
        self.gives_all_of(view, &by_uid(old.uid()))?;
        let index = self.iam.index();
        let groups = index.directory.groups_of_user(old.name());
        drop(index);
        groups.iter().try_for_each(|uid| self.gives_all_of(view, &by_uid(uid)))
    }

    /// Creating a key for an account allows acting as it.
    fn machine_key(&self, view: &mut store::View, new: &Object) -> Result<(), Status> {
        let account = new.at("spec.machineAccountName").and_then(Value::as_str).unwrap_or_default();
        let at = At::new(self.call.plane.as_str(), &self.call.namespace, account);
        let uid = self.iam.index().directory.machine_uid(&at).cloned();
        if let Some(uid) = uid {
            self.gives_all_of(view, &by_uid(&uid))?;
            self.holds_what_it_may(&at, &uid)?;
        }
        let secret = json!({ "kind": "Secret", "namespace": self.call.namespace, "name": new.name() });
        if sign_in::generated(self.iam, new).is_none()
            || uid_of(&self.call.api, &self.call.plane, &secret).is_none()
        {
            return Ok(());
        }
        let why = "the private key would be stored in a Secret of this name, which already exists: use another name, \
                   or set spec.publicKey";
        Err(self.invalid(new, FieldError::invalid_text(&Path::of("metadata").field("name"), new.name(), why)))
    }

    /// Whether the writer holds all that an account may do, whoever decides about it.
    fn holds_what_it_may(&self, at: &At, uid: &str) -> Result<(), Status> {
        let name = machine_address(&at.plane, &at.namespace, &at.name);
        let account =
            Identity { uid: uid.into(), ..Identity::new(&name, &[sign_in::EVERY_MACHINE, AUTHENTICATED]) };
        let rights = &self.call.api.followers().rights;
        match rights.lacks(&self.call.plane, &self.call.who, &account) {
            None => Ok(()),
            Some(missing) => Err(self.forbidden(format!(
                "user {:?} is attempting to create a key of an account with permissions not currently held: {missing}",
                self.call.who.user
            ))),
        }
    }

    fn gives_all_of(&self, view: &mut store::View, subject: &str) -> Result<(), Status> {
        if self.is_master {
            return Ok(());
        }
        let index = self.iam.index();
        let given: BTreeSet<(At, String)> = index
            .policies
            .of(subject)
            .into_iter()
            .flatten()
            .flat_map(|(selector, given)| given.keys().map(|role| (role.clone(), selector.to_string())))
            .collect();
        drop(index);
        given.iter().try_for_each(|(role, selector)| self.gives(view, role, selector))
    }

    /// A project is made in an organization by who may make projects there.
    fn project(&self, old: Option<&Object>, new: &Object) -> Result<(), Status> {
        let owner =
            |object: &Object| object.at("spec.ownerRef.name").and_then(Value::as_str).map(str::to_owned);
        let (before, after) = (old.and_then(owner), owner(new));
        if self.is_master || (old.is_some() && before == after) {
            return Ok(());
        }
        let create = Attributes::resource("create", TENANCY, "projects");
        if self.by_rbac(&create) {
            return Ok(());
        }
        let permission = Permission::of(&create);
        let mut selectors =
            vec![selector::everywhere(TENANCY, PROJECT), selector::everywhere(TENANCY, ORGANIZATION)];
        selectors.extend(after.as_deref().map(selector::organization));
        if self.iam.index().has_on("", &self.call.who, &permission, &selectors) {
            return Ok(());
        }
        Err(create.forbidden(&self.call.who, &tenancy::not_there(after.as_deref())))
    }

    /// The roles of a membership are bound on the organization.
    fn organization_membership(&self, view: &mut store::View, at: &At, new: &Object) -> Result<(), Status> {
        let organization = new.at("spec.organizationRef.name").and_then(Value::as_str).unwrap_or_default();
        let roles = new.at("spec.roles").and_then(Value::as_array).into_iter().flatten();
        self.refers_within(at, roles.clone())?;
        roles
            .map(|role| at.role(role))
            .try_for_each(|role| self.gives(view, &role, &selector::organization(organization)))
    }

    /// Whether the writer holds every permission on what these cover, beside its kind everywhere.
    fn holds(&self, effective: &Effective, selectors: &[String], place: &str) -> Result<(), Status> {
        let root = apiserver::plane::Plane::root();
        let catalogs = [self.iam.kinds().of(&self.call.plane), self.iam.kinds().of(&root)];
        let index = self.iam.index();
        let lacks = |text: &&str| {
            let Some(permission) = Permission::parse(text) else { return false };
            let mut covering = selectors.to_vec();
            let kinds =
                catalogs.iter().filter_map(|all| all.resource(permission.api_group(), permission.resource));
            covering.extend(kinds.map(|kind| selector::everywhere(&kind.group, &kind.names.kind)));
            !index.has_on(self.call.plane.as_str(), &self.call.who, &permission, &covering)
        };
        let all = effective.permissions();
        let missing: Vec<&str> = all.into_iter().filter(lacks).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut told = missing.iter().take(MOST_TOLD).copied().collect::<Vec<_>>().join(", ");
        if missing.len() > MOST_TOLD {
            told.push_str(&format!(" and {} more", missing.len() - MOST_TOLD));
        }
        let user = &self.call.who.user;
        Err(self.forbidden(format!(
            "user {user:?} is attempting to grant permissions not currently held {place}: {told}"
        )))
    }

    /// Whatever covers what a selector means.
    fn covering(&self, view: &mut store::View, selector: &str) -> Vec<String> {
        let parts: Vec<&str> = selector.split('|').collect();
        let mut all = vec![selector.to_owned()];
        // The index does not know the projects of this transaction.
        if let ["o", "", TENANCY, PROJECT, "", name] = parts.as_slice()
            && let Some(organization) = self.organization_of(view, name)
        {
            all.push(selector::organization(&organization));
        }
        let index = self.iam.index();
        match parts.as_slice() {
            ["k", group, kind] if (*group, *kind) == (TENANCY, PROJECT) => {
                all.push(selector::everywhere(TENANCY, ORGANIZATION));
            }
            ["p", project, group, kind] => {
                let place = selector::ResourceLocation { plane: project, group, kind, ..Default::default() };
                all.extend(place.covered_by(&index.directory));
            }
            ["o", plane, group, kind, namespace, name] => {
                let place = selector::ResourceLocation { plane, group, kind, namespace, name };
                all.extend(place.covered_by(&index.directory));
            }
            _ => {}
        }
        all
    }

    /// Roles of the system may be used everywhere, all others in their own namespace: who may change a role decides for
    /// those who bind it.
    fn refers_within<'v>(
        &self,
        at: &At,
        references: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), Status> {
        for reference in references {
            let role = at.role(reference);
            if &*role.namespace != SYSTEM_NAMESPACE && role.namespace != at.namespace {
                let why = format!(
                    "Role {:?} is in another namespace: only roles in the same namespace or in {SYSTEM_NAMESPACE} can be \
                     referenced",
                    role.to_string()
                );
                return Err(self.forbidden(why));
            }
        }
        Ok(())
    }

    /// A binding in the namespace of an organization is about that organization and what is in it.
    fn selects_within(&self, view: &mut store::View, at: &At, new: &Object) -> Result<(), Status> {
        let reference = new.at("spec.resourceSelector.resourceRef");
        if let Some(reference) = reference
            && reference.get("uid").and_then(Value::as_str).unwrap_or_default().is_empty()
        {
            let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
            let why = format!("no {} of this name exists; create it first", text("kind"));
            return Err(self.invalid(
                new,
                FieldError::invalid_text(
                    &Path::of("spec").field("resourceSelector").field("resourceRef").field("name"),
                    text("name"),
                    why,
                ),
            ));
        }
        let Some(organization) = organization_of_namespace(&at.namespace).filter(|_| at.plane.is_empty())
        else {
            return Ok(());
        };
        let text = |field: &str| reference.and_then(|found| found.get(field)?.as_str()).unwrap_or_default();
        let is_within = match (text("apiGroup"), text("kind")) {
            (TENANCY, ORGANIZATION) => text("name") == organization,
            (TENANCY, PROJECT) => self.organization_of(view, text("name")).as_deref() == Some(organization),
            _ => text("namespace") == &*at.namespace,
        };
        match is_within {
            true => Ok(()),
            false => Err(self.forbidden(format!(
                "bindings in namespace {:?} can only select Organization {organization:?} and what it contains; \
                 bind other resources in namespace {SYSTEM_NAMESPACE}",
                at.namespace
            ))),
        }
    }

    /// A uid that is given is that of the one who is named.
    fn subjects_are_who_they_are_called(&self, view: &mut store::View, new: &Object) -> Result<(), Status> {
        let subjects = new.at("spec.subjects").and_then(Value::as_array);
        for (at, subject) in subjects.into_iter().flatten().enumerate() {
            let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
            if text("kind") == "Group" && text("name").starts_with("system:") {
                continue;
            }
            let is =
                subject_uid(self.iam, self.call, subject).or_else(|| new_subject(self.call, view, subject));
            if !text("uid").is_empty() && is.as_deref() != Some(text("uid")) {
                let why = match is {
                    Some(_) => format!(
                        "is not the uid of {} {:?}; leave it out and the server sets it",
                        text("kind"),
                        text("name")
                    ),
                    None => format!("{} {:?} does not exist; create it first", text("kind"), text("name")),
                };
                return Err(self.invalid(
                    new,
                    FieldError::invalid_text(
                        &Path::of("spec").field("subjects").index(at).field("uid"),
                        text("uid"),
                        why,
                    ),
                ));
            }
        }
        Ok(())
    }

    fn may(&self, verb: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let what = Attributes::resource(verb, GROUP, resource).in_namespace(namespace).named(name);
        self.rights.decide(&self.call.who, &what).allowed
    }

    /// Whether RBAC allows it, whatever else does.
    fn by_rbac(&self, what: &Attributes<'_>) -> bool {
        let rights = &self.call.api.followers().rights;
        rights.in_plane(&self.call.plane, |rbac| rbac.decide(&self.call.who, what).allowed)
    }

    fn forbidden(&self, why: String) -> Status {
        Status::forbidden(&self.call.kind.resource(), &self.call.name, why)
    }

    fn invalid(&self, new: &Object, fault: FieldError) -> Status {
        Status::invalid(&self.call.kind.subject(), new.name(), &[fault])
    }
}

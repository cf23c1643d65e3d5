//! The index that decisions are made from, kept up to date with the store.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apiserver::Identity;
use apiserver::authz::Only;
use krm::Object;

use super::defined::{Defined, own_role};
use super::directory::{
    Directory, ORGANIZATION_NAMESPACE, namespace_of_organization, organization_of_namespace,
};
use super::former;
use super::machine_keys::MachineKeys;
use super::permission::Permission;
use super::policies::{Binding, Given, Policies, Source};
use super::roles::{At, Effective, Roles, SYSTEM_NAMESPACE};
use super::selector::{self, ResourceLocation};
use crate::tenancy::{GROUP as TENANCY, ORGANIZATION, PROJECT};

/// Users, roles and bindings.
#[derive(Debug, Default)]
pub struct Index {
    /// Who there is.
    pub directory: Directory,
    /// What machine accounts sign with.
    pub machine_keys: MachineKeys,
    /// What users define.
    pub defined: Defined,
    /// What roles grant.
    pub roles: Roles,
    /// Who has which role on what.
    pub policies: Policies,
    /// When each project was made, in microseconds since 1970.
    pub born: HashMap<Arc<str>, u64>,
    /// The memberships of organizations, by their uids.
    members: HashMap<At, Arc<str>>,
}

/// A grant that allows something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Who has it, for people.
    pub subject: String,
    /// On what.
    pub selector: Arc<str>,
    /// The role.
    pub role: At,
    /// The binding.
    pub binding: At,
}

impl std::fmt::Display for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let on = selector::told(&self.selector);
        let (binding, role) = (self.binding.to_string(), self.role.to_string());
        write!(f, "IAM: allowed by PolicyBinding {binding:?} of Role {role:?} on {on} to {}", self.subject)
    }
}

impl Index {
    /// Takes in an object of the group, which was made at this time, as it is now.
    pub fn take_in(&mut self, plural: &str, at: &At, object: Option<&Object>, born: u64) {
        match (plural, object) {
            ("groupmemberships", _) => self.directory.membership(at, object, born),
            ("users", _) => self.directory.user(&at.name, object),
            ("groups", _) => self.directory.group(at, object),
            (former::ACCOUNTS, Some(record)) => self.directory.former.take_in(plural, record),
            ("machineaccounts", _) => self.directory.machine(at, object),
            ("machineaccountkeys", _) => self.machine_keys.take_in(at, object),
            ("roles", Some(object)) => self.roles.put(at, object),
            ("roles", None) => self.roles.remove(at),
            ("policybindings", None) => self.policies.remove(at),
            _ => {}
        }
    }

    /// The first grant that gives somebody a permission on a place.
    pub fn grant(
        &self,
        plane: &str,
        who: &Identity,
        permission: &Permission<'_>,
        place: &ResourceLocation<'_>,
    ) -> Option<Grant> {
        let subjects = self.directory.subjects_of(plane, who);
        if subjects.iter().all(|(subject, _)| self.policies.of(subject).is_none()) {
            return None;
        }
        let covering = place.covered_by(&self.directory);
        self.first(place.plane, &subjects, &covering, permission)
    }

    /// Every grant that gives somebody a permission on a place.
    pub fn grants(
        &self,
        plane: &str,
        who: &Identity,
        permission: &Permission<'_>,
        place: &ResourceLocation<'_>,
    ) -> Vec<Grant> {
        let text = permission.to_string();
        let covering = place.covered_by(&self.directory);
        let mut found = Vec::new();
        for (subject, told) in self.directory.subjects_of(plane, who) {
            let Some(grants) = self.policies.of(&subject) else { continue };
            for selector in &covering {
                let Some((selector, given)) = grants.get_key_value(selector.as_str()) else { continue };
                let holding =
                    |given: &(&At, &BTreeSet<At>)| self.holds(given.0, place.plane, &text, permission);
                for (role, bindings) in given.iter().filter(holding) {
                    found.extend(bindings.iter().map(|binding| Grant {
                        subject: told.clone(),
                        selector: selector.clone(),
                        role: role.clone(),
                        binding: binding.clone(),
                    }));
                }
            }
        }
        found
    }

    fn first(
        &self,
        plane: &str,
        subjects: &[(String, String)],
        covering: &[String],
        permission: &Permission<'_>,
    ) -> Option<Grant> {
        let text = permission.to_string();
        for (subject, told) in subjects {
            let Some(grants) = self.policies.of(subject) else { continue };
            for selector in covering {
                let Some((selector, given)) = grants.get_key_value(selector.as_str()) else { continue };
                let Some((role, bindings)) =
                    given.iter().find(|(role, _)| self.holds(role, plane, &text, permission))
                else {
                    continue;
                };
                let binding = bindings.first()?.clone();
                return Some(Grant {
                    subject: told.clone(),
                    selector: selector.clone(),
                    role: role.clone(),
                    binding,
                });
            }
        }
        None
    }

    /// Whether a role that is bound holds a permission in a plane.
    pub fn holds(&self, role: &At, plane: &str, text: &str, permission: &Permission<'_>) -> bool {
        let holds = |role: &At| self.roles.get(role).is_some_and(|role| role.holds(text, permission));
        holds(role)
            || (self.defined.has_any(plane)
                && own_role(role, plane, permission.group).is_some_and(|own| holds(&own)))
    }

    /// Everything that a role grants in a plane.
    pub fn permissions_in(&self, role: &At, plane: &str) -> BTreeSet<&str> {
        let mut all = self.roles.get(role).map(|role| role.permissions()).unwrap_or_default();
        for group in self.defined.groups(plane) {
            let own = own_role(role, plane, group).and_then(|own| self.roles.get(&own));
            all.extend(own.into_iter().flat_map(|own| own.permissions()));
        }
        all
    }

    /// Whether a grant on exactly these selectors gives somebody a permission.
    pub fn has_on(
        &self,
        plane: &str,
        who: &Identity,
        permission: &Permission<'_>,
        selectors: &[String],
    ) -> bool {
        self.first(plane, &self.directory.subjects_of(plane, who), selectors, permission).is_some()
    }

    /// The objects of a kind, or the namespaces, in which somebody has a permission that he has not on all of them.
    pub fn some_of(&self, who: &Identity, permission: &Permission<'_>, place: &ResourceLocation<'_>) -> Only {
        let text = permission.to_string();
        let mut only = Only::default();
        let gives = |given: &Given| given.keys().any(|role| self.holds(role, place.plane, &text, permission));
        let single = selector::objects_of(place.plane, place.group, place.kind);
        let organizations = selector::objects_of("", TENANCY, ORGANIZATION);
        for (subject, _) in self.directory.subjects_of(place.plane, who) {
            let Some(grants) = self.policies.of(&subject) else { continue };
            for (namespace, name) in
                beginning(grants, &single).filter(|(_, given)| gives(given)).filter_map(named)
            {
                if place.namespace.is_empty() || place.namespace == namespace {
                    only.objects.insert((namespace.into(), name.into()));
                }
            }
            if !place.plane.is_empty() {
                continue;
            }
            // A grant on every organization is one on the namespaces of all of them, whatever their names are. Projects have
            // been found by then.
            let every = grants.get(selector::everywhere(TENANCY, ORGANIZATION).as_str());
            if every.is_some_and(&gives) && (place.group, place.kind) != (TENANCY, PROJECT) {
                let all = match (place.group, place.kind) {
                    ("", "Namespace") => &mut only.names_beginning,
                    _ => &mut only.namespaces_beginning,
                };
                all.insert(ORGANIZATION_NAMESPACE.into());
            }
            // What is in an organization: its projects, its namespace, and all that is in that.
            for (_, name) in
                beginning(grants, &organizations).filter(|(_, given)| gives(given)).filter_map(named)
            {
                let namespace: Arc<str> = namespace_of_organization(name).into();
                if (place.group, place.kind) == (TENANCY, PROJECT) {
                    let projects = self.directory.projects_of(name);
                    only.objects.extend(projects.map(|project| ("".into(), project.clone())));
                } else if (place.group, place.kind) == ("", "Namespace") {
                    only.objects.insert(("".into(), namespace));
                } else if place.namespace.is_empty() || place.namespace == &*namespace {
                    only.namespaces.insert(namespace);
                }
            }
        }
        only
    }

    /// Whether there is anything for somebody in a project. `is_served` says which kinds are there.
    pub fn reaches(&self, project: &str, who: &Identity, is_served: &dyn Fn(&str, &str) -> bool) -> bool {
        let reaches = |given: &Given| {
            given.keys().any(|role| self.roles.get(role).is_some_and(|role| role.reaches_projects))
        };
        let mut whole = vec![
            selector::project(project),
            selector::everywhere(TENANCY, PROJECT),
            selector::everywhere(TENANCY, ORGANIZATION),
        ];
        whole.extend(self.directory.organization_of(project).map(|name| selector::organization(name)));
        for (subject, _) in self.directory.subjects_of(project, who) {
            let Some(grants) = self.policies.of(&subject) else { continue };
            if whole.iter().filter_map(|selector| grants.get(selector.as_str())).any(&reaches) {
                return true;
            }
            if selector::within_project(project)
                .iter()
                .any(|prefix| beginning(grants, prefix).next().is_some())
            {
                return true;
            }
            let kinds = beginning(grants, "k|").filter(|(_, given)| reaches(given));
            let mut kinds = kinds.filter_map(|(selector, _)| selector.strip_prefix("k|")?.split_once('|'));
            if kinds.any(|(group, kind)| is_served(group, kind)) {
                return true;
            }
        }
        false
    }

    /// A binding with whether it counts: `uid` is that of the object it is about, if that is there, and `born` when the
    /// binding was made.
    pub fn bind(&mut self, at: &At, object: &Object, uid: Option<&str>, born: u64) {
        match Binding::read(at, object) {
            Some(mut binding) => {
                binding.born = born;
                binding.is_there =
                    binding.target.is_none() || (uid.is_some() && binding.target.as_deref() == uid);
                let holds = self.holds_by(at, &binding);
                self.policies.put(at, binding, holds);
            }
            None => self.policies.remove(at),
        }
    }

    /// An object that bindings may be about is there with this uid, or has gone.
    pub fn target(&mut self, selector: &str, uid: Option<&str>) {
        for at in self.policies.target(selector, uid) {
            let Some(binding) = self.policies.get(&at) else { continue };
            let holds = self.holds_by(&at, binding);
            self.policies.holds(&at, holds);
        }
    }

    /// Somebody joined an organization, or left it: what was given for that counts accordingly.
    pub fn belongs(&mut self, membership: &At, object: Option<&Object>) {
        match object {
            Some(object) => drop(self.members.insert(membership.clone(), object.uid().into())),
            None => drop(self.members.remove(membership)),
        }
        self.look_again(&membership.namespace);
    }

    /// Somebody left an organization.
    pub fn left(&mut self, record: &Object) {
        self.directory.former.take_in(former::MEMBERS, record);
        let organization =
            record.at("spec.organization").and_then(serde_json::Value::as_str).unwrap_or_default();
        self.look_again(&namespace_of_organization(organization));
    }

    /// Bindings in the namespace of an organization may have come to count, or not to.
    fn look_again(&mut self, namespace: &str) {
        for at in self.policies.depending(namespace) {
            let Some(binding) = self.policies.get(&at) else { continue };
            let holds = self.holds_by(&at, binding);
            self.policies.holds(&at, holds);
        }
    }

    /// Whether a binding still has what it came from: the membership, or that its maker has not left.
    fn holds_by(&self, at: &At, binding: &Binding) -> bool {
        match &binding.comes_from {
            Source::Somebody => true,
            Source::Membership(uid) => self.members.values().any(|known| known == uid),
            Source::Creation(creator) => {
                let organization = organization_of_namespace(&at.namespace).unwrap_or_default();
                binding.born > self.directory.former.left_at(organization, creator)
            }
        }
    }

    /// Whether somebody has left the organization of a project that they made.
    pub fn has_left(&self, project: &str, login: &str, born: u64) -> bool {
        let left = self.directory.organization_of(project).zip(self.directory.user_uid(login));
        left.is_some_and(|(organization, uid)| born <= self.directory.former.left_at(organization, uid))
    }

    /// What a role grants that is bound in a plane.
    pub fn effective(&self, role: &At, plane: &str) -> Option<&Arc<Effective>> {
        let own = || self.roles.get(&At { plane: plane.into(), ..role.clone() });
        self.roles.get(role).or_else(|| own().filter(|_| &*role.namespace == SYSTEM_NAMESPACE))
    }
}

/// The grants whose selectors begin so.
pub fn beginning<'a>(
    grants: &'a BTreeMap<Arc<str>, Given>,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a Arc<str>, &'a Given)> {
    grants
        .range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded))
        .take_while(move |(selector, _)| selector.starts_with(prefix))
}

fn named<'a>((selector, _): (&'a Arc<str>, &'a Given)) -> Option<(&'a str, &'a str)> {
    selector::named(selector)
}

//! Users, groups, accounts, projects and organizations by name, and their memberships.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apiserver::Identity;
use apiserver::authn::service_account_of;
use apiserver::authz::Standing;
use apiserver::identity::AUTHENTICATED;
use krm::Object;

use super::former::Former;
use super::roles::At;

/// The group of everybody who has proved who they are.
const EVERYBODY: &str = "system:authenticated-users";
/// What the names of namespaces begin with that belong to an organization.
pub const ORGANIZATION_NAMESPACE: &str = "organization-";
/// What the addresses of machine accounts end with.
pub const MACHINE_SUFFIX: &str = "machineaccounts.groundplane.dev";

/// The organization that a namespace of the root belongs to.
pub fn organization_of_namespace(namespace: &str) -> Option<&str> {
    namespace.strip_prefix(ORGANIZATION_NAMESPACE).filter(|name| !name.is_empty())
}

/// The namespace of an organization.
pub fn namespace_of_organization(organization: &str) -> String {
    format!("{ORGANIZATION_NAMESPACE}{organization}")
}

/// The address under which a machine account signs in.
pub fn machine_address(plane: &str, namespace: &str, name: &str) -> String {
    match plane.is_empty() {
        true => format!("{name}@{namespace}.{MACHINE_SUFFIX}"),
        false => format!("{name}@{namespace}.{plane}.{MACHINE_SUFFIX}"),
    }
}

#[derive(Debug)]
struct Account {
    uid: Arc<str>,
    email: Arc<str>,
    state: State,
}

/// Whether an account may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    Inactive,
    Deleting,
}

impl State {
    fn of(object: &Object, path: &str) -> State {
        match text(object, path) {
            _ if object.is_deleting() => State::Deleting,
            "Inactive" => State::Inactive,
            _ => State::Active,
        }
    }
}

/// Who there is.
#[derive(Debug, Default)]
pub struct Directory {
    users: HashMap<Arc<str>, Account>,
    /// The name of the user that has an address.
    addresses: HashMap<Arc<str>, Arc<str>>,
    groups: HashMap<At, Arc<str>>,
    memberships: HashMap<At, Membership>,
    /// By user, the groups, each with the memberships that say so.
    groups_of: HashMap<Arc<str>, BTreeMap<At, BTreeSet<At>>>,
    machines: HashMap<At, Account>,
    machine_addresses: HashMap<Arc<str>, At>,
    /// By project, the organization it belongs to.
    organization_of: HashMap<Arc<str>, Arc<str>>,
    projects_of: HashMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Accounts that have gone, and who has left organizations.
    pub former: Former,
}

/// That a user is in a group.
#[derive(Debug)]
struct Membership {
    user: Arc<str>,
    group: At,
    /// When it was made, in microseconds since 1970.
    born: u64,
}

impl Directory {
    /// Takes in a user as it is now.
    pub fn user(&mut self, name: &str, object: Option<&Object>) {
        if let Some(old) = self.users.remove(name) {
            self.addresses.remove(&old.email);
        }
        let Some(object) = object else { return };
        let email: Arc<str> = text(object, "spec.email").to_lowercase().into();
        let state = State::of(object, "status.state");
        self.addresses.insert(email.clone(), name.into());
        self.users.insert(name.into(), Account { uid: object.uid().into(), email, state });
    }

    /// Takes in a group as it is now.
    pub fn group(&mut self, at: &At, object: Option<&Object>) {
        match object {
            Some(object) => drop(self.groups.insert(at.clone(), object.uid().into())),
            None => drop(self.groups.remove(at)),
        }
    }

    /// Takes in a membership, which was made at this time, as it is now.
    pub fn membership(&mut self, at: &At, object: Option<&Object>, born: u64) {
        if let Some(Membership { user, group, .. }) = self.memberships.remove(at)
            && let Some(groups) = self.groups_of.get_mut(&user)
        {
            if let Some(says) = groups.get_mut(&group) {
                says.remove(at);
            }
            groups.retain(|_, says| !says.is_empty());
            if groups.is_empty() {
                self.groups_of.remove(&user);
            }
        }
        let Some(object) = object else { return };
        let user: Arc<str> = text(object, "spec.userRef.name").into();
        let group = At::new("", text(object, "spec.groupRef.namespace"), text(object, "spec.groupRef.name"));
        self.groups_of.entry(user.clone()).or_default().entry(group.clone()).or_default().insert(at.clone());
        self.memberships.insert(at.clone(), Membership { user, group, born });
    }

    /// Takes in a machine account as it is now.
    pub fn machine(&mut self, at: &At, object: Option<&Object>) {
        if let Some(old) = self.machines.remove(at) {
            self.machine_addresses.remove(&old.email);
        }
        let Some(object) = object else { return };
        let email: Arc<str> = machine_address(&at.plane, &at.namespace, &at.name).into();
        self.machine_addresses.insert(email.clone(), at.clone());
        let state = State::of(object, "spec.state");
        self.machines.insert(at.clone(), Account { uid: object.uid().into(), email, state });
    }

    /// Takes in a project as it is now.
    pub fn project(&mut self, name: &str, object: Option<&Object>) {
        if let Some(organization) = self.organization_of.remove(name)
            && let Some(projects) = self.projects_of.get_mut(&organization)
        {
            projects.remove(name);
            if projects.is_empty() {
                self.projects_of.remove(&organization);
            }
        }
        let organization = object.map_or("", |object| text(object, "spec.ownerRef.name"));
        if !organization.is_empty() {
            self.projects_of.entry(organization.into()).or_default().insert(name.into());
            self.organization_of.insert(name.into(), organization.into());
        }
    }

    /// The organization that a project belongs to.
    pub fn organization_of(&self, project: &str) -> Option<&Arc<str>> {
        self.organization_of.get(project)
    }

    /// The projects that belong to an organization.
    pub fn projects_of(&self, organization: &str) -> impl Iterator<Item = &Arc<str>> {
        self.projects_of.get(organization).into_iter().flatten()
    }

    /// The uid of a user, by name or address.
    pub fn user_uid(&self, login: &str) -> Option<&Arc<str>> {
        self.find(login).map(|(_, user)| &user.uid)
    }

    /// The uid of a group.
    pub fn group_uid(&self, at: &At) -> Option<&Arc<str>> {
        self.groups.get(at)
    }

    /// The uid of a machine account.
    pub fn machine_uid(&self, at: &At) -> Option<&Arc<str>> {
        self.machines.get(at).map(|machine| &machine.uid)
    }

    /// The machine account of an address, whether it may sign in or not.
    pub fn machine_at(&self, address: &str) -> Option<&At> {
        self.machine_addresses.get(address)
    }

    /// The machine account that signs in under an address, if it may.
    pub fn machine_of(&self, address: &str) -> Option<(&At, &Arc<str>)> {
        let at = self.machine_addresses.get(address)?;
        let machine = self.machines.get(at).filter(|machine| machine.state == State::Active)?;
        Some((at, &machine.uid))
    }

    /// The name of the user that somebody is.
    pub fn user_of(&self, login: &str) -> Option<&Arc<str>> {
        self.find(login).map(|(name, _)| name)
    }

    fn find(&self, login: &str) -> Option<(&Arc<str>, &Account)> {
        if let Some(found) = self.users.get_key_value(login) {
            return Some(found);
        }
        if !login.contains('@') {
            return None;
        }
        let name = self.addresses.get(login).or_else(|| self.addresses.get(&*login.to_lowercase()))?;
        self.users.get_key_value(name)
    }

    /// The memberships of a user, or in a group, by the plural of which.
    pub fn memberships_of(&self, plural: &str, at: &At) -> impl Iterator<Item = &At> {
        let is_user = plural == "users";
        let is_of = move |of: &Membership| if is_user { of.user == at.name } else { of.group == *at };
        self.memberships.iter().filter(move |(_, of)| is_of(of)).map(|(membership, _)| membership)
    }

    /// The uids of the groups that a user is in.
    pub fn groups_of_user(&self, name: &str) -> Vec<Arc<str>> {
        self.joined(name).filter_map(|group| self.groups.get(group).cloned()).collect()
    }

    /// The groups of a user, by memberships that were made for it and not for an earlier one of its name.
    fn joined(&self, name: &str) -> impl Iterator<Item = &At> {
        let since = self.former.gone_at(name);
        let says = move |at: &At| self.memberships.get(at).is_some_and(|membership| membership.born > since);
        let groups = self.groups_of.get(name).into_iter().flatten();
        groups.filter(move |(_, memberships)| memberships.iter().any(&says)).map(|(group, _)| group)
    }

    /// Whether somebody is there to act, and since which version bindings to the name are theirs.
    pub fn standing(&self, login: &str) -> Standing {
        let address = login.contains('@').then(|| login.to_lowercase());
        let former = self.former.of(login).or_else(|| self.former.of(address.as_deref()?));
        let account = self.find(login).map(|(name, user)| ("User", name.to_string(), user)).or_else(|| {
            let at = self.machine_addresses.get(login)?;
            Some(("MachineAccount", at.to_string(), self.machines.get(at)?))
        });
        let refusal = match (&account, former) {
            (Some((kind, name, account)), _) => match account.state {
                State::Active => None,
                State::Inactive => Some(format!(
                    "{kind} {name:?} is Inactive and may do nothing; ask an administrator to make it Active again"
                )),
                State::Deleting => Some(format!("{kind} {name:?} is being deleted and may do nothing")),
            },
            (None, Some(former)) => Some(format!(
                "{} {login:?} was deleted at {} and may do nothing; an administrator has to create it again, and grant \
                 it what it is to have",
                former.kind, former.time
            )),
            (None, None) => None,
        };
        Standing { refusal, since: former.map_or(0, |former| former.version), ..Standing::default() }
    }

    /// Everything that somebody is, as bindings name it, and for people.
    pub fn subjects_of(&self, plane: &str, who: &Identity) -> Vec<(String, String)> {
        let mut subjects = Vec::with_capacity(4);
        if let Some((name, user)) = self.find(&who.user)
            && user.state == State::Active
        {
            subjects.push((by_uid(&user.uid), format!("User {name:?}")));
            for group in self.joined(name) {
                if let Some(uid) = self.groups.get(group) {
                    subjects.push((by_uid(uid), format!("Group {:?}", group.to_string())));
                }
            }
        }
        if let Some((at, uid)) = self.machine_of(&who.user) {
            subjects.push((by_uid(uid), format!("MachineAccount {:?}", at.to_string())));
        }
        if let Some((namespace, name)) = service_account_of(&who.user) {
            let at = format!("{namespace}/{name}");
            let told = format!("ServiceAccount {at:?}");
            match who.uid.is_empty() {
                // Whoever is asked about without a uid may be any account of the name.
                true => subjects.push((by_service_account(plane, namespace, name, None), told)),
                false => {
                    for uid in [&*who.uid, ""] {
                        let subject = by_service_account(plane, namespace, name, Some(uid));
                        subjects.push((subject, told.clone()));
                    }
                }
            }
        }
        for group in who.groups.iter().filter(|group| group.starts_with("system:")) {
            subjects.push((by_group(group), format!("Group {group:?}")));
        }
        if who.is_in(AUTHENTICATED) {
            subjects.push((by_group(EVERYBODY), format!("Group {EVERYBODY:?}")));
        }
        subjects
    }
}

/// Somebody by identity.
pub fn by_uid(uid: &str) -> String {
    format!("u:{uid}")
}

/// One of the groups that need no identity.
pub fn by_group(name: &str) -> String {
    format!("g:{name}")
}

/// A Kubernetes service account: the one with this uid, whichever a binding names without one (""), or any of the name.
pub fn by_service_account(plane: &str, namespace: &str, name: &str, uid: Option<&str>) -> String {
    match uid {
        Some(uid) => format!("s:{plane}/{namespace}/{name}#{uid}"),
        None => format!("s:{plane}/{namespace}/{name}"),
    }
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(serde_json::Value::as_str).unwrap_or_default()
}

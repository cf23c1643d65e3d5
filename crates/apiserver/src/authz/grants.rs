//! The roles bound to a user or a group in one scope, and by which bindings.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use krm::Object;
use krm::field::quote;
use serde_json::Value;

use super::Standing;
use crate::authn::{service_account_of, service_account_user};
use crate::identity::Identity;

/// How a binding names whom it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SubjectKind {
    User,
    Group,
    ServiceAccount,
}

/// A binding: one role, and whom it is given to.
#[derive(Debug, Default)]
pub(super) struct Binding {
    pub role: RoleName,
    /// In the order the binding lists them; service accounts by the name of their user.
    pub subjects: Vec<(SubjectKind, Arc<str>)>,
    /// When it was written last.
    pub version: u64,
}

/// A role, as a binding names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct RoleName {
    pub cluster: bool,
    pub name: Arc<str>,
}

impl RoleName {
    pub fn kind(&self) -> &'static str {
        if self.cluster { "ClusterRole" } else { "Role" }
    }
}

impl Binding {
    /// A binding that names its role and its subjects as Kubernetes does; what makes no sense binds nobody.
    pub fn from_object(object: &Object) -> Binding {
        let role =
            |field: &str| object.at("roleRef").and_then(|role| role.get(field)?.as_str()).unwrap_or("");
        let subjects = object.get("subjects").and_then(Value::as_array).into_iter().flatten();
        Binding {
            role: RoleName { cluster: role("kind") == "ClusterRole", name: role("name").into() },
            subjects: subjects.filter_map(|subject| bound(subject, object.namespace())).collect(),
            // What ships is not kept everywhere, and has no version there: it is never too old.
            version: object.resource_version().parse().unwrap_or(u64::MAX),
        }
    }
}

fn bound(subject: &Value, own_namespace: &str) -> Option<(SubjectKind, Arc<str>)> {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or("");
    let name = text("name");
    match text("kind") {
        "User" => Some((SubjectKind::User, name.into())),
        "Group" => Some((SubjectKind::Group, name.into())),
        "ServiceAccount" => {
            let namespace = if text("namespace").is_empty() { own_namespace } else { text("namespace") };
            let user = || service_account_user(namespace, name).into();
            (!namespace.is_empty()).then(|| (SubjectKind::ServiceAccount, user()))
        }
        _ => None,
    }
}

/// The roles of one user or group, each with the bindings that give it.
pub(super) type Given = BTreeMap<RoleName, BTreeMap<Arc<str>, By>>;

/// How a binding gives a role to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct By {
    /// How it names them.
    pub kind: SubjectKind,
    /// When it was written last.
    pub version: u64,
}

/// What the bindings of one scope give to whom.
#[derive(Debug, Default)]
pub(super) struct Grants {
    users: HashMap<Arc<str>, Given>,
    groups: HashMap<Arc<str>, Given>,
}

impl Grants {
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    pub fn add(&mut self, binding_name: &Arc<str>, binding: &Binding) {
        for (kind, subject) in &binding.subjects {
            let given = self.side(*kind).entry(subject.clone()).or_default();
            // The first way a binding names somebody is the one that is told.
            let bindings = given.entry(binding.role.clone()).or_default();
            bindings.entry(binding_name.clone()).or_insert(By { kind: *kind, version: binding.version });
        }
    }

    pub fn take(&mut self, binding_name: &str, binding: &Binding) {
        for (kind, subject) in &binding.subjects {
            let side = self.side(*kind);
            let Some(given) = side.get_mut(subject) else { continue };
            if let Some(bindings) = given.get_mut(&binding.role) {
                bindings.remove(binding_name);
                if bindings.is_empty() {
                    given.remove(&binding.role);
                }
            }
            if given.is_empty() {
                side.remove(subject);
            }
        }
    }

    /// What the user has, as itself and by each of its groups. Bindings to the name that are not theirs are left out.
    pub fn of<'a>(
        &'a self,
        who: &'a Identity,
        standing: &'a Standing,
    ) -> impl Iterator<Item = (&'a str, Cow<'a, Given>)> {
        let own = self.users.get(&who.user).map(|given| (&*who.user, own(given, standing)));
        let by_group =
            |group: &'a Arc<str>| self.groups.get(group).map(|given| (&**group, Cow::Borrowed(given)));
        own.into_iter().chain(who.groups.iter().filter_map(by_group))
    }

    fn side(&mut self, kind: SubjectKind) -> &mut HashMap<Arc<str>, Given> {
        match kind {
            SubjectKind::Group => &mut self.groups,
            SubjectKind::User | SubjectKind::ServiceAccount => &mut self.users,
        }
    }
}

fn own<'a>(given: &'a Given, standing: &Standing) -> Cow<'a, Given> {
    if standing.is_plain() {
        return Cow::Borrowed(given);
    }
    let mut given = given.clone();
    given.retain(|_, bindings| {
        bindings.retain(|binding, by| standing.counts(binding, by.version));
        !bindings.is_empty()
    });
    Cow::Owned(given)
}

/// Which binding gave which role to whom, in Kubernetes' words.
pub(super) fn told(
    binding: &str,
    namespace: &str,
    role: &RoleName,
    kind: SubjectKind,
    subject: &str,
) -> String {
    let (binding_kind, binding) = match namespace {
        "" => ("ClusterRoleBinding", quote(binding)),
        namespace => ("RoleBinding", quote(&format!("{binding}/{namespace}"))),
    };
    let to = match (kind, service_account_of(subject)) {
        (SubjectKind::ServiceAccount, Some((namespace, name))) => {
            format!("ServiceAccount {}", quote(&format!("{name}/{namespace}")))
        }
        (SubjectKind::Group, _) => format!("Group {}", quote(subject)),
        _ => format!("User {}", quote(subject)),
    };
    format!("RBAC: allowed by {binding_kind} {binding} of {} {} to {to}", role.kind(), quote(&role.name))
}

//! Roles with inherited permissions resolved.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use krm::Object;
use serde_json::Value;

use super::permission::Permission;

/// The namespace whose roles may be given everywhere.
pub const SYSTEM_NAMESPACE: &str = "milo-system";

/// Which object of a plane; an empty plane is the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The plane.
    pub plane: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl At {
    /// An object of a plane.
    pub fn new(plane: &str, namespace: &str, name: &str) -> At {
        At { plane: plane.into(), namespace: namespace.into(), name: name.into() }
    }

    /// The role that a reference means which stands in this object. Roles of the system are the root's, wherever they are
    /// referred to from.
    pub fn role(&self, reference: &Value) -> At {
        let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("namespace") {
            SYSTEM_NAMESPACE => At::new("", SYSTEM_NAMESPACE, text("name")),
            "" if &*self.namespace == SYSTEM_NAMESPACE => At::new("", SYSTEM_NAMESPACE, text("name")),
            "" => At { name: text("name").into(), ..self.clone() },
            namespace => At::new(&self.plane, namespace, text("name")),
        }
    }
}

impl At {
    /// The roles that a reference means: in a project one of the system may also be of the project's own, for a kind that is
    /// defined there.
    fn roles(&self, reference: &Value) -> Vec<At> {
        let role = self.role(reference);
        let is_system = role.plane.is_empty() && &*role.namespace == SYSTEM_NAMESPACE;
        let own =
            (is_system && !self.plane.is_empty()).then(|| At { plane: self.plane.clone(), ..role.clone() });
        std::iter::once(role).chain(own).collect()
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.is_empty() {
            true => f.write_str(&self.name),
            false => write!(f, "{}/{}", self.namespace, self.name),
        }
    }
}

/// Everything a role grants.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Effective {
    exact: HashSet<Arc<str>>,
    /// Those that mean more than one.
    patterns: BTreeSet<Arc<str>>,
    /// Whether there is anything in it for those who belong to a project.
    pub reaches_projects: bool,
}

impl Effective {
    fn new(permissions: BTreeSet<Arc<str>>) -> Effective {
        let mut made = Effective::default();
        for text in permissions {
            let Some(permission) = Permission::parse(&text) else { continue };
            let of_tenancy = permission.group == crate::tenancy::GROUP;
            made.reaches_projects |= !of_tenancy
                || (matches!(permission.resource, "projects" | "*")
                    && matches!(permission.verb, "get" | "*"));
            match permission.is_pattern() {
                true => made.patterns.insert(text),
                false => made.exact.insert(text),
            };
        }
        made
    }

    /// Whether it holds a permission, which is given in both forms.
    pub fn holds(&self, text: &str, permission: &Permission<'_>) -> bool {
        let includes =
            |pattern: &Arc<str>| Permission::parse(pattern).is_some_and(|found| found.includes(permission));
        self.exact.contains(text) || self.patterns.iter().any(includes)
    }

    /// All of them, in order.
    pub fn permissions(&self) -> BTreeSet<&str> {
        self.exact.iter().chain(&self.patterns).map(|text| &**text).collect()
    }
}

#[derive(Debug, Default)]
struct Role {
    permissions: Vec<Arc<str>>,
    inherits: Vec<At>,
}

/// All roles of all planes.
#[derive(Debug, Default)]
pub struct Roles {
    roles: HashMap<At, Role>,
    /// Those of kinds that users define. One of the same name that is written counts beside it.
    derived: HashMap<At, Role>,
    /// By role, those that inherit from it; it need not be there.
    heirs: HashMap<At, BTreeSet<At>>,
    effective: HashMap<At, Arc<Effective>>,
}

impl Roles {
    /// Takes in a role, new or changed.
    pub fn put(&mut self, at: &At, object: &Object) {
        self.unlink(at);
        let role = Role::read(at, object);
        for parent in &role.inherits {
            self.heirs.entry(parent.clone()).or_default().insert(at.clone());
        }
        self.roles.insert(at.clone(), role);
        self.flatten(at);
    }

    /// Forgets a role.
    pub fn remove(&mut self, at: &At) {
        self.unlink(at);
        if self.roles.remove(at).is_some() {
            self.flatten(at);
        }
    }

    /// Takes in what a role grants because of the kinds that are defined.
    pub fn derive(&mut self, at: &At, object: &Object) {
        let role = Role::read(at, object);
        for parent in &role.inherits {
            self.heirs.entry(parent.clone()).or_default().insert(at.clone());
        }
        self.derived.insert(at.clone(), role);
        self.flatten(at);
    }

    /// No custom resource is left that the role grants permissions on.
    pub fn underive(&mut self, at: &At) {
        if self.derived.remove(at).is_some() {
            self.flatten(at);
        }
    }

    fn is_there(&self, at: &At) -> bool {
        self.roles.contains_key(at) || self.derived.contains_key(at)
    }

    /// Permissions of a role; none if it does not exist.
    pub fn get(&self, at: &At) -> Option<&Arc<Effective>> {
        self.effective.get(at)
    }

    /// All roles, in no order.
    pub fn all(&self) -> impl Iterator<Item = (&At, &Arc<Effective>)> {
        self.effective.iter()
    }

    /// What a role would grant that is written so.
    pub fn would_be(&self, at: &At, object: &Object) -> Effective {
        let role = Role::read(at, object);
        let mut found: BTreeSet<Arc<str>> = role.permissions.iter().cloned().collect();
        let mut seen = BTreeSet::from([at.clone()]);
        for parent in &role.inherits {
            self.gather(parent, &mut seen, &mut found);
        }
        Effective::new(found)
    }

    /// Inherited roles that do not exist, and whether the role inherits from itself.
    pub fn faults(&self, at: &At) -> (Vec<At>, bool) {
        let Some(role) = self.roles.get(at) else { return (Vec::new(), false) };
        let missing = role.inherits.iter().filter(|parent| !self.has_in(at, parent)).cloned().collect();
        let mut seen = BTreeSet::new();
        let mut open: Vec<&At> = role.inherits.iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next)
                && let Some(role) = self.roles.get(next)
            {
                open.extend(&role.inherits);
            }
        }
        (missing, seen.contains(at))
    }

    /// Whether a role is there, or one of the project's own that is meant as well.
    fn has_in(&self, heir: &At, role: &At) -> bool {
        let twin = |plane: &Arc<str>| self.is_there(&At { plane: plane.clone(), ..role.clone() });
        self.is_there(role) || twin(&heir.plane) || (&*role.namespace == SYSTEM_NAMESPACE && twin(&"".into()))
    }

    /// Those whose permissions depend on a role, itself included.
    pub fn heirs_of(&self, at: &At) -> BTreeSet<At> {
        let mut all = BTreeSet::new();
        let mut open = vec![at.clone()];
        while let Some(next) = open.pop() {
            let heirs = self.heirs.get(&next).into_iter().flatten();
            open.extend(heirs.filter(|heir| !all.contains(*heir)).cloned());
            all.insert(next);
        }
        all
    }

    fn unlink(&mut self, at: &At) {
        let inherits = self.roles.get(at).map(|role| role.inherits.clone()).unwrap_or_default();
        let stays = |parent: &At| self.derived.get(at).is_some_and(|role| role.inherits.contains(parent));
        let inherits: Vec<At> = inherits.into_iter().filter(|parent| !stays(parent)).collect();
        for parent in inherits {
            if let Some(heirs) = self.heirs.get_mut(&parent) {
                heirs.remove(at);
                if heirs.is_empty() {
                    self.heirs.remove(&parent);
                }
            }
        }
    }

    fn flatten(&mut self, changed: &At) {
        for at in self.heirs_of(changed) {
            if !self.is_there(&at) {
                self.effective.remove(&at);
                continue;
            }
            let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
            self.gather(&at, &mut seen, &mut found);
            self.effective.insert(at, Arc::new(Effective::new(found)));
        }
    }

    /// A role that was seen is not gone into again, so that a circle ends.
    fn gather(&self, at: &At, seen: &mut BTreeSet<At>, found: &mut BTreeSet<Arc<str>>) {
        let mut open = vec![at];
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            for role in [self.roles.get(next), self.derived.get(next)].into_iter().flatten() {
                found.extend(role.permissions.iter().cloned());
                open.extend(&role.inherits);
            }
        }
    }
}

impl Role {
    fn read(at: &At, object: &Object) -> Role {
        let list = |path: &str| object.at(path).and_then(Value::as_array).into_iter().flatten();
        Role {
            permissions: list("spec.includedPermissions").filter_map(Value::as_str).map(Arc::from).collect(),
            inherits: list("spec.inheritedRoles").flat_map(|reference| at.roles(reference)).collect(),
        }
    }
}

//! Roles and bindings of one plane as an index.
//!
//! A decision looks up the user and each of its groups; what others are bound to costs nothing. A change of one
//! object costs in proportion to that object: bindings point to roles by name, so a role that ten thousand bindings
//! give is changed in one place.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use krm::Object;

use super::aggregation::Aggregation;
use super::grants::{Binding, Given, Grants, RoleName, told};
use super::roles::{Role, Shelf};
use super::{Attributes, Authorizer, Decision, Extent, Rule, RulesFound, Standing};
use crate::identity::{Identity, MASTERS};

/// Somebody with more roles than this is answered from what the roles are about, not role by role.
const MANY_ROLES: usize = 32;
/// How many bindings to a role that is not there a refusal tells of.
const MOST_MISSING_TOLD: usize = 16;

/// The four kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RbacKind {
    /// Rules of one namespace.
    Role,
    /// Rules for all namespaces and for what is in none.
    ClusterRole,
    /// Gives a role in one namespace.
    RoleBinding,
    /// Gives a cluster role everywhere.
    ClusterRoleBinding,
}

impl RbacKind {
    /// The kind of a resource of the group [`RBAC_GROUP`](super::RBAC_GROUP).
    pub fn of_resource(resource: &str) -> Option<RbacKind> {
        match resource {
            "roles" => Some(RbacKind::Role),
            "clusterroles" => Some(RbacKind::ClusterRole),
            "rolebindings" => Some(RbacKind::RoleBinding),
            "clusterrolebindings" => Some(RbacKind::ClusterRoleBinding),
            _ => None,
        }
    }
}

/// Which object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RbacKey {
    /// Its kind.
    pub kind: RbacKind,
    /// Its namespace; empty for the cluster's.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl RbacKey {
    /// The key of an object of this kind.
    pub fn of(kind: RbacKind, object: &Object) -> RbacKey {
        RbacKey { kind, namespace: object.namespace().into(), name: object.name().into() }
    }
}

/// The roles and bindings of one plane.
#[derive(Debug, Default)]
pub struct Rbac {
    cluster_roles: Shelf,
    aggregation: Aggregation,
    roles: HashMap<Arc<str>, Shelf>,
    bindings: HashMap<RbacKey, Binding>,
    cluster_grants: Grants,
    grants: HashMap<Arc<str>, Grants>,
    /// Roles and bindings that count here without being kept here, unless one here has the same name.
    below: Option<Arc<Rbac>>,
}

impl Rbac {
    /// The index of these objects; what is none of the four kinds is left out.
    pub fn compile<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Rbac {
        let mut rbac = Rbac::default();
        for object in objects {
            let kind = match object.kind() {
                "Role" => RbacKind::Role,
                "ClusterRole" => RbacKind::ClusterRole,
                "RoleBinding" => RbacKind::RoleBinding,
                "ClusterRoleBinding" => RbacKind::ClusterRoleBinding,
                _ => continue,
            };
            rbac.put(&RbacKey::of(kind, object), object);
        }
        rbac
    }

    /// An index without objects of its own, in which those of another count.
    pub fn on(below: Arc<Rbac>) -> Rbac {
        Rbac { below: Some(below), ..Rbac::default() }
    }

    /// The same without objects of its own.
    pub fn bare(&self) -> Rbac {
        Rbac { below: self.below.clone(), ..Rbac::default() }
    }

    /// Whether anything here is granted to somebody, in whatever namespace.
    pub fn knows(&self, who: &Identity, standing: &Standing) -> bool {
        let mut all = std::iter::once(&self.cluster_grants).chain(self.grants.values());
        all.any(|grants| grants.of(who, standing).any(|(_, given)| !given.is_empty()))
    }

    /// The namespaces in which something is granted to somebody.
    pub fn namespaces_of(&self, who: &Identity, standing: &Standing) -> Vec<String> {
        let granted = |grants: &Grants| grants.of(who, standing).any(|(_, given)| !given.is_empty());
        let found = self.grants.iter().filter(|(_, grants)| granted(grants));
        found.map(|(namespace, _)| namespace.to_string()).collect()
    }

    /// Whether some role of somebody's, in whatever namespace, changes something. What is asked by a `create`, as a review or a
    /// transaction is, changes nothing by itself.
    pub fn may_write(&self, who: &Identity, standing: &Standing) -> bool {
        let local = self.grants.iter().map(|(namespace, grants)| (&**namespace, grants));
        let all = std::iter::once(("", &self.cluster_grants)).chain(local);
        let below = self.below.as_ref().is_some_and(|below| below.may_write(who, standing));
        below
            || all.into_iter().any(|(namespace, grants)| {
                let changes = |role: &RoleName| {
                    let rules = self.resolve(namespace, role).unwrap_or_default();
                    rules.into_iter().any(Rule::changes_something)
                };
                grants.of(who, standing).any(|(_, given)| given.keys().any(changes))
            })
    }

    /// Where a cluster role that is not kept here is kept.
    fn below_for(&self, role: &RoleName) -> Option<&Rbac> {
        let below = self.below.as_deref()?;
        (role.cluster && self.cluster_roles.get(&role.name).is_none()).then_some(below)
    }

    /// Takes in an object, new or changed.
    pub fn put(&mut self, key: &RbacKey, object: &Object) {
        match key.kind {
            RbacKind::ClusterRole => {
                self.cluster_roles.put(key.name.clone(), Role::from_object(object));
                self.aggregation.put(&key.name, &self.cluster_roles);
            }
            RbacKind::Role => {
                let shelf = self.roles.entry(key.namespace.clone()).or_default();
                shelf.put(key.name.clone(), Role::from_object(object));
            }
            RbacKind::RoleBinding | RbacKind::ClusterRoleBinding => {
                self.remove(key);
                let binding = Binding::from_object(object);
                self.scope_mut(key).add(&key.name, &binding);
                self.bindings.insert(key.clone(), binding);
            }
        }
    }

    /// Forgets an object.
    pub fn remove(&mut self, key: &RbacKey) {
        match key.kind {
            RbacKind::ClusterRole => {
                self.cluster_roles.remove(&key.name);
                self.aggregation.remove(&key.name);
            }
            RbacKind::Role => {
                let Some(shelf) = self.roles.get_mut(&key.namespace) else { return };
                shelf.remove(&key.name);
                if shelf.is_empty() {
                    self.roles.remove(&key.namespace);
                }
            }
            RbacKind::RoleBinding | RbacKind::ClusterRoleBinding => {
                let Some(binding) = self.bindings.remove(key) else { return };
                self.scope_mut(key).take(&key.name, &binding);
                if self.grants.get(&key.namespace).is_some_and(Grants::is_empty) {
                    self.grants.remove(&key.namespace);
                }
            }
        }
    }

    /// The rules of a role, or of a cluster role when `namespace` is empty; those of a sum are its parts'.
    pub fn rules_of(&self, namespace: &str, name: &str) -> Option<Vec<Rule>> {
        let rules =
            self.resolve(namespace, &RoleName { cluster: namespace.is_empty(), name: name.into() })?;
        Some(rules.into_iter().cloned().collect())
    }

    /// The cluster roles that `name` is part of, through others too: those whose rules change with it.
    pub fn sums_of(&self, name: &str) -> BTreeSet<Arc<str>> {
        self.aggregation.sums_of(name)
    }

    fn scope_mut(&mut self, key: &RbacKey) -> &mut Grants {
        match key.kind {
            RbacKind::RoleBinding => self.grants.entry(key.namespace.clone()).or_default(),
            _ => &mut self.cluster_grants,
        }
    }

    /// The cluster's scope, then the namespace's.
    fn scopes<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = (&'a str, &'a Grants)> {
        let local = self.grants.get(namespace).filter(|_| !namespace.is_empty());
        [("", &self.cluster_grants)].into_iter().chain(local.map(|grants| (namespace, grants)))
    }

    fn resolve(&self, namespace: &str, role: &RoleName) -> Option<Vec<&Rule>> {
        if let Some(below) = self.below_for(role) {
            return below.resolve(namespace, role);
        }
        if role.cluster {
            self.cluster_roles.get(&role.name)?;
            return Some(self.aggregation.rules(&self.cluster_roles, &role.name));
        }
        Some(self.roles.get(namespace)?.get(&role.name)?.rules.iter().collect())
    }

    fn role_allows(&self, namespace: &str, role: &RoleName, what: &Attributes<'_>) -> bool {
        if let Some(below) = self.below_for(role) {
            return below.role_allows(namespace, role, what);
        }
        if role.cluster {
            return self.aggregation.allows(&self.cluster_roles, &role.name, what);
        }
        let found = self.roles.get(namespace).and_then(|shelf| shelf.get(&role.name));
        found.is_some_and(|role| role.rules.iter().any(|rule| rule.allows(what)))
    }

    /// The first of the given roles that allows this.
    fn allowing<'a>(&self, namespace: &str, given: &'a Given, what: &Attributes<'_>) -> Option<&'a RoleName> {
        let allows = |role: &RoleName| self.role_allows(namespace, role, what);
        if given.len() <= MANY_ROLES || self.below.is_some() {
            return given.keys().find(|role| allows(role));
        }
        let mut concerned = BTreeSet::new();
        for name in self.cluster_roles.concerned(what).into_iter().flatten() {
            concerned.insert(RoleName { cluster: true, name: name.clone() });
            let sums = self.aggregation.sums_of(name).into_iter();
            concerned.extend(sums.map(|name| RoleName { cluster: true, name }));
        }
        let local = self.roles.get(namespace).map(|shelf| shelf.concerned(what));
        for name in local.into_iter().flatten().flatten() {
            concerned.insert(RoleName { cluster: false, name: name.clone() });
        }
        let held = |role: &RoleName| given.get_key_value(role).map(|(role, _)| role);
        concerned.iter().filter_map(held).find(|role| allows(role))
    }

    /// The bindings to roles that are not there, as the errors of a look-up.
    fn missing(&self, who: &Identity, standing: &Standing, namespace: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        for (scope, grants) in self.scopes(namespace) {
            for (_, given) in grants.of(who, standing) {
                for role in given.keys().take(MANY_ROLES) {
                    let there = match role.cluster {
                        true => self.resolve("", role).is_some(),
                        false => self.roles.get(scope).is_some_and(|shelf| shelf.get(&role.name).is_some()),
                    };
                    if !there && found.len() < MOST_MISSING_TOLD {
                        found.insert(not_found(role));
                    }
                }
            }
        }
        found.into_iter().collect()
    }
}

impl Authorizer for Rbac {
    fn decide(&self, who: &Identity, what: &Attributes<'_>) -> Decision {
        self.decide_for(who, &Standing::default(), what)
    }

    fn rules_for(&self, who: &Identity, namespace: &str) -> RulesFound {
        self.rules_of_standing(who, &Standing::default(), namespace)
    }
}

impl Rbac {
    /// Whether somebody may do something, by the bindings that are theirs.
    pub fn decide_for(&self, who: &Identity, standing: &Standing, what: &Attributes<'_>) -> Decision {
        if let Some(role) = &who.compiled_role {
            return by_compiled_role(role, what);
        }
        if who.is_in(MASTERS) {
            return Decision::allow("");
        }
        for (scope, grants) in self.scopes(what.namespace) {
            for (subject, given) in grants.of(who, standing) {
                let Some(role) = self.allowing(scope, &given, what) else { continue };
                let Some((binding, by)) = given.get(role).and_then(BTreeMap::first_key_value) else {
                    continue;
                };
                return Decision::allow(told(binding, scope, role, by.kind, subject));
            }
        }
        if let Some(below) = self.below.as_ref().map(|below| below.decide(who, what))
            && below.allowed
        {
            return below;
        }
        match joined(&self.missing(who, standing, what.namespace)) {
            Some(errors) => Decision::deny(format!("RBAC: {errors}")),
            None => Decision::deny(""),
        }
    }

    /// On which objects of a collection somebody may do something, by the bindings that are theirs: those for whose names
    /// [`decide_for`](Rbac::decide_for) allows it.
    pub fn extent_for(&self, who: &Identity, standing: &Standing, what: &Attributes<'_>) -> Extent {
        if let Some(role) = &who.compiled_role {
            return match by_compiled_role(role, what).allowed {
                true => Extent::whole(),
                false => Extent::default(),
            };
        }
        if who.is_in(MASTERS) {
            return Extent::whole();
        }
        let mut extent = Extent::default();
        for (scope, grants) in self.scopes(what.namespace) {
            for (_, given) in grants.of(who, standing) {
                let rules = given.keys().filter_map(|role| self.resolve(scope, role)).flatten();
                for names in rules.filter_map(|rule| rule.names_for(what)) {
                    extent.add_names(names);
                    if extent.is_whole() {
                        return extent;
                    }
                }
            }
        }
        if let Some(below) = &self.below {
            extent.add(below.extent_for(who, &Standing::default(), what));
        }
        extent
    }

    /// What somebody may do in a namespace, by the bindings that are theirs.
    pub fn rules_of_standing(&self, who: &Identity, standing: &Standing, namespace: &str) -> RulesFound {
        let mut rules = Vec::new();
        if who.is_in(MASTERS) {
            rules.push(Rule::on(&["*"], &["*"], &["*"]));
            rules.push(Rule::on_paths(&["*"], &["*"]));
        }
        for (scope, grants) in self.scopes(namespace) {
            // A binding counts once, however many of its subjects somebody is.
            let mut by_binding: BTreeMap<Arc<str>, RoleName> = BTreeMap::new();
            for (_, given) in grants.of(who, standing) {
                for (role, bindings) in &*given {
                    by_binding.extend(bindings.keys().map(|binding| (binding.clone(), role.clone())));
                }
            }
            for role in by_binding.values() {
                rules.extend(self.resolve(scope, role).into_iter().flatten().cloned());
            }
        }
        if let Some(below) = &self.below {
            // Who may do everything was told so above.
            let mut anybody = who.clone();
            anybody.groups.retain(|group| &**group != MASTERS);
            rules.extend(below.rules_for(&anybody, namespace).rules);
        }
        RulesFound { rules, error: joined(&self.missing(who, standing, namespace)).unwrap_or_default() }
    }
}

fn not_found(role: &RoleName) -> String {
    let resource = if role.cluster { "clusterrole" } else { "role" };
    format!("{resource}.{} {} not found", super::RBAC_GROUP, krm::field::quote(&role.name))
}

fn joined(errors: &[String]) -> Option<String> {
    match errors {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

/// What the role of a controller says, whatever is granted to others of its name.
pub fn by_compiled_role(role: &[reconcile::role::Rule], what: &Attributes<'_>) -> Decision {
    let resource = match what.subresource {
        "" => what.resource.to_owned(),
        subresource => format!("{}/{subresource}", what.resource),
    };
    match role.iter().any(|rule| rule.allows(what.verb, what.group, &resource)) {
        true => Decision::allow("the compiled role of the controller allows it"),
        false => Decision::deny("the compiled role of the controller does not allow it"),
    }
}

//! Authorization in each plane, kept up to date with the roles and bindings in the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use krm::Object;
use tokio::sync::watch;

use crate::api::Api;
use crate::authz::{
    Attributes, AuthorizerPlugin, Decision, Explained, Extent, Only, RBAC_GROUP, REVEAL, Rbac, RbacKey,
    RbacKind, Rule, RulesFound, Standing, bootstrap_objects, by_compiled_role, coverage,
};
use crate::identity::{Identity, MASTERS};
use crate::keys::Parts;
use crate::plane::Plane;
use crate::planes;

/// What the names of the server's own parts and of service accounts begin with.
const OWN: &str = "system:";

/// The rights of all planes.
pub struct Rights {
    planes: RwLock<HashMap<Plane, Rbac>>,
    /// A project to which nothing was added yet: what ships counts in every plane, without being kept in each.
    project: Rbac,
    /// Who else decides.
    plugins: Vec<Arc<dyn AuthorizerPlugin>>,
    /// Counts how often what somebody may do may have changed.
    changes: watch::Sender<u64>,
}

impl Default for Rights {
    fn default() -> Rights {
        Rights::with_plugins(Vec::new())
    }
}

impl Rights {
    /// Roles and bindings as Kubernetes has them, and whoever else decides.
    pub fn with_plugins(plugins: Vec<Arc<dyn AuthorizerPlugin>>) -> Rights {
        let shipped = Arc::new(Rbac::compile(bootstrap_objects().iter()));
        Rights {
            planes: RwLock::default(),
            project: Rbac::on(shipped),
            plugins,
            changes: watch::Sender::new(0),
        }
    }

    /// Whoever else decides.
    pub fn others(&self) -> &[Arc<dyn AuthorizerPlugin>] {
        &self.plugins
    }

    /// Takes in an object as it is now; those that grant nothing are none of its business.
    pub fn take_in(&self, api: &Api, parts: &Parts<'_>, object: Option<&Object>) {
        for other in self.plugins.iter().filter(|other| other.wants(parts)) {
            other.take_in(api, parts, object);
        }
        self.take_in_rbac(parts, object);
        if parts.group == RBAC_GROUP || self.plugins.iter().any(|other| other.changes_rights(parts)) {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    fn take_in_rbac(&self, parts: &Parts<'_>, object: Option<&Object>) {
        if parts.group != RBAC_GROUP {
            return;
        }
        let Some(kind) = RbacKind::of_resource(parts.plural) else { return };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let key = RbacKey { kind, namespace: parts.namespace.into(), name: parts.name.into() };
        let mut planes = self.planes.write().unwrap_or_else(PoisonError::into_inner);
        let rbac = planes.entry(plane).or_insert_with_key(|plane| match plane.is_root() {
            true => Rbac::default(),
            false => self.project.bare(),
        });
        match object {
            Some(object) => rbac.put(&key, object),
            None => rbac.remove(&key),
        }
    }

    /// Whether somebody is still there to act in a plane. The administrators of the server always are, and so are the
    /// server's own parts and service accounts, whose tokens end with them.
    pub fn standing(&self, plane: &Plane, who: &Identity) -> Standing {
        if who.is_in(MASTERS) || who.user.starts_with(OWN) {
            return Standing::default();
        }
        let standings = self.plugins.iter().map(|other| other.standing(plane, who));
        standings.fold(Standing::default(), Standing::and)
    }

    /// Tells whenever what somebody may do may have changed: streams that are open are then decided on again.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether somebody may do something in a plane.
    pub fn decide(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Decision {
        if let Some(role) = &who.compiled_role {
            return by_compiled_role(role, what);
        }
        let standing = self.standing(plane, who);
        let decision = self.by_standing(plane, who, &standing, what);
        if decision.allowed || standing.refusal.is_some() {
            return decision;
        }
        let others = self.plugins.iter().map(|other| other.decide(plane, who, what));
        others.into_iter().find(|other| other.allowed).unwrap_or(decision)
    }

    /// What RBAC says, whatever else decides. It has no verb of its own for the values of a secret.
    pub fn by_rbac(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Decision {
        self.by_standing(plane, who, &self.standing(plane, who), what)
    }

    fn by_standing(
        &self,
        plane: &Plane,
        who: &Identity,
        standing: &Standing,
        what: &Attributes<'_>,
    ) -> Decision {
        if let Some(refusal) = &standing.refusal {
            return Decision::deny(refusal.as_str());
        }
        let verb = if what.verb == REVEAL { "get" } else { what.verb };
        self.in_plane(plane, |rbac| rbac.decide_for(who, standing, &Attributes { verb, ..*what }))
    }

    /// What somebody may do in a namespace of a plane.
    pub fn rules_for(&self, plane: &Plane, who: &Identity, namespace: &str) -> RulesFound {
        let standing = self.standing(plane, who);
        if let Some(error) = standing.refusal {
            return RulesFound { rules: Vec::new(), error };
        }
        let mut found = self.in_plane(plane, |rbac| rbac.rules_of_standing(who, &standing, namespace));
        for other in &self.plugins {
            found.rules.extend(other.rules_for(plane, who, namespace).rules);
        }
        found
    }

    /// The same as far as they may give it to others by RBAC, which has no verb of its own for the values of secrets.
    pub fn grantable(&self, plane: &Plane, who: &Identity, namespace: &str) -> RulesFound {
        let standing = self.standing(plane, who);
        if let Some(error) = standing.refusal {
            return RulesFound { rules: Vec::new(), error };
        }
        let mut found = self.in_plane(plane, |rbac| rbac.rules_of_standing(who, &standing, namespace));
        for other in &self.plugins {
            let rules = other.rules_for(plane, who, namespace).rules.into_iter();
            found.rules.extend(rules.flat_map(|rule| {
                let reveals = rule.verbs.iter().any(|verb| verb == REVEAL || verb == "*");
                if reveals { vec![rule] } else { rule.without_secrets() }
            }));
        }
        found
    }

    /// Asks the rights of one plane something.
    pub fn in_plane<T>(&self, plane: &Plane, ask: impl FnOnce(&Rbac) -> T) -> T {
        let planes = self.planes.read().unwrap_or_else(PoisonError::into_inner);
        match planes.get(plane) {
            Some(rbac) => ask(rbac),
            // Nothing was granted there yet; who may do everything may do so there too.
            None if plane.is_root() => ask(&Rbac::default()),
            None => ask(&self.project),
        }
    }

    /// Whether anything was granted to somebody in a plane, apart from what ships.
    pub fn knows(&self, plane: &Plane, who: &Identity) -> bool {
        let standing = self.standing(plane, who);
        if standing.refusal.is_some() {
            return false;
        }
        self.in_plane(plane, |rbac| rbac.knows(who, &standing))
            || self.plugins.iter().any(|other| other.knows(plane, who))
    }

    /// Whether somebody may change anything at all in a plane, beside what everybody may. It may be said of some who may not.
    pub fn may_write(&self, plane: &Plane, who: &Identity) -> bool {
        if who.is_in(MASTERS) || who.compiled_role.is_some() {
            return true;
        }
        let standing = self.standing(plane, who);
        standing.refusal.is_none()
            && (self.in_plane(plane, |rbac| rbac.may_write(who, &standing))
                || self.plugins.iter().any(|other| other.knows(plane, who)))
    }

    /// Something that `other` may do and `who` may not, in a plane and, from the root, in the projects. Whoever hands out
    /// credentials of another must hold all that those give. Whether the other account is active does not matter: it may be
    /// again.
    pub fn lacks(&self, plane: &Plane, who: &Identity, other: &Identity) -> Option<String> {
        if who.is_in(MASTERS) {
            return None;
        }
        let mut planes = vec![plane.clone()];
        if plane.is_root() && !planes::is_of_one_plane(other) {
            let known = self.planes.read().unwrap_or_else(PoisonError::into_inner);
            let projects = known
                .iter()
                .filter(|(found, rbac)| !found.is_root() && rbac.knows(other, &Standing::default()));
            planes.extend(projects.map(|(found, _)| found.clone()));
        }
        planes.iter().find_map(|there| self.lacks_in(there, plane, who, other))
    }

    fn lacks_in(&self, there: &Plane, home: &Plane, who: &Identity, other: &Identity) -> Option<String> {
        // A service account is nobody in another plane.
        let is_known = there == home || !planes::is_of_one_plane(who);
        let standing = Standing { refusal: None, ..self.standing(there, other) };
        let namespaces = self.in_plane(there, |rbac| rbac.namespaces_of(other, &standing));
        std::iter::once(String::new()).chain(namespaces).find_map(|namespace| {
            // What ships for everybody of its groups, such as all service accounts, is nobody's to withhold.
            let anybody = Identity { user: Arc::default(), ..other.clone() };
            let shipped = self.project.rules_of_standing(&anybody, &standing, &namespace).rules;
            let of = |found: RulesFound| if is_known { found.rules } else { Vec::new() };
            let mut held = of(self.grantable(there, who, &namespace));
            held.extend(shipped);
            let by_rbac =
                self.in_plane(there, |rbac| rbac.rules_of_standing(other, &standing, &namespace)).rules;
            let by_others = self.plugins.iter().flat_map(|it| it.rules_for(there, other, &namespace).rules);
            let by_others: Vec<Rule> = by_others.collect();
            let all_held = of(self.rules_for(there, who, &namespace));
            missing(&held, &by_rbac).or_else(|| missing(&all_held, &by_others))
        })
    }

    /// Of a collection that somebody may not see as a whole, the part that they may; nothing when there is none.
    pub fn some_of(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Option<Only> {
        let mut only = Only::default();
        if self.standing(plane, who).refusal.is_some() {
            return None;
        }
        for other in &self.plugins {
            only.extend(other.some_of(plane, who, what));
        }
        Some(only).filter(|only| !only.is_empty())
    }

    /// On which objects of a collection somebody may do something: those for whose names [`decide`](Rights::decide) allows
    /// it. The name in `what` does not matter.
    pub fn extent(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Extent {
        if let Some(role) = &who.compiled_role {
            return match by_compiled_role(role, what).allowed {
                true => Extent::whole(),
                false => Extent::default(),
            };
        }
        let standing = self.standing(plane, who);
        if standing.refusal.is_some() {
            return Extent::default();
        }
        let what = Attributes { name: "", ..*what };
        let verb = if what.verb == REVEAL { "get" } else { what.verb };
        let by_rbac = Attributes { verb, ..what };
        let mut extent = self.in_plane(plane, |rbac| rbac.extent_for(who, &standing, &by_rbac));
        for other in &self.plugins {
            if extent.is_whole() {
                break;
            }
            match other.decide(plane, who, &what).allowed {
                true => extent.add_all(),
                false => extent.add_part(other.some_of(plane, who, &what)),
            }
        }
        extent
    }

    /// Why something is allowed, or what would allow it.
    pub fn explain(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Explained {
        let mut all = Explained::default();
        if self.standing(plane, who).refusal.is_some() {
            return all;
        }
        let decision = self.by_rbac(plane, who, what);
        if decision.allowed {
            let reason = match (decision.reason.as_str(), who.is_in(MASTERS)) {
                ("", true) => format!("members of the group {MASTERS} are allowed everything"),
                (reason, _) => reason.to_owned(),
            };
            all.allowed_by.push(serde_json::json!({ "authorizer": "RBAC", "reason": reason }));
        }
        for other in &self.plugins {
            let explained = other.explain(plane, who, what);
            all.allowed_by.extend(explained.allowed_by);
            all.would_allow.extend(explained.would_allow);
        }
        all
    }
}

/// What of some rules is not held, in words.
fn missing(held: &[Rule], wanted: &[Rule]) -> Option<String> {
    match coverage::missing(held, wanted) {
        Ok(missing) if missing.is_empty() => None,
        Ok(missing) => Some(coverage::told(&missing).join("; ")),
        Err(_) => Some("more permissions than can be compared".to_owned()),
    }
}

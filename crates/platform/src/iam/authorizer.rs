//! The IAM authorizer, evaluated in addition to RBAC.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use apiserver::Identity;
use apiserver::api::Api;
use apiserver::authz::{
    Attributes, Authorizer, AuthorizerPlugin, Decision, Explained, Only, Rule, RulesFound, Standing,
};
use apiserver::call::Call;
use apiserver::catalog::{Catalog, Kinds};
use apiserver::definitions::{self, GROUP as DEFINITIONS, PLURAL};
use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use krm::kind::{Address, Kind};
use krm::{Object, Status};
use serde_json::Value;

use super::generated_key::Mint;
use super::index::Index;
use super::permission::Permission;
use super::roles::At;
use super::selector::{self, ResourceLocation};
use super::{GROUP, complete, escalation, explain, former, sign_in};
use crate::bootstrap;
use crate::tenancy::{self, GROUP as TENANCY};

/// Decides by roles and bindings.
pub struct Iam {
    kinds: Arc<Kinds>,
    index: RwLock<Index>,
    mint: Mint,
    /// For whom machine accounts sign tokens.
    audience: String,
    /// What ships with the server, by where it is.
    shipped: OnceLock<HashMap<Address, Object>>,
}

impl Iam {
    /// One that knows of nobody yet.
    pub fn new(kinds: Arc<Kinds>) -> Iam {
        Iam {
            kinds,
            index: RwLock::default(),
            mint: Mint::default(),
            audience: String::new(),
            shipped: OnceLock::new(),
        }
    }

    /// Says for whom machine accounts sign their tokens: what this server is called in them.
    pub fn for_audience(mut self, audience: &str) -> Iam {
        audience.clone_into(&mut self.audience);
        self
    }

    /// What this server is called in tokens.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    pub(super) fn mint(&self) -> &Mint {
        &self.mint
    }

    /// What decisions are made of.
    pub fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kinds that are served.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Asks the index about what a request is about; nothing for what is no resource or of a kind that is not served.
    pub fn about<T>(
        &self,
        plane: &Plane,
        who: &Identity,
        what: &Attributes<'_>,
        ask: impl FnOnce(&Index, &Permission<'_>, &ResourceLocation<'_>) -> T,
    ) -> Option<T> {
        if !what.is_resource() {
            return None;
        }
        let kind = self.kind_of(plane, who, what)?;
        let index = self.index();
        let place = ResourceLocation {
            plane: plane.as_str(),
            group: what.group,
            kind: &kind.names.kind,
            // Clients name a namespace also where a kind has none.
            namespace: if kind.is_namespaced() { what.namespace } else { "" },
            name: what.name,
        };
        let permission = Permission::of(what);
        match parent(plane, who) {
            // Whoever reviews access may say of which project's or organization's objects they ask.
            Some((tenancy::PROJECT, name)) => {
                Some(ask(&index, &permission, &ResourceLocation { plane: name, ..place }))
            }
            Some((tenancy::ORGANIZATION, name)) => {
                let namespace = super::directory::namespace_of_organization(name);
                Some(ask(&index, &permission, &ResourceLocation { namespace: &namespace, ..place }))
            }
            _ => Some(ask(&index, &permission, &place)),
        }
    }

    /// The kind that a request is about: of the plane, or of the project that somebody asks about from the root. Verbs of
    /// their own, such as `consume`, can be had in a project on kinds that only the root serves.
    fn kind_of(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Option<Arc<Kind>> {
        let of = |plane: &Plane| self.kinds.of(plane).resource(what.group, what.resource).cloned();
        let in_parent = || match parent(plane, who) {
            Some((tenancy::PROJECT, name)) => of(&Plane::project(name)),
            _ => None,
        };
        let in_root = || of(&Plane::root()).filter(|kind| kind.custom_verbs.contains(&what.verb));
        of(plane).or_else(in_parent).or_else(in_root)
    }

    /// The uid of the one object that a binding is about.
    fn target_uid(&self, api: &Api, plane: &str, object: &Object) -> Option<String> {
        let reference = object.at("spec.resourceSelector.resourceRef")?;
        complete::uid_of(api, &plane_of(plane), reference)
    }
}

/// When an object was made, in microseconds since 1970.
fn born(api: &Api, parts: &Parts<'_>) -> u64 {
    let key = keys::object(&plane_of(parts.plane), &parts.address()).ok();
    key.and_then(|key| Some(api.store().latest().get(&key)?.born())).unwrap_or(0)
}

fn plane_of(name: &str) -> Plane {
    if name.is_empty() { Plane::root() } else { Plane::project(name) }
}

/// What somebody says of where they ask about. Requests say it of the plane they are made in, so only in the root it tells
/// anything.
fn parent<'a>(plane: &Plane, who: &'a Identity) -> Option<(&'a str, &'a str)> {
    if !plane.is_root() || who.extra.is_empty() {
        return None;
    }
    let said = |key: &str| who.extra.get(key).and_then(|values| values.first()).map(String::as_str);
    let [group, kind, name] = tenancy::PLANES.context.map(said);
    Some((kind?, name?)).filter(|_| group.is_none_or(|group| group == TENANCY))
}

impl AuthorizerPlugin for Iam {
    fn wants(&self, parts: &Parts<'_>) -> bool {
        if parts.group == GROUP
            || parts.group == DEFINITIONS
            || (parts.group == TENANCY && parts.plane.is_empty())
        {
            return true;
        }
        let index = self.index();
        if !index.policies.has_targets() {
            return false;
        }
        let catalog = self.kinds.of(&plane_of(parts.plane));
        catalog.resource(parts.group, parts.plural).is_some_and(|kind| {
            let place = place_of(parts, &kind.names.kind);
            index.policies.is_target(&selector::object(&place))
        })
    }

    fn take_in(&self, api: &Api, parts: &Parts<'_>, object: Option<&Object>) {
        let at = At::new(parts.plane, parts.namespace, parts.name);
        if let Some(kind) = self.kinds.of(&plane_of(parts.plane)).resource(parts.group, parts.plural) {
            let selector = selector::object(&place_of(parts, &kind.names.kind));
            let mut index = self.index_mut();
            if index.policies.is_target(&selector) {
                index.target(&selector, object.map(Object::uid));
            }
        }
        match (parts.group, parts.plural, object) {
            (GROUP, "policybindings", Some(binding)) => {
                let uid = self.target_uid(api, parts.plane, binding);
                self.index_mut().bind(&at, binding, uid.as_deref(), born(api, parts));
            }
            (GROUP, plural, object) => self.index_mut().take_in(plural, &at, object, born(api, parts)),
            (TENANCY, "organizationmemberships", object) => self.index_mut().belongs(&at, object),
            (TENANCY, former::MEMBERS, Some(record)) => self.index_mut().left(record),
            (DEFINITIONS, PLURAL, object) => {
                let kind = object.and_then(|object| definitions::kind(object, 0, None));
                let Index { defined, roles, .. } = &mut *self.index_mut();
                defined.take_in(parts.plane, parts.name, kind, roles);
            }
            (TENANCY, "projects", object) => {
                let mut index = self.index_mut();
                index.directory.project(parts.name, object);
                match object {
                    Some(_) => drop(index.born.insert(parts.name.into(), born(api, parts))),
                    None => drop(index.born.remove(parts.name)),
                }
            }
            _ => {}
        }
    }

    fn standing(&self, plane: &Plane, who: &Identity) -> Standing {
        let index = self.index();
        let mut standing = index.directory.standing(&who.user);
        if let Some(born) = index.born.get(plane.as_str()).filter(|_| !plane.is_root()) {
            standing.as_creator = !index.has_left(plane.as_str(), &who.user, *born);
        }
        standing
    }

    fn changes_rights(&self, parts: &Parts<'_>) -> bool {
        match parts.group {
            GROUP => true,
            TENANCY => matches!(parts.plural, "organizationmemberships" | former::MEMBERS),
            _ => false,
        }
    }

    fn shipped(&self, at: &Address) -> Option<Object> {
        let shipped = self.shipped.get_or_init(|| bootstrap::shipped(&self.kinds));
        shipped.get(at).cloned()
    }

    fn leaves(&self, parts: &Parts<'_>) -> bool {
        former::is_recorded(parts)
    }

    fn remains(&self, call: &Call, gone: &Object) -> Vec<(store::Key, Object)> {
        former::records(&self.index().directory, call, gone)
    }

    fn settles(&self, group: &str) -> bool {
        group == GROUP || group == TENANCY
    }

    fn decide(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Decision {
        let grant = self.about(plane, who, what, |index, permission, place| {
            index.grant(plane.as_str(), who, permission, place).or_else(|| {
                // The organization of a new project stands in its body, which is looked at later.
                let creates = what.verb == "create" && what.group == TENANCY && what.resource == "projects";
                creates.then(|| tenancy::creates_somewhere(index, who, permission)).flatten()
            })
        });
        match grant.flatten() {
            Some(grant) => Decision::allow(grant.to_string()),
            None => Decision::deny(""),
        }
    }

    fn rules_for(&self, plane: &Plane, who: &Identity, namespace: &str) -> RulesFound {
        let catalog = self.kinds.of(plane);
        let index = self.index();
        let mut found: BTreeMap<(String, String, Option<String>), BTreeSet<String>> = BTreeMap::new();
        let place = ResourceLocation { plane: plane.as_str(), namespace, ..ResourceLocation::default() };
        let whole: Vec<String> =
            place.covered_by(&index.directory).split_off(if plane.is_root() { 1 } else { 2 });
        for (subject, _) in index.directory.subjects_of(plane.as_str(), who) {
            for (selector, given) in index.policies.of(&subject).into_iter().flatten() {
                let scope = Scope::of(selector, plane, namespace, whole.contains(&selector.to_string()));
                for text in given.keys().flat_map(|role| index.permissions_in(role, plane.as_str())) {
                    let Some(permission) = Permission::parse(text) else { continue };
                    let Some(of) = scope.narrow(&permission, &catalog) else { continue };
                    found.entry(of).or_default().insert(permission.verb.to_owned());
                }
            }
        }
        RulesFound { rules: rules(found), error: String::new() }
    }

    fn some_of(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Only {
        let some =
            self.about(plane, who, what, |index, permission, place| index.some_of(who, permission, place));
        some.unwrap_or_default()
    }

    fn knows(&self, plane: &Plane, who: &Identity) -> bool {
        let catalog = self.kinds.of(plane);
        self.index().reaches(plane.as_str(), who, &|group, kind| catalog.kind(group, kind).is_some())
    }

    fn prepare(&self, call: &Call, view: &mut store::View, object: &mut Object) {
        if sign_in::is_about_accounts(call) {
            sign_in::name(self, call, object);
        }
        match sign_in::is_about_keys(call) {
            true => sign_in::complete(self, call, object),
            false => complete::complete(self, call, view, object),
        }
    }

    fn admits(
        &self,
        rights: &dyn Authorizer,
        call: &Call,
        view: &mut store::View,
        old: Option<&Object>,
        new: &Object,
    ) -> Result<(), Status> {
        former::hands_nothing_on(&self.index().directory.former, call, old, new)?;
        escalation::check(self, rights, call, view, (old, new))
    }

    fn companions(&self, call: &Call, object: &Object) -> Vec<Object> {
        match sign_in::is_about_keys(call) {
            true => sign_in::companions(self, call, object),
            false => tenancy::companions(self, call, object),
        }
    }

    fn explain(&self, plane: &Plane, who: &Identity, what: &Attributes<'_>) -> Explained {
        explain::explain(self, plane, who, what)
    }
}

fn place_of<'a>(parts: &Parts<'a>, kind: &'a str) -> ResourceLocation<'a> {
    ResourceLocation {
        plane: parts.plane,
        group: parts.group,
        kind,
        namespace: parts.namespace,
        name: parts.name,
    }
}

/// What of a role's permissions a binding gives in one namespace.
enum Scope<'a> {
    /// All of them.
    Everything,
    /// Those on one kind.
    Kind(&'a str, &'a str),
    /// Those on one kind, on one object.
    Object(&'a str, &'a str, &'a str),
    /// Nothing that is here.
    Elsewhere,
}

impl<'a> Scope<'a> {
    fn of(selector: &'a str, plane: &Plane, namespace: &str, is_whole: bool) -> Scope<'a> {
        let parts: Vec<&str> = selector.split('|').collect();
        match parts.as_slice() {
            _ if is_whole => Scope::Everything,
            ["k", group, kind] => Scope::Kind(group, kind),
            ["p", project, group, kind] if *project == plane.as_str() => Scope::Kind(group, kind),
            ["o", project, group, kind, within, name]
                if *project == plane.as_str() && (within.is_empty() || *within == namespace) =>
            {
                Scope::Object(group, kind, name)
            }
            _ => Scope::Elsewhere,
        }
    }

    /// What a permission allows here: the group, the resource and the name, if it is one alone.
    fn narrow(
        &self,
        permission: &Permission<'_>,
        catalog: &Catalog,
    ) -> Option<(String, String, Option<String>)> {
        let combined = |resource: &str| match permission.subresource {
            "" => resource.to_owned(),
            subresource => format!("{resource}/{subresource}"),
        };
        let (group, kind, name) = match self {
            Scope::Everything => {
                return Some((permission.api_group().to_owned(), combined(permission.resource), None));
            }
            Scope::Kind(group, kind) => (group, kind, None),
            Scope::Object(group, kind, name) => (group, kind, Some((*name).to_owned())),
            Scope::Elsewhere => return None,
        };
        let plural = &catalog.kind(group, kind)?.names.plural;
        let is_about = (permission.group == "*" || permission.api_group() == *group)
            && (permission.resource == "*" || permission.resource == plural);
        is_about.then(|| ((*group).to_owned(), combined(plural), name))
    }
}

/// Resources on which the same may be done share a rule.
fn rules(found: BTreeMap<(String, String, Option<String>), BTreeSet<String>>) -> Vec<Rule> {
    let mut together: BTreeMap<(String, BTreeSet<String>, Option<String>), Vec<String>> = BTreeMap::new();
    for ((group, resource, name), verbs) in found {
        together.entry((group, verbs, name)).or_default().push(resource);
    }
    let rules = together.into_iter().map(|((group, verbs, name), resources)| Rule {
        verbs: verbs.into_iter().collect(),
        api_groups: vec![group],
        resources,
        resource_names: name.into_iter().collect(),
        ..Rule::default()
    });
    rules.collect()
}

/// The key of an object that a binding or a rule names.
pub fn key_of(api: &Api, plane: &Plane, reference: &Value) -> Option<store::Key> {
    let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
    let catalog = api.kinds().of(plane);
    let kind = catalog.kind(text("apiGroup"), text("kind"))?;
    let at = krm::kind::Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: text("namespace").to_owned(),
        name: text("name").to_owned(),
    };
    keys::object(plane, &at).ok()
}

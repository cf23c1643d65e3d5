//! Built-in objects: a ProtectedResource for every kind, roles for every group, and roles for projects and
//! organizations. All are derived from the kinds, so that none is forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apiserver::authz::REVEAL;
use apiserver::catalog::Kinds;
use apiserver::discovery::verbs_of_subresources;
use apiserver::plane::Plane;
use krm::Object;
use krm::kind::{CREDENTIALS, Kind, Origin, Planes};
use serde_json::{Value, json};

use super::permission::CORE;
use super::roles::SYSTEM_NAMESPACE;
use crate::tenancy::{GROUP as TENANCY, ORGANIZATION, PROJECT};

const API_VERSION: &str = "iam.miloapis.com/v1alpha1";
const VERBS: [&str; 7] = ["list", "get", "create", "update", "delete", "patch", "watch"];
const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "update", "patch", "delete"];
const OPERATE: &[&str] = &["get", "list", "watch", "update", "patch"];
/// Marks what ships.
pub const SHIPPED: &str = "iam.miloapis.com/managed-by";
/// By whom it is kept as it should be.
pub const SHIPPED_BY: &str = "groundplane";

/// Everything that ships for the kinds of the root and of projects without definitions of their own, in the order in which
/// it is made.
pub fn objects(kinds: &Kinds) -> Vec<Object> {
    let served = served(kinds);
    let mut all: Vec<Object> = served.iter().map(|kind| protected_resource(kind)).collect();
    let mut groups: BTreeMap<&str, Vec<&Kind>> = BTreeMap::new();
    for kind in &served {
        groups.entry(&kind.group).or_default().push(kind);
    }
    all.extend(groups.iter().flat_map(|(group, kinds)| roles_of(group, kinds)));
    all.extend(roles_over_all(&groups));
    all
}

/// The kinds that ship, those of the root first.
pub fn served(kinds: &Kinds) -> Vec<Arc<Kind>> {
    let (root, project) = (kinds.of(&Plane::root()), kinds.of(&Plane::project("-")));
    let ships = |kind: &&Arc<Kind>| kind.origin == Origin::BuiltIn;
    let only_in_projects =
        project.all().filter(|kind| root.resource(&kind.group, &kind.names.plural).is_none());
    root.all().chain(only_in_projects).filter(ships).cloned().collect()
}

/// What a group is called in permissions and roles.
pub fn service(group: &str) -> &str {
    if group.is_empty() { CORE } else { group }
}

/// The permissions that there are on a kind.
pub fn protected_resource(kind: &Kind) -> Object {
    let version = kind.versions.iter().find(|version| version.served).unwrap_or_else(|| kind.stored());
    let mut subresources: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, verbs) in verbs_of_subresources(kind, version) {
        subresources.entry(name).or_default().extend(verbs);
    }
    let mut spec = json!({
        "serviceRef": { "name": service(&kind.group) },
        "kind": kind.names.kind,
        "singular": kind.names.singular,
        "plural": kind.names.plural,
        "permissions": VERBS.into_iter().filter(|verb| kind.takes(verb)).chain(reveals(kind)).chain(kind.custom_verbs.iter().copied()).collect::<Vec<_>>(),
    });
    let parents = parents(kind);
    if !parents.is_empty() {
        let parents = parents.iter().map(|parent| json!({ "apiGroup": TENANCY, "kind": parent }));
        spec["parentResources"] = parents.collect();
    }
    if !subresources.is_empty() {
        let parts = subresources.iter().map(|(name, verbs)| json!({ "name": name, "permissions": verbs }));
        spec["subresources"] = parts.collect();
    }
    let name = format!("{}-{}", service(&kind.group), kind.names.singular);
    made("ProtectedResource", "", &name, BTreeMap::new(), None, spec)
}

/// What it takes to see the values of a kind that are secret, beside seeing that they are there.
fn reveals(kind: &Kind) -> impl Iterator<Item = &'static str> {
    (kind.secret && kind.takes("get")).then_some(REVEAL).into_iter()
}

/// What objects of a kind may belong to.
fn parents(kind: &Kind) -> Vec<&'static str> {
    let mut parents = Vec::new();
    let is_project = kind.group == TENANCY && kind.names.kind == PROJECT;
    let of_tenants = kind.group == TENANCY || kind.group == super::GROUP;
    if is_project || (of_tenants && kind.is_namespaced()) {
        parents.push(ORGANIZATION);
    }
    if kind.planes != Planes::Root {
        parents.push(PROJECT);
    }
    parents
}

/// The roles of a group: viewer, editor, admin and operator.
pub fn roles_of(group: &str, kinds: &[&Kind]) -> Vec<Object> {
    let (mut view, mut edit, mut admin, mut operate) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for kind in kinds {
        let may = |verb: &str| format!("{}/{}.{verb}", service(group), kind.names.plural);
        let taken = |verbs: &'static [&'static str]| {
            verbs.iter().filter(|verb| kind.takes(verb)).map(|verb| may(verb))
        };
        let reads = match Disclosure::of(kind) {
            Disclosure::Everybody | Disclosure::Writers => &mut view,
            Disclosure::Admins => &mut admin,
        };
        reads.extend(taken(READ));
        edit.extend(reveals(kind).map(&may));
        edit.extend(kind.custom_verbs.iter().map(|verb| may(verb)));
        let writes = match Disclosure::of(kind) {
            Disclosure::Admins => &mut admin,
            Disclosure::Everybody if is_question(kind) => &mut view,
            _ => &mut edit,
        };
        // What controllers write, people read: they write the objects that it is made from.
        if kind.is_controlled {
            operate.extend(taken(WRITE));
        } else {
            writes.extend(taken(WRITE));
        }
        match Disclosure::of(kind) {
            Disclosure::Everybody if kind.takes("get") => operate.extend(taken(OPERATE)),
            Disclosure::Writers => operate.extend(taken(READ)),
            _ => {}
        }
        let version = kind.versions.iter().find(|version| version.served).unwrap_or_else(|| kind.stored());
        for (part, verbs) in verbs_of_subresources(kind, version) {
            for verb in verbs {
                let may = format!("{}/{}/{part}.{verb}", service(group), kind.names.plural);
                let role = match (Disclosure::of(kind), part, *verb) {
                    (Disclosure::Admins, ..) => &mut admin,
                    // Credentials of the platform are for those who run it; those of a project for who may write there.
                    (_, CREDENTIALS, "get") if !kind.sealed.is_empty() => match kind.planes {
                        Planes::Root => &mut admin,
                        Planes::Project | Planes::Both => &mut edit,
                    },
                    (_, _, "get") => &mut view,
                    (_, "scale" | "undo" | "restore", _) if kind.is_controlled => &mut operate,
                    // Status is what controllers say, and finalizing is theirs too.
                    (_, "status" | "finalize", "update" | "patch") => &mut operate,
                    _ => &mut edit,
                };
                role.insert(may);
            }
        }
    }
    operate.extend(view.iter().filter(|text| text.contains("/status.") || text.ends_with(".get")).cloned());
    let name = |role: &str| format!("{}-{role}", service(group));
    let inherits = |role: &str| vec![name(role)];
    vec![
        role(group, "viewer", "View all resources", view, Vec::new()),
        role(group, "editor", "View and edit all resources", edit, inherits("viewer")),
        role(group, "admin", "Full access to all resources", admin, inherits("editor")),
        role(
            group,
            "operator",
            "View all resources, update existing ones and write their status",
            operate,
            Vec::new(),
        ),
    ]
}

/// Whom the content of a kind is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disclosure {
    /// Everybody who may see the group.
    Everybody,
    /// That it is there to everybody who may see the group, and its values to those who may write it.
    Writers,
    /// Those who may do everything.
    Admins,
}

impl Disclosure {
    fn of(kind: &Kind) -> Disclosure {
        match (kind.group.as_str(), kind.names.plural.as_str()) {
            ("", "secrets") => Disclosure::Writers,
            ("groundplane.dev", "backups" | "verifications") => Disclosure::Admins,
            ("authorization.k8s.io", "subjectaccessreviews" | "localsubjectaccessreviews") => {
                Disclosure::Admins
            }
            ("authentication.k8s.io", "tokenreviews") => Disclosure::Admins,
            _ => Disclosure::Everybody,
        }
    }
}

/// Whether objects of a kind are questions, asked by making them and never kept. To ask is to look.
fn is_question(kind: &Kind) -> bool {
    kind.verbs == ["create"] && !(kind.group == "groundplane.dev" && kind.names.plural == "transactions")
}

fn role(group: &str, kind: &str, does: &str, permissions: BTreeSet<String>, inherits: Vec<String>) -> Object {
    let service_name = service(group);
    // A group below another one is called after both: inventory-graph for graph.inventory.
    let short = match service_name.strip_suffix(".miloapis.com") {
        Some(own) => own.split('.').rev().collect::<Vec<_>>().join("-"),
        None => service_name.split('.').next().unwrap_or(service_name).to_owned(),
    };
    let labels = BTreeMap::from([
        (format!("{service_name}/role-type"), kind.to_owned()),
        (format!("{service_name}/service"), short),
    ]);
    let mut title = kind.to_owned();
    title[..1].make_ascii_uppercase();
    let told = (format!("{service_name} {title}"), format!("{does} of {service_name}."));
    let name = format!("{service_name}-{kind}");
    made("Role", SYSTEM_NAMESPACE, &name, labels, Some(told), role_spec(permissions, inherits))
}

/// The roles that people are given on whole projects and organizations.
fn roles_over_all(groups: &BTreeMap<&str, Vec<&Kind>>) -> Vec<Object> {
    let in_projects = |role: &str| -> Vec<String> {
        let groups = groups.iter().filter(|(_, kinds)| kinds.iter().any(|kind| kind.planes != Planes::Root));
        groups.map(|(group, _)| format!("{}-{role}", service(group))).collect()
    };
    let of_tenancy = |role: &str| {
        let mut inherits = in_projects(role);
        inherits.extend([TENANCY, super::GROUP].map(|group| format!("{group}-{role}")));
        inherits.sort();
        inherits.dedup();
        inherits
    };
    let projects = |verbs: &[&str]| -> BTreeSet<String> {
        verbs.iter().map(|verb| format!("{TENANCY}/projects.{verb}")).collect()
    };
    let over = |name: &str, title: &str, does: &str, permissions: BTreeSet<String>, inherits: Vec<String>| {
        let told = (title.to_owned(), does.to_owned());
        let spec = role_spec(permissions, inherits);
        made("Role", SYSTEM_NAMESPACE, name, BTreeMap::new(), Some(told), spec)
    };
    vec![
        over(
            "owner",
            "Owner",
            "Full access to the resources that it is bound on.",
            ["*/*.*".to_owned()].into(),
            Vec::new(),
        ),
        over(
            "project-viewer",
            "Project Viewer",
            "View a project and its resources, without the values of Secrets.",
            projects(READ),
            in_projects("viewer"),
        ),
        over(
            "project-editor",
            "Project Editor",
            "View and edit the resources of a project.",
            projects(READ),
            in_projects("editor"),
        ),
        over(
            "project-admin",
            "Project Admin",
            "Full access to a project, including custom resources, and permission to delete it.",
            ["*/*.*".to_owned()].into(),
            Vec::new(),
        ),
        over(
            "organization-viewer",
            "Organization Viewer",
            "View an organization, its members, its projects and their resources.",
            BTreeSet::new(),
            of_tenancy("viewer"),
        ),
        over(
            "organization-editor",
            "Organization Editor",
            "View and edit an organization's projects and their resources.",
            BTreeSet::new(),
            of_tenancy("editor"),
        ),
    ]
}

fn role_spec(permissions: BTreeSet<String>, inherits: Vec<String>) -> Value {
    let mut spec = json!({ "launchStage": "Alpha" });
    if !permissions.is_empty() {
        spec["includedPermissions"] = permissions.into_iter().collect();
    }
    if !inherits.is_empty() {
        let references = inherits.iter().map(|name| json!({ "name": name, "namespace": SYSTEM_NAMESPACE }));
        spec["inheritedRoles"] = references.collect();
    }
    spec
}

fn made(
    kind: &str,
    namespace: &str,
    name: &str,
    mut labels: BTreeMap<String, String>,
    told: Option<(String, String)>,
    spec: Value,
) -> Object {
    let mut object = Object::new(API_VERSION, kind);
    object.set_meta("name", Some(name.into()));
    if !namespace.is_empty() {
        object.set_meta("namespace", Some(namespace.into()));
    }
    labels.insert(SHIPPED.to_owned(), SHIPPED_BY.to_owned());
    object.set_meta("labels", Some(json!(labels)));
    if let Some((title, does)) = told {
        let notes = json!({ "kubernetes.io/display-name": title, "kubernetes.io/description": does });
        object.set_meta("annotations", Some(notes));
    }
    object.set("spec", Some(spec));
    object
}

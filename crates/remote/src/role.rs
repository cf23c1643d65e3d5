//! The permissions that a reconciler needs to run beside the server, derived from what it declares: nothing more.

use krm::kind::Planes;
use reconcile::reconciler::{Reconciler, Scope};
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::source::{self, Source};

/// The namespace of the root plane in which the service accounts of controllers are.
const NAMESPACE: &str = "kube-system";
/// The label of what is made for a controller, with its name.
const LABEL: &str = "groundplane.dev/controller";

const RBAC: &str = "rbac.authorization.k8s.io";

/// Whom the permissions are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// A service account of the namespace `kube-system`, which is created too.
    ServiceAccount(String),
    /// A user, by certificate, OpenID Connect or any other way.
    User(String),
}

/// The objects that let a reconciler run beside the server under a principal: a role with exactly what it declares and its lease,
/// and its binding. `further` are resources that its plans may come to read, as group and plural.
pub fn manifest(
    reconciler: &dyn Reconciler,
    catalog: &Catalog,
    principal: &Principal,
    further: &[(String, String)],
) -> Vec<Value> {
    let name = format!("controller:{}", reconciler.name());
    let metadata = |name: &str| json!({"name": name, "labels": {LABEL: reconciler.name()}});
    let inside = |name: &str| {
        let mut metadata = metadata(name);
        metadata["namespace"] = NAMESPACE.into();
        metadata
    };
    let subject = match principal {
        Principal::ServiceAccount(name) => {
            json!({"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE})
        }
        Principal::User(name) => json!({"kind": "User", "name": name, "apiGroup": RBAC}),
    };
    let api_version = format!("{RBAC}/v1");
    let mut objects = Vec::new();
    if let Principal::ServiceAccount(account) = principal {
        objects.push(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside(account)}));
    }
    objects.extend([
        json!({"apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata(&name),
            "rules": rules(reconciler, catalog, further)}),
        json!({"apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": metadata(&name),
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}, "subjects": [subject]}),
    ]);
    objects
}

/// What it writes, as it declares, what it reads, and its own records and events.
fn rules(reconciler: &dyn Reconciler, catalog: &Catalog, further: &[(String, String)]) -> Vec<Value> {
    let rule = |group: &str, resources: Value, verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let mut rules: Vec<Value> = Vec::new();
    for declared in reconciler.role() {
        rules.push(rule(declared.group, json!(declared.resources), declared.verbs));
    }
    let mut sources = source::of_reconciler(reconciler, catalog);
    sources.extend(further.iter().map(|(group, plural)| Source::in_plane("", group, plural)));
    if is_for_projects(reconciler) {
        let (group, plural) = client::PROJECTS;
        sources.push(Source::in_plane("", group, plural));
    }
    sources.sort();
    sources.dedup();
    let mut groups: Vec<&str> = sources.iter().map(|source| source.group.as_str()).collect();
    groups.dedup();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let of_group = || sources.iter().filter(|source| source.group == group);
        let in_root: Vec<&str> =
            of_group().filter(|it| it.plane.is_some()).map(|it| it.plural.as_str()).collect();
        let everywhere: Vec<&str> =
            of_group().filter(|it| it.plane.is_none()).map(|it| it.plural.as_str()).collect();
        if !in_root.is_empty() {
            rules.push(rule(group, json!(in_root), &["get", "list", "watch"]));
        }
        if !everywhere.is_empty() {
            let all: Vec<String> = everywhere.iter().map(|plural| format!("{plural}/allplanes")).collect();
            rules.push(rule(group, json!(everywhere), &["get"]));
            rules.push(rule(group, json!(all), &["read"]));
        }
    }
    rules.push(rule("", json!(["events"]), &["create"]));
    let own = ["controllers/lease", "controllers/operations"];
    let mut own = rule("groundplane.dev", json!(own), &["get", "update"]);
    own["resourceNames"] = json!([reconciler.name()]);
    rules.push(own);
    rules
}

/// Whether a reconciler looks at objects of projects. What it writes there has to be granted there.
pub fn is_for_projects(reconciler: &dyn Reconciler) -> bool {
    [reconciler.scope(), reconciler.observes(), reconciler.reads()].iter().any(is_in_projects)
}

/// Whether a scope has objects of projects.
fn is_in_projects(scope: &Scope) -> bool {
    match scope {
        Scope::Nothing => false,
        Scope::Everything => true,
        Scope::Resources(_, planes) | Scope::Groups(_, planes) => *planes != Planes::Root,
    }
}

/// The resources that a reconciler may create.
pub(crate) fn creates(reconciler: &dyn Reconciler) -> Vec<(String, String)> {
    let role = reconciler.role();
    let rules = role.iter().filter(|rule| rule.verbs.contains(&"create") && rule.group != "*");
    let resources = rules.flat_map(|rule| rule.resources.iter().map(|plural| (rule.group, *plural)));
    let whole = resources.filter(|(_, plural)| *plural != "*" && !plural.contains('/'));
    whole.map(|(group, plural)| (group.to_owned(), plural.to_owned())).collect()
}

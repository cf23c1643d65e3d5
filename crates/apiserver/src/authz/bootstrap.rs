//! The roles and bindings of a new plane: Kubernetes' defaults, as far as they apply without pods.

use krm::Object;
use serde_json::{Value, json};

use super::coverage;
use super::{RBAC_GROUP, Rbac, Rule};
use crate::identity::{AUTHENTICATED, MASTERS, UNAUTHENTICATED};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";
/// On an object with the value `false`, nothing is added to it at start.
const AUTO_UPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "delete", "deletecollection", "patch", "update"];
const READ_WRITE: &[&str] =
    &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Roles first, then bindings. Anonymous requests are given health and version, and nothing else.
pub fn bootstrap_objects() -> Vec<Object> {
    let mut objects = vec![
        role("cluster-admin", &[Rule::on(&["*"], &["*"], &["*"]), Rule::on_paths(&["*"], &["*"])]),
        role(
            "system:discovery",
            &[Rule::on_paths(
                &["get"],
                &[
                    "/api",
                    "/api/*",
                    "/apis",
                    "/apis/*",
                    "/healthz",
                    "/livez",
                    "/openapi",
                    "/openapi/*",
                    "/readyz",
                    "/version",
                    "/version/",
                ],
            )],
        ),
        role(
            "system:basic-user",
            &[
                Rule::on(
                    &["create"],
                    &["authorization.k8s.io"],
                    &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
                ),
                Rule::on(&["create"], &["authentication.k8s.io"], &["selfsubjectreviews"]),
                // A search finds what whoever asks may see, and each item of a transaction takes a right of its own.
                Rule::on(&["list"], &["groundplane.dev"], &["search"]),
                Rule::on(&["create"], &["groundplane.dev"], &["accessexplanations", "transactions"]),
            ],
        ),
        role(
            "system:public-info-viewer",
            &[Rule::on_paths(&["get"], &["/healthz", "/livez", "/readyz", "/version", "/version/"])],
        ),
        role(
            "system:monitoring",
            &[Rule::on_paths(
                &["get"],
                &["/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/readyz", "/readyz/*"],
            )],
        ),
        role(
            "system:auth-delegator",
            &[
                Rule::on(&["create"], &["authentication.k8s.io"], &["tokenreviews"]),
                Rule::on(&["create"], &["authorization.k8s.io"], &["subjectaccessreviews"]),
            ],
        ),
        role(
            "system:service-account-issuer-discovery",
            &[Rule::on_paths(
                &["get"],
                &[
                    "/.well-known/openid-configuration",
                    "/.well-known/openid-configuration/",
                    "/openid/v1/jwks",
                    "/openid/v1/jwks/",
                ],
            )],
        ),
        part(
            "system:aggregate-to-admin",
            "admin",
            &[
                Rule::on(&["create"], &["authorization.k8s.io"], &["localsubjectaccessreviews"]),
                Rule::on(READ_WRITE, &[RBAC_GROUP], &["rolebindings", "roles"]),
            ],
        ),
        part(
            "system:aggregate-to-edit",
            "edit",
            &[
                Rule::on(READ, &[""], &["secrets"]),
                Rule::on(&["impersonate"], &[""], &["serviceaccounts"]),
                Rule::on(WRITE, &[""], &["configmaps", "secrets", "serviceaccounts"]),
                Rule::on(&["create"], &[""], &["serviceaccounts/token"]),
                Rule::on(WRITE, &["", "events.k8s.io"], &["events"]),
                Rule::on(READ_WRITE, &["coordination.k8s.io"], &["leases"]),
                // Each of them asks for the right to what it does, too.
                Rule::on(&["create"], &["*"], &["*/restore", "*/undo"]),
            ],
        ),
        part(
            "system:aggregate-to-view",
            "view",
            &[
                Rule::on(READ, &[""], &["configmaps", "endpoints", "serviceaccounts", "services"]),
                Rule::on(READ, &["discovery.k8s.io"], &["endpointslices"]),
                Rule::on(READ, &[""], &["namespaces/status"]),
                // In a namespace this reads that namespace: it tells which ones somebody has access to.
                Rule::on(READ, &[""], &["namespaces"]),
                Rule::on(READ, &["", "events.k8s.io"], &["events"]),
                // Both ask for the right to read the object, too.
                Rule::on(&["get"], &["*"], &["*/history", "*/referrers"]),
            ],
        ),
        sum("view", Some("edit")),
        sum("edit", Some("admin")),
        sum("admin", None),
    ];
    fill_sums(&mut objects);
    objects.extend([
        binding("cluster-admin", &[MASTERS]),
        binding("system:discovery", &[AUTHENTICATED]),
        binding("system:basic-user", &[AUTHENTICATED]),
        binding("system:public-info-viewer", &[AUTHENTICATED, UNAUTHENTICATED]),
        binding("system:monitoring", &["system:monitoring"]),
        binding("system:service-account-issuer-discovery", &["system:serviceaccounts"]),
    ]);
    objects
}

/// What to write so that `existing` gives what `wanted` gives, or `None` when it does already, or when it says that
/// it wants to be left alone. What somebody added to it stays.
pub fn reconciled(existing: &Object, wanted: &Object) -> Option<Object> {
    if existing.annotation(AUTO_UPDATE) == Some("false") {
        return None;
    }
    let mut result = existing.clone();
    for field in ["labels", "annotations"] {
        let mut texts = wanted.meta(field).and_then(Value::as_object).cloned().unwrap_or_default();
        texts.extend(existing.meta(field).and_then(Value::as_object).cloned().unwrap_or_default());
        result.set_meta(field, Some(Value::Object(texts)));
    }
    if let Some(subjects) = wanted.get("subjects").and_then(Value::as_array) {
        append_missing(&mut result, "subjects", subjects);
    }
    match wanted.get("aggregationRule") {
        // The rules of a sum are those of its parts, and change with them.
        Some(rule) => result.set("aggregationRule", Some(rule.clone())),
        None => {
            let held = Rule::list_from_json(existing.get("rules"));
            let missing = coverage::missing(&held, &Rule::list_from_json(wanted.get("rules"))).ok()?;
            append_missing(&mut result, "rules", &missing.iter().map(Rule::to_json).collect::<Vec<_>>());
        }
    }
    (result != *existing).then_some(result)
}

/// An object as if it did not ask to be left alone.
pub fn with_updates(object: &Object) -> Object {
    let mut object = object.clone();
    let mut notes = object.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    notes.remove(AUTO_UPDATE);
    object.set_meta("annotations", Some(notes.into()));
    object
}

fn append_missing(object: &mut Object, field: &str, wanted: &[Value]) {
    let mut list = object.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let missing: Vec<Value> = wanted.iter().filter(|item| !list.contains(item)).cloned().collect();
    if !missing.is_empty() {
        list.extend(missing);
        object.set(field, Some(Value::Array(list)));
    }
}

/// The sums carry their parts' rules from the start, so that people see them.
fn fill_sums(objects: &mut [Object]) {
    let rbac = Rbac::compile(objects.iter());
    for object in objects.iter_mut().filter(|object| object.get("aggregationRule").is_some()) {
        let rules = rbac.rules_of("", object.name()).unwrap_or_default();
        object.set("rules", Some(rules.iter().map(Rule::to_json).collect()));
    }
}

fn role(name: &str, rules: &[Rule]) -> Object {
    let mut object = bootstrap("ClusterRole", name);
    object.set("rules", Some(rules.iter().map(Rule::to_json).collect()));
    object
}

/// A cluster role whose rules go into the one called `sum`.
fn part(name: &str, sum: &str, rules: &[Rule]) -> Object {
    let mut object = role(name, rules);
    label(&mut object, sum);
    object
}

/// A cluster role that gathers its parts by their label, and may be a part itself.
fn sum(name: &str, part_of: Option<&str>) -> Object {
    let mut object = bootstrap("ClusterRole", name);
    let selector = json!({"matchLabels": {aggregates_to(name): "true"}});
    object.set("aggregationRule", Some(json!({"clusterRoleSelectors": [selector]})));
    if let Some(larger) = part_of {
        label(&mut object, larger);
    }
    object
}

fn binding(role: &str, groups: &[&str]) -> Object {
    let mut object = bootstrap("ClusterRoleBinding", role);
    let subject = |group: &&str| json!({"apiGroup": RBAC_GROUP, "kind": "Group", "name": group});
    object.set("subjects", Some(groups.iter().map(subject).collect()));
    object.set("roleRef", Some(json!({"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role})));
    object
}

fn bootstrap(kind: &str, name: &str) -> Object {
    let mut object = Object::new(API_VERSION, kind);
    object.set_meta("name", Some(name.into()));
    object.set_meta("labels", Some(json!({"kubernetes.io/bootstrapping": "rbac-defaults"})));
    object.set_meta("annotations", Some(json!({AUTO_UPDATE: "true"})));
    object
}

fn label(object: &mut Object, sum: &str) {
    let labels = json!({"kubernetes.io/bootstrapping": "rbac-defaults", aggregates_to(sum): "true"});
    object.set_meta("labels", Some(labels));
}

fn aggregates_to(sum: &str) -> String {
    format!("{RBAC_GROUP}/aggregate-to-{sum}")
}

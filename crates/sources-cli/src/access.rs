//! The identity of a source: a service account, and what it may do.

use client::{Client, Request, segment};
use http::Method;
use krm::Object;
use serde_json::{Value, json};

const RBAC: &str = "rbac.authorization.k8s.io/v1";
/// How long a token is valid, in seconds: a year.
const YEAR: i64 = 365 * 24 * 3600;

/// The objects that are made for a source besides the Source and its credentials: API version, resource, namespace and name.
pub fn objects_of(source: &str) -> Vec<(&'static str, &'static str, &'static str, String)> {
    let role = format!("source:{source}");
    vec![
        (RBAC, "clusterrolebindings", "", role.clone()),
        (RBAC, "clusterroles", "", role),
        (RBAC, "rolebindings", sources::NAMESPACE, source.to_owned()),
        (RBAC, "roles", sources::NAMESPACE, source.to_owned()),
        ("v1", "serviceaccounts", sources::NAMESPACE, source.to_owned()),
    ]
}

/// A service account for a source with exactly the rights that it needs. That it writes only what is its own is a rule of the
/// server.
pub fn manifest(source: &str, secret: Option<&str>) -> Vec<Object> {
    let account = json!([{"kind": "ServiceAccount", "name": source, "namespace": sources::NAMESPACE}]);
    let role = format!("source:{source}");
    let rule = |group: &str, resources: &[&str], verbs: &[&str], names: &[&str]| {
        let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rule
    };
    let lease = format!("source.{source}");
    let write = ["get", "list", "create", "update", "patch", "delete"];
    let rules = json!([
        rule(fulfillment::GROUP, &["hosts", "hostclasses"], &write, &[]),
        rule(sources::GROUP, &["sourcefindings"], &["get", "list", "create", "update", "delete"], &[]),
        rule(sources::GROUP, &["sources"], &["get"], &[source]),
        rule(sources::GROUP, &["sources/status"], &["get", "patch"], &[source]),
        rule("groundplane.dev", &["controllers/lease"], &["update"], &[&lease]),
    ]);
    let bound =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let mut all = vec![
        json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": source, "namespace": sources::NAMESPACE}}),
        json!({"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": role}, "rules": rules}),
        json!({"apiVersion": RBAC, "kind": "ClusterRoleBinding", "metadata": {"name": role},
            "roleRef": bound("ClusterRole", &role), "subjects": account}),
    ];
    if let Some(secret) = secret {
        all.push(json!({"apiVersion": RBAC, "kind": "Role",
            "metadata": {"name": source, "namespace": sources::NAMESPACE},
            "rules": [rule("", &["secrets"], &["get"], &[secret])]}));
        all.push(json!({"apiVersion": RBAC, "kind": "RoleBinding",
            "metadata": {"name": source, "namespace": sources::NAMESPACE},
            "roleRef": bound("Role", source), "subjects": account}));
    }
    all.into_iter().filter_map(Object::from_value).collect()
}

/// A new token for the service account of a source.
pub async fn token(client: &Client, source: &str) -> Result<String, client::Error> {
    let path = format!("/api/v1/namespaces/{}/serviceaccounts/{}/token", sources::NAMESPACE, segment(source));
    let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": YEAR}});
    let answer: Value = client.value(&Request::new(Method::POST, path).json(&body)).await?;
    Ok(answer["status"]["token"].as_str().unwrap_or_default().to_owned())
}

/// A kubeconfig with a token.
pub fn kubeconfig(server: &str, authority: Option<&[u8]>, source: &str, token: &str) -> Value {
    let mut cluster = json!({ "server": server });
    if let Some(authority) = authority {
        cluster["certificate-authority-data"] = data_encoding::BASE64.encode(authority).into();
    }
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": source,
        "clusters": [{"name": "groundplane", "cluster": cluster}],
        "users": [{"name": source, "user": {"token": token}}],
        "contexts": [{"name": source, "context": {"cluster": "groundplane", "user": source}}],
    })
}

//! Tenants and clients who mean harm. Each story is a promise of the threat model (docs/security/threat-model.md) and carries its
//! name.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod audit_noise;
mod bodies;
mod crowd;
mod forgery;
mod patterns;

use std::path::Path;

use serde_json::{Value, json};
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const TENANCY: &str = "/apis/resourcemanager.miloapis.com/v1alpha1";

/// A server that knows people by tokens: `<name>-token` each. None of them may do anything.
struct City {
    server: Server,
    admin: Client,
    _folder: tempfile::TempDir,
}

impl City {
    async fn of(people: &[&str], arguments: &[&str]) -> City {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("tokens.csv");
        let lines: String = people.iter().map(|name| format!("{name}-token,{name},,\n")).collect();
        std::fs::write(&file, lines).unwrap();
        let mut all = vec!["--token-auth-file", file.to_str().unwrap()];
        all.extend(arguments);
        let server = Server::fresh(GROUNDPLANE, &all).unwrap();
        let admin = server.client();
        City { server, admin, _folder: folder }
    }

    fn person(&self, name: &str) -> Client {
        self.server.stranger().with_token(&format!("{name}-token"))
    }

    fn data(&self) -> &Path {
        self.server.data()
    }

    /// A project, in whose plane somebody may do everything.
    async fn project(&self, name: &str, owner: &str) -> String {
        let (organization, plane) =
            (format!("{name}-org"), format!("{TENANCY}/projects/{name}/control-plane"));
        let of = |kind: &str, name: &str, spec: Value| json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec});
        let spec = json!({"type": "Standard"});
        created(&self.admin, &format!("{TENANCY}/organizations"), &of("Organization", &organization, spec))
            .await;
        let spec = json!({"ownerRef": {"kind": "Organization", "name": organization}});
        created(&self.admin, &format!("{TENANCY}/projects"), &of("Project", name, spec)).await;
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": format!("{owner}-owns")},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": owner}],
        });
        let bindings = format!("{plane}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings");
        created(&self.admin, &bindings, &binding).await;
        plane
    }
}

async fn created(client: &Client, path: &str, object: &Value) -> Value {
    let answer = client.post(path, object).await.unwrap();
    assert_eq!(answer.code, 201, "{path}: {}", answer.text());
    answer.json()
}

/// A definition of a kind in the group example.com, with this schema of its spec.
fn definition(plural: &str, spec: Value) -> Value {
    let kind = plural[..1].to_uppercase() + &plural[1..plural.len() - 1];
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

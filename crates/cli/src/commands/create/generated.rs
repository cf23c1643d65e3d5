//! Objects that are made from a few words.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{How, data, rbac, send, token};
use crate::failure::Failure;
use crate::session::Session;

/// What can be made from a few words.
#[derive(Subcommand, Debug)]
pub enum What {
    /// Create a Namespace.
    #[command(visible_alias = "ns", after_help = "Examples:\n  groundplane create namespace lab")]
    Namespace(Plain),
    /// Create a ServiceAccount.
    #[command(
        visible_alias = "sa",
        after_help = "Examples:\n  groundplane create serviceaccount ci -n default"
    )]
    Serviceaccount(Plain),
    /// Create a ConfigMap from values and files.
    #[command(
        visible_alias = "cm",
        after_help = "Examples:\n  groundplane create configmap settings --from-literal=limit=3\n  \
        groundplane create configmap notes --from-file=notes.txt"
    )]
    Configmap(data::Data),
    Secret(data::Secret),
    Role(rbac::Role),
    Clusterrole(rbac::Role),
    Rolebinding(rbac::Binding),
    Clusterrolebinding(rbac::Binding),
    Token(token::Token),
}

/// A name and nothing else.
#[derive(clap::Args, Debug)]
pub struct Plain {
    /// Name of the object.
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    how: How,
}

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Makes it.
pub async fn run(what: What, session: &mut Session) -> Result<(), Failure> {
    let namespace = session.namespace().await?;
    // As with kubectl, an object names its namespace only if that was asked for: it can be applied anywhere.
    let own = session.asked_namespace().await?;
    let own = own.as_deref();
    let in_namespace = |plural: &str| format!("/api/v1/namespaces/{namespace}/{plural}");
    match what {
        What::Namespace(plain) => {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": plain.name}, "spec": {}, "status": {}});
            send("/api/v1/namespaces", object, &plain.how, session).await
        }
        What::Serviceaccount(plain) => {
            let object = named("v1", "ServiceAccount", &plain.name, own);
            told(
                send(&in_namespace("serviceaccounts"), object, &plain.how, session).await,
                "failed to create serviceaccount:",
            )
        }
        What::Configmap(data) => {
            let object = data.config_map(named("v1", "ConfigMap", &data.name, own))?;
            told(
                send(&in_namespace("configmaps"), object, &data.how, session).await,
                "failed to create configmap:",
            )
        }
        What::Secret(secret) => {
            let (object, how) = secret.object(own)?;
            told(send(&in_namespace("secrets"), object, how, session).await, "failed to create secret")
        }
        What::Role(role) => {
            let object = role.object(named(RBAC, "Role", &role.name, own), session).await?;
            send(&format!("/apis/{RBAC}/namespaces/{namespace}/roles"), object, &role.how, session).await
        }
        What::Clusterrole(role) => {
            let object = role.object(named(RBAC, "ClusterRole", &role.name, None), session).await?;
            send(&format!("/apis/{RBAC}/clusterroles"), object, &role.how, session).await
        }
        What::Rolebinding(binding) => {
            let object = binding.object(named(RBAC, "RoleBinding", &binding.name, own))?;
            let path = format!("/apis/{RBAC}/namespaces/{namespace}/rolebindings");
            told(send(&path, object, &binding.how, session).await, "failed to create rolebinding:")
        }
        What::Clusterrolebinding(binding) => {
            let object = binding.object(named(RBAC, "ClusterRoleBinding", &binding.name, None))?;
            let path = format!("/apis/{RBAC}/clusterrolebindings");
            told(send(&path, object, &binding.how, session).await, "failed to create clusterrolebinding:")
        }
        What::Token(token) => token.run(&namespace, session).await,
    }
}

fn named(api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    if let Some(namespace) = namespace {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// These say what failed before they say why, as kubectl has it.
fn told(sent: Result<(), Failure>, what: &str) -> Result<(), Failure> {
    sent.map_err(|failure| {
        match failure.refusal().map(|refusal| (refusal.reason().to_owned(), refusal.message().to_owned())) {
            Some((reason, message)) if reason != "Invalid" => Failure::other(format!("{what} {message}")),
            _ => failure,
        }
    })
}

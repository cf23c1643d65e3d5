//! Roles and bindings from a few words.

use serde_json::{Value, json};

use super::How;
use crate::failure::Failure;
use crate::session::Session;

/// Create a Role or ClusterRole.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane create role reader --verb=get,list,watch --resource=configmaps\n  \
    groundplane create clusterrole metrics --verb=get --non-resource-url=/metrics"
)]
pub struct Role {
    /// Name of the object.
    #[arg(value_name = "NAME")]
    pub name: String,

    /// Verbs: get, list, watch, create, update, patch, delete, or * for all.
    #[arg(long, value_name = "VERB,…", value_delimiter = ',', required = true)]
    verb: Vec<String>,

    /// Resources, as in configmaps or racks.inventory.miloapis.com/status.
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    resource: Vec<String>,

    /// Names of objects that the rule is limited to. Can be repeated.
    #[arg(long, value_name = "NAME")]
    resource_name: Vec<String>,

    /// Non-resource URLs, such as /metrics. ClusterRoles only.
    #[arg(long = "non-resource-url", value_name = "PATH,…", value_delimiter = ',')]
    urls: Vec<String>,

    #[command(flatten)]
    pub how: How,
}

/// Create a RoleBinding or ClusterRoleBinding.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane create rolebinding readers --clusterrole=view --group=auditors\n  \
    groundplane create clusterrolebinding ci --clusterrole=view --serviceaccount=default:ci"
)]
pub struct Binding {
    /// Name of the object.
    #[arg(value_name = "NAME")]
    pub name: String,

    /// Name of a Role in the namespace.
    #[arg(long, value_name = "NAME", conflicts_with = "clusterrole")]
    role: Option<String>,

    /// Name of a ClusterRole.
    #[arg(long, value_name = "NAME")]
    clusterrole: Option<String>,

    /// User. Can be repeated.
    #[arg(long = "user", value_name = "NAME")]
    users: Vec<String>,

    /// Group. Can be repeated.
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    /// ServiceAccount, as NAMESPACE:NAME. Can be repeated.
    #[arg(long, value_name = "NAMESPACE:NAME")]
    serviceaccount: Vec<String>,

    #[command(flatten)]
    pub how: How,
}

impl Role {
    /// The role with its rules, one for each group.
    pub async fn object(&self, mut object: Value, session: &mut Session) -> Result<Value, Failure> {
        if self.resource.is_empty() && self.urls.is_empty() {
            return Err(Failure::usage(
                "one or more resources must be specified as resource.group/subresource",
            )
            .hint("--resource=configmaps"));
        }
        let mut rules: Vec<(String, Vec<String>)> = Vec::new();
        for word in &self.resource {
            let (word, subresource) = match word.split_once('/') {
                Some((word, subresource)) => (word, format!("/{subresource}")),
                None => (word.as_str(), String::new()),
            };
            let (group, plural) = match word {
                "*" => (String::new(), "*".to_owned()),
                word => {
                    let discovery = session.discovery().await?;
                    let found = discovery.resource(word)?;
                    (found.group.clone(), found.plural.clone())
                }
            };
            let resource = format!("{plural}{subresource}");
            match rules.iter_mut().find(|(known, _)| *known == group) {
                Some((_, resources)) => resources.push(resource),
                None => rules.push((group, vec![resource])),
            }
        }
        rules.sort_by(|a, b| a.0.cmp(&b.0));
        let mut list: Vec<Value> = Vec::new();
        for (group, resources) in rules {
            let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": self.verb});
            if !self.resource_name.is_empty() {
                rule["resourceNames"] = json!(self.resource_name);
            }
            list.push(rule);
        }
        if !self.urls.is_empty() {
            list.push(json!({"nonResourceURLs": self.urls, "verbs": self.verb}));
        }
        object["rules"] = Value::Array(list);
        Ok(object)
    }
}

impl Binding {
    /// The binding with its subjects.
    pub fn object(&self, mut object: Value) -> Result<Value, Failure> {
        let group = "rbac.authorization.k8s.io";
        let (kind, name) = match (&self.role, &self.clusterrole) {
            (Some(role), None) => ("Role", role),
            (None, Some(role)) => ("ClusterRole", role),
            _ => return Err(Failure::usage("exactly one of clusterrole or role must be specified")),
        };
        object["roleRef"] = json!({"apiGroup": group, "kind": kind, "name": name});
        let mut subjects: Vec<Value> = Vec::new();
        for (kind, names) in [("User", &self.users), ("Group", &self.group)] {
            subjects.extend(names.iter().map(|name| json!({"apiGroup": group, "kind": kind, "name": name})));
        }
        for account in &self.serviceaccount {
            let Some((namespace, name)) =
                account.split_once(':').filter(|(a, b)| !a.is_empty() && !b.is_empty())
            else {
                return Err(Failure::usage("serviceaccount must be <namespace>:<name>"));
            };
            subjects.push(json!({"kind": "ServiceAccount", "namespace": namespace, "name": name}));
        }
        if !subjects.is_empty() {
            object["subjects"] = Value::Array(subjects);
        }
        Ok(object)
    }
}

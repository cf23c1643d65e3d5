//! The tables of hosts, host classes and hubs.

use cli::{Ask, Failure, Session};
use serde_json::Value;

use crate::API;
use crate::output::{self, Form, text};

/// A column: its heading, its value, and whether only a wide table has it.
pub type Column = (&'static str, fn(&Value) -> String, bool);

/// What is shown of a kind.
#[derive(Debug)]
pub struct Shown {
    /// Resource.
    pub plural: &'static str,
    /// Kind in lower case, as names of objects have it.
    pub singular: &'static str,
    /// Kind, in lower case and words.
    pub noun: &'static str,
    /// The same of several.
    pub nouns: &'static str,
    /// Columns of the table.
    pub columns: &'static [Column],
}

/// Hosts.
pub const HOSTS: Shown = Shown {
    plural: "hosts",
    singular: "host",
    noun: "host",
    nouns: "hosts",
    columns: &[
        ("ID", identifier, false),
        ("NAME", name, false),
        ("POWER STATE", |host| word(host, "/status/powerState", "HOST_POWER_STATE_"), false),
        ("RACK", |host| or_dash(text(host, "/spec/rack")), false),
        ("CLASS", |host| or_dash(text(host, "/spec/class")), true),
        ("STATE", |host| word(host, "/status/state", "HOST_STATE_"), true),
        ("CLUSTER", |host| or_dash(text(host, "/status/cluster")), true),
        ("HOLDER", |host| or_dash(text(host, "/status/claim/holder")), true),
        ("NODE", |host| or_dash(text(host, "/status/node/name")), true),
        ("BOOT MAC", |host| or_dash(text(host, "/spec/bootMac")), true),
        ("BOOT IP", |host| or_dash(text(host, "/spec/bootIp")), true),
        ("HUB", |host| or_dash(text(host, "/status/hub")), true),
    ],
};

/// Clusters of a project.
pub const CLUSTERS: Shown = Shown {
    plural: "clusters",
    singular: "cluster",
    noun: "cluster",
    nouns: "clusters",
    columns: &[
        ("NAME", name, false),
        ("TEMPLATE", |cluster| or_dash(text(cluster, "/spec/template")), false),
        ("STATE", |cluster| word(cluster, "/status/state", "CLUSTER_STATE_"), false),
        ("PHASE", |cluster| or_dash(text(cluster, "/status/phase")), false),
        ("HOSTS", hosts_of, false),
        ("RELEASE", |cluster| or_dash(text(cluster, "/status/release")), false),
        ("API", |cluster| or_dash(text(cluster, "/status/apiUrl")), true),
        ("ID", identifier, true),
    ],
};

/// DNS zones.
pub const ZONES: Shown = Shown {
    plural: "dnszones",
    singular: "dnszone",
    noun: "DNS zone",
    nouns: "DNS zones",
    columns: &[
        ("NAME", name, false),
        ("DOMAIN", |zone| or_dash(text(zone, "/spec/domain")), false),
        ("SERVER", |zone| or_dash(text(zone, "/spec/server")), false),
        ("READY", ready_of, false),
        ("CHECKED", |zone| or_dash(text(zone, "/status/checked")), true),
    ],
};

/// Hosts of a cluster that are installed, of those that are wanted.
fn hosts_of(cluster: &Value) -> String {
    let sum = |sets: &Value, field: &str| -> i64 {
        let sets = sets.as_object().into_iter().flatten();
        sets.filter_map(|(_, set)| set[field].as_i64()).sum()
    };
    let wanted = sum(&cluster["spec"]["nodeSets"], "size");
    format!("{}/{wanted}", sum(&cluster["status"]["nodeSets"], "installed"))
}

fn ready_of(object: &Value) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|it| it["type"] == "Ready");
    or_dash(ready.and_then(|it| it["status"].as_str()).unwrap_or_default())
}

/// Host classes.
pub const CLASSES: Shown = Shown {
    plural: "hostclasses",
    singular: "hostclass",
    noun: "host class",
    nouns: "host classes",
    columns: &[
        ("ID", identifier, false),
        ("NAME", name, false),
        ("TITLE", |class| or_dash(text(class, "/title")), false),
    ],
};

/// Hubs.
pub const HUBS: Shown = Shown {
    plural: "hubs",
    singular: "hub",
    noun: "hub",
    nouns: "hubs",
    columns: &[
        ("ID", identifier, false),
        ("NAME", name, false),
        ("NAMESPACE", |hub| or_dash(text(hub, "/spec/namespace")), false),
        ("KUBECONFIG", |hub| sealed(hub, "/spec/kubeconfigRef"), false),
        ("PULL SECRET", |hub| sealed(hub, "/spec/pullSecretRef"), true),
        ("IP", |hub| or_dash(text(hub, "/spec/ip")), true),
        ("STATE", |hub| word(hub, "/status/state", "HUB_STATE_"), true),
    ],
};

impl Shown {
    /// An object as other commands take it: `host.fulfillment.groundplane.dev/node001`.
    pub fn named(&self, object: &Value) -> String {
        format!("{}.{}/{}", self.singular, fulfillment::GROUP, text(object, "/metadata/name"))
    }
}

/// Identifier in the fulfillment API.
pub fn identifier(object: &Value) -> String {
    match text(object, "/id") {
        "" => text(object, "/metadata/name").to_owned(),
        id => id.to_owned(),
    }
}

/// Name in the fulfillment API.
pub fn name(object: &Value) -> String {
    or_dash(text(object, "/displayName"))
}

/// An enumerated value without its prefix.
pub fn word(object: &Value, pointer: &str, prefix: &str) -> String {
    or_dash(text(object, pointer).trim_start_matches(prefix))
}

/// Whether a credential is there: it is never shown.
pub fn sealed(object: &Value, pointer: &str) -> String {
    if object.pointer(pointer).is_some() { "sealed".to_owned() } else { "-".to_owned() }
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

/// Lists objects.
pub async fn list(
    shown: &Shown,
    fields: &[(&str, Option<&str>)],
    labels: Option<&str>,
    form: Form,
    session: &mut Session,
    keep: impl Fn(&Value) -> bool,
) -> Result<(), Failure> {
    let selector: Vec<String> =
        fields.iter().filter_map(|(field, value)| Some(format!("{field}={}", (*value)?))).collect();
    let selector = Some(selector.join(",")).filter(|selector| !selector.is_empty());
    let ask = Ask::get(format!("{API}/{}", shown.plural))
        .query_if("fieldSelector", selector)
        .query_if("labelSelector", labels.map(str::to_owned));
    let mut list = session.client().await?.value(&ask).await?;
    let mut items = list["items"].as_array().cloned().unwrap_or_default();
    items.retain(|item| keep(item));
    match form {
        Form::Json | Form::Yaml => {
            list["items"] = items.into();
            output::value(form, &list, session)
        }
        Form::Name => {
            for item in &items {
                output::line(&shown.named(item), session)?;
            }
            Ok(())
        }
        Form::Table | Form::Wide if items.is_empty() => {
            session.console.say(&format!("No {} found.", shown.nouns));
            Ok(())
        }
        Form::Table | Form::Wide => {
            let columns: Vec<_> =
                shown.columns.iter().filter(|(.., is_wide)| !is_wide || form == Form::Wide).collect();
            let mut rows =
                vec![columns.iter().map(|(heading, ..)| (*heading).to_owned()).collect::<Vec<_>>()];
            rows.extend(items.iter().map(|item| columns.iter().map(|(_, value, _)| value(item)).collect()));
            output::table(&rows, session)
        }
    }
}

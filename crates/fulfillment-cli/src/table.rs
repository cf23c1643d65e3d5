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

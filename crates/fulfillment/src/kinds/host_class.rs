//! HostClass: a kind of hardware that tenants can ask for.

use std::time::Duration;

use krm::field::FieldError;
use krm::kind::{Change, Declaration, Metadata, Planes, Refusal, Resource, Sentence, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cluster_template::OF_CLASS;
use crate::identity;

/// A kind of hardware that tenants can ask for. Its fields are not below `spec`: they are those of the HostClass of the
/// fulfillment API. It cannot be deleted while a Host or a node set of a ClusterTemplate is of this class.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostClass {
    /// Standard object metadata. The name is the identifier of the class in the fulfillment API, if that is a DNS name.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API, if it is not a DNS name. The object is then named after it: the server says how.
    /// Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label. Need not be unique. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Title for people, such as `GPU node with eight H100`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub title: Option<String>,
    /// Description for people, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub description: Option<String>,
    /// How the drives of a host are cleaned after it left a cluster, before it is free again. Defaults to `Metadata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleaning: Option<Cleaning>,
    /// What a host of this class must have to be chosen for a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<HostRequirements>,
    /// Device that clusters are installed on, such as `/dev/nvme0n1`. If it is not set, the provisioner chooses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub root_device: Option<String>,
    /// How long a host may take to boot and be installed, in seconds. A host that takes longer is replaced by another one and
    /// quarantined. Defaults to 5400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800))]
    pub provisioning_limit_seconds: Option<i64>,
    /// How long a host may take to leave a cluster and to be cleaned, in seconds. A host that takes longer stays out of use until
    /// it is clean, and says so. Defaults to 7200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800))]
    pub cleaning_limit_seconds: Option<i64>,
}

/// How the drives of a host are cleaned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Cleaning {
    /// Partition tables and other metadata are removed: nothing boots from the drives, and what was on them may be recovered.
    #[default]
    Metadata,
    /// All data is erased.
    Full,
    /// Nothing is removed.
    None,
}

/// What a host must have to be chosen for a cluster, besides being free and healthy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostRequirements {
    /// Number of data ports that must have a cable, by the inventory. Defaults to 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 64))]
    pub connected_ports: Option<i32>,
    /// Number of power feeds that the host must be connected to, by the inventory. Defaults to 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 64))]
    pub power_feeds: Option<i32>,
}

impl HostClass {
    /// How its hosts are cleaned.
    pub fn cleaning(&self) -> Cleaning {
        self.cleaning.unwrap_or_default()
    }

    /// How long a host may take to be installed.
    pub fn provisioning_limit(&self) -> Duration {
        seconds(self.provisioning_limit_seconds.unwrap_or(5400))
    }

    /// How long a host may take to leave a cluster and be cleaned.
    pub fn cleaning_limit(&self) -> Duration {
        seconds(self.cleaning_limit_seconds.unwrap_or(7200))
    }
}

fn seconds(number: i64) -> Duration {
    Duration::from_secs(number.unsigned_abs())
}

impl Resource for HostClass {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "HostClass";
    const PLURAL: &'static str = "hostclasses";

    fn declare() -> Declaration<HostClass> {
        Declaration::cluster()
            .names_creator(crate::CREATOR)
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .selects(&["id", "displayName", "title"])
            .searches(&["id", "displayName", "title"])
            .prints("DisplayName", "string", ".displayName")
            .prints("Title", "string", ".title")
            .prints_age()
            .answers("considered", "ConsideredHosts", crate::selection::considered)
            .validate(has_an_identity)
            .rule(stays_while_templates_name_it)
            .tells_created(&[Sentence { when: "true", says: "added host class @" }])
    }
}

fn has_an_identity(change: &Change<HostClass>) -> Vec<FieldError> {
    let Some(class) = change.after() else { return Vec::new() };
    identity::faults(&class.metadata, class.id.as_deref(), class.display_name.as_deref())
}

/// Templates name it in a map, so that no reference can be declared.
fn stays_while_templates_name_it(change: &Change<HostClass>, view: &mut View<'_>) -> Verdict {
    let (Some(class), None) = (change.before(), change.after()) else { return allow() };
    let templates = view.bucket(OF_CLASS, &class.metadata.name);
    match templates.first() {
        None => allow(),
        Some(template) => {
            let (name, others) = (template.name(), templates.len() - 1);
            let more = if others == 0 { String::new() } else { format!(" and {others} more") };
            Err(Refusal::Conflict(format!(
                "node sets of ClusterTemplate {name}{more} are of this class; change those first"
            )))
        }
    }
}

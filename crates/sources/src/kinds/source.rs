//! Source: another system whose hosts are copied.

use std::collections::BTreeMap;
use std::time::Duration;

use fulfillment::NameReference;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sync::FIELDS;

/// Another system whose hosts are copied into Hosts: an Ironic, a BCM, BMCs that speak Redfish, a NetBox. A synchronizer, started
/// with `groundplane sync`, reads the system and writes Hosts and HostClasses under the identity of the Source. It owns the
/// hosts that it creates, and no others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Standard object metadata. The name is that of the service account of the synchronizer, and the value of the label
    /// `sources.groundplane.dev/source` of what the Source owns: a DNS label.
    pub metadata: Metadata,
    /// Specification of the Source. Set by operators.
    pub spec: SourceSpec,
    /// What the synchronizer found. Set by it; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SourceStatus>,
}

/// Specification of a Source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceSpec {
    /// Adapter that reads the system. Immutable.
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "adapter is immutable"}]))]
    pub adapter: AdapterKind,
    /// Where the system is. For Ironic, BCM and NetBox the URL of its API, such as `https://ironic.example:6385`. For Redfish the
    /// BMCs: addresses, ranges and subnets, separated by commas, such as `192.0.2.21, 192.0.2.30-192.0.2.40`. Must not contain
    /// credentials.
    #[schemars(length(min = 1, max = 4096))]
    pub endpoint: String,
    /// Secret with the credentials, in the namespace `groundplane-sources`. Its keys are `username` and `password`, `token`,
    /// `tls.crt` and `tls.key`, and `ca.crt`, as far as the adapter needs them. Not set: none, or those of the
    /// configuration file of the synchronizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_ref: Option<NameReference>,
    /// Pause between two complete lists, such as `10s`, `5m` or `1h`. Defaults to 5m, and to 1h while the system reports changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+(ms|s|m|h))+$"))]
    pub interval: Option<String>,
    /// Whether changes are heard of as they happen. Defaults to Auto: if the adapter and the system can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventMode>,
    /// HostClasses to use for classes of the system, by the identifier of the class there. A class that is not named becomes a
    /// HostClass of its own, which the Source owns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 1024))]
    pub classes: BTreeMap<String, String>,
    /// How hosts are joined to the inventory. Defaults to Match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<InventoryMode>,
    /// Site of the Nodes that `inventory: Create` makes. Required with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_ref: Option<NameReference>,
    /// What becomes of a host that the system no longer lists. Never applies to hosts that are assigned or held. Defaults to Mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingPolicy>,
    /// How long a host has to be missing before `missing: Delete` deletes it, such as `720h`. Defaults to 168h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+(ms|s|m|h))+$"))]
    pub delete_after: Option<String>,
    /// Share of its hosts, in percent (1 to 100), that may go, be renamed or change their class within a day before the Source is
    /// not believed. Two hosts may always. Defaults to 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub max_change_percent: Option<i32>,
    /// Fields that the Source sets on hosts that another Source owns, such as `spec.hardware`: enrichment. At most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "set"))]
    pub enriches: Vec<String>,
    /// Settings of the adapter; its page in the documentation lists them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64))]
    pub options: BTreeMap<String, String>,
    /// Whether the synchronizer rests. Nothing is read or written while it is true. Defaults to false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub paused: bool,
    /// Digest of what the Source said and was not believed, from `status.doubts`. While it is the same, the Source is
    /// believed. Set by `groundplane source confirm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub confirmed: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum AdapterKind {
    /// OpenStack Ironic.
    Ironic,
    /// NVIDIA Base Command Manager.
    BCM,
    /// BMCs that speak Redfish, without a system in between.
    Redfish,
    /// NetBox.
    NetBox,
    /// A program of your own, which runs its adapter itself.
    Custom,
}

/// How changes are heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EventMode {
    /// From the system, if adapter and system can.
    Auto,
    /// Not at all: complete lists alone.
    Off,
    /// By a webhook that the system calls.
    Webhook,
}

/// How hosts are joined to the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum InventoryMode {
    /// Not at all.
    Off,
    /// To Nodes that exist.
    Match,
    /// To Nodes that exist, and Nodes and Ports are created for hosts with known hardware that match none.
    Create,
}

/// What becomes of a host that the system no longer lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MissingPolicy {
    /// It stays as it is; its condition says that it is missing.
    Keep,
    /// The same, and it is not chosen for clusters.
    Mark,
    /// The same, and it is deleted after `deleteAfter`.
    Delete,
}

/// What the synchronizer of a Source found. Written when something of it changes, and every ten minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceStatus {
    /// Conditions. `Synced` is `True` after a complete list was written; `Believed` is `False`, with the reason `NotBelieved`,
    /// while the Source says what it is not believed; `Listening` tells whether changes are heard of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// When the last complete list was written, in RFC 3339 format, to about ten minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_success: Option<String>,
    /// What the last list came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Product and version of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub system: Option<String>,
    /// What is not believed of the last list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubts: Option<Doubts>,
    /// Hosts that could not be read or written, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub errors: Vec<HostError>,
}

/// Numbers of hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Hosts that the system lists.
    #[schemars(range(min = 0))]
    pub observed: i64,
    /// Hosts that the Source owns.
    #[schemars(range(min = 0))]
    pub owned: i64,
    /// Hosts of the Source that the system does not list.
    #[schemars(range(min = 0))]
    pub missing: i64,
    /// Hosts that somebody else owns.
    #[schemars(range(min = 0))]
    pub conflicts: i64,
    /// Hosts with a field that somebody else has set to another value.
    #[schemars(range(min = 0))]
    pub drifted: i64,
    /// Hosts that could not be read or written.
    #[schemars(range(min = 0))]
    pub failed: i64,
}

/// What is not believed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Doubts {
    /// Identifies exactly this list of doubts, for `spec.confirmed`.
    #[schemars(length(max = 64))]
    pub digest: String,
    /// The reasons, with counts.
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub reasons: Vec<String>,
    /// Some of the hosts that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub hosts: Vec<String>,
}

/// A host that could not be read or written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostError {
    /// Identifier of the host.
    #[schemars(length(max = 512))]
    pub host: String,
    /// Why.
    #[schemars(length(max = 2048))]
    pub message: String,
}

impl Resource for Source {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Source";
    const PLURAL: &'static str = "sources";

    fn declare() -> Declaration<Source> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .selects(&["spec.adapter", "spec.endpoint"])
            .searches(&["spec.endpoint"])
            .prints("Adapter", "string", ".spec.adapter")
            .prints("Hosts", "integer", ".status.counts.owned")
            .prints("Missing", "integer", ".status.counts.missing")
            .prints("Synced", "string", ".status.conditions[?(@.type==\"Synced\")].status")
            .prints("Believed", "string", ".status.conditions[?(@.type==\"Believed\")].status")
            .prints_wide("Endpoint", "string", ".spec.endpoint")
            .prints_wide("LastSuccess", "date", ".status.lastSuccess")
            .prints_age()
            .names(krm::names::name_is_dns_label)
            .validate(can_be_run)
            .tells_created(&[Sentence { when: "true", says: "added source @" }])
            .tells_updated(&[Sentence {
                when: "has($.confirmed) && (!has(before.spec.confirmed) || before.spec.confirmed != $.confirmed)",
                says: "confirmed what source @ says",
            }])
    }
}

fn can_be_run(change: &Change<Source>) -> Vec<FieldError> {
    let Some(source) = change.after() else { return Vec::new() };
    let (spec, path) = (&source.spec, Path::of("spec"));
    let mut faults = Vec::new();
    if spec.inventory == Some(InventoryMode::Create) && spec.site_ref.is_none() {
        faults.push(FieldError::required(&path.field("siteRef"), "inventory: Create needs a site"));
    }
    let authority = spec.endpoint.split_once("://").map_or(spec.endpoint.as_str(), |(_, rest)| rest);
    if authority.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
        let why = "must not contain credentials: put them into the Secret of credentialsRef";
        faults.push(FieldError::forbidden(&path.field("endpoint"), why));
    }
    let enriches = path.field("enriches");
    for (at, field) in spec.enriches.iter().enumerate() {
        if !FIELDS.iter().any(|known| known.stored == field) {
            let known: Vec<&str> = FIELDS.iter().map(|field| field.stored).collect();
            let why = format!("must be one of {}", known.join(", "));
            faults.push(FieldError::invalid_text(&enriches.index(at), field, why));
        }
    }
    faults
}

impl SourceSpec {
    /// Pause between two complete lists.
    pub fn interval(&self, has_events: bool) -> Duration {
        let usual = Duration::from_secs(if has_events { 3600 } else { 300 });
        self.interval.as_deref().and_then(duration).unwrap_or(usual)
    }

    /// How long a host is missing before it is deleted.
    pub fn delete_after(&self) -> Duration {
        self.delete_after.as_deref().and_then(duration).unwrap_or(Duration::from_secs(168 * 3600))
    }

    /// A setting of the adapter.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }
}

/// A duration such as `1h30m`.
pub fn duration(text: &str) -> Option<Duration> {
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let (unit, length) = match rest {
            unit if unit.starts_with("ms") => (Duration::from_millis(1), 2),
            unit if unit.starts_with('s') => (Duration::from_secs(1), 1),
            unit if unit.starts_with('m') => (Duration::from_secs(60), 1),
            unit if unit.starts_with('h') => (Duration::from_secs(3600), 1),
            _ => return None,
        };
        total = total.checked_add(unit.checked_mul(u32::try_from(number).ok()?)?)?;
        rest = &rest[length..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        assert_eq!(duration("10s"), Some(Duration::from_secs(10)));
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(
            (duration("500ms"), duration("5"), duration("")),
            (Some(Duration::from_millis(500)), None, None)
        );
    }
}

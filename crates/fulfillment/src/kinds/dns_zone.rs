//! DNSZone: a zone of somebody's name server that the names of clusters are in.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Resource, Sealed, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{MOST_PASSWORD, SealedReference};

/// A zone that the names of clusters are in, and how records are written to it. The server only ever touches the names of
/// clusters that are placed in it. It cannot be deleted while a Hub or a cluster uses it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DnsZone {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the zone. Set by operators.
    pub spec: DnsZoneSpec,
    /// Observed state of the zone. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DnsZoneStatus>,
}

/// Specification of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DnsZoneSpec {
    /// Domain name of the zone, such as `clusters.example.org`. Immutable.
    #[schemars(length(min = 1, max = 253))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "domain is immutable"}]))]
    pub domain: String,
    /// How records are written. Defaults to `RFC2136`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<DnsProvider>,
    /// Host and port of the primary name server of the zone, such as `192.0.2.53:53`. The port defaults to 53. Needed for `RFC2136`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub server: Option<String>,
    /// Name of the TSIG key that signs changes. Needed for `RFC2136`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key_name: Option<String>,
    /// Algorithm of the TSIG key. Defaults to `hmac-sha256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_algorithm: Option<KeyAlgorithm>,
    /// Secret of the TSIG key, in base64. Write-only: it is moved into a Secret, and `keySecretRef` says where it is. At most 1024
    /// bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_secret: Option<String>,
    /// Where the secret of the key is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_secret_ref: Option<SealedReference>,
    /// Name of the program that writes records, in the folder that the server's environment names in `GROUNDPLANE_DNS_PROGRAMS`.
    /// Needed for `Program`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"))]
    pub program: Option<String>,
    /// Time to live of records, in seconds. Defaults to 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 86_400))]
    pub ttl_seconds: Option<i32>,
}

/// How records are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DnsProvider {
    /// Dynamic updates (RFC 2136), signed with TSIG.
    #[default]
    RFC2136,
    /// A program of the operator's.
    Program,
    /// Nobody: records are made by hand, and not checked.
    None,
}

/// Algorithm of a TSIG key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum KeyAlgorithm {
    /// HMAC with SHA-256.
    #[default]
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    /// HMAC with SHA-384.
    #[serde(rename = "hmac-sha384")]
    HmacSha384,
    /// HMAC with SHA-512.
    #[serde(rename = "hmac-sha512")]
    HmacSha512,
}

/// Observed state of a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DnsZoneStatus {
    /// Conditions of the zone. `Ready` is `True` if the name server answered, serves the zone and takes changes with the key when it
    /// was last checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
    /// When it was last checked, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub checked: Option<String>,
    /// What that check was of: the generation of the zone, and the request that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub checked_for: Option<String>,
}

impl Resource for DnsZone {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "DNSZone";
    const PLURAL: &'static str = "dnszones";

    fn declare() -> Declaration<DnsZone> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .seals(Sealed::at("spec.keySecret", MOST_PASSWORD))
            .selects(&["spec.domain", "spec.server"])
            .searches(&["spec.domain", "spec.server"])
            .prints("Domain", "string", ".spec.domain")
            .prints("Provider", "string", ".spec.provider")
            .prints("Server", "string", ".spec.server")
            .prints("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status")
            .prints_age()
            .validate(can_be_written)
            .tells_created(&[Sentence { when: "true", says: "added DNS zone @" }])
            .tells_updated(&[Sentence {
                when: "has($.keySecretRef) && (!has(before.spec.keySecretRef) || \
                       before.spec.keySecretRef.generation != $.keySecretRef.generation)",
                says: "replaced the key of DNS zone @",
            }])
    }
}

impl DnsZoneSpec {
    /// How records are written.
    pub fn provider(&self) -> DnsProvider {
        self.provider.unwrap_or_default()
    }
}

/// It has what its provider needs.
fn can_be_written(change: &Change<DnsZone>) -> Vec<FieldError> {
    let Some(zone) = change.after() else { return Vec::new() };
    let (spec, mut faults) = (Path::of("spec"), Vec::new());
    if let Err(invalid) = zone.spec.domain.parse::<dns::DnsName>() {
        faults.push(FieldError::invalid_text(&spec.field("domain"), &zone.spec.domain, invalid.to_string()));
    }
    if let Some(name) = &zone.spec.key_name
        && let Err(invalid) = name.parse::<dns::DnsName>()
    {
        faults.push(FieldError::invalid_text(&spec.field("keyName"), name, invalid.to_string()));
    }
    let needed = |field: &str, is_there: bool, why: &str| {
        (!is_there).then(|| FieldError::required(&spec.field(field), why.to_owned()))
    };
    match zone.spec.provider() {
        DnsProvider::RFC2136 => {
            let why = "dynamic updates need server, keyName and keySecret";
            faults.extend(needed("server", zone.spec.server.is_some(), why));
            faults.extend(needed("keyName", zone.spec.key_name.is_some(), why));
        }
        DnsProvider::Program => {
            faults.extend(needed(
                "program",
                zone.spec.program.is_some(),
                "names the program that writes records",
            ));
        }
        DnsProvider::None => {}
    }
    faults
}

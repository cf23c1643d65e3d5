//! SourceFinding: something that a source says of a host and that was not written.

use fulfillment::kinds::Host;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Missing, OnDelete, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a Source says of a host and that was not written, because somebody else owns the host or has set the field. The
/// synchronizer creates it and deletes it once it is settled; an operator settles it with `groundplane source accept`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SourceFinding {
    /// Standard object metadata. The name is `SOURCE.HOST`.
    pub metadata: Metadata,
    /// What was found. Set by the synchronizer, except `decision`.
    pub spec: SourceFindingSpec,
}

/// What a Source says of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceFindingSpec {
    /// Name of the Source.
    #[schemars(length(min = 1, max = 63))]
    pub source: String,
    /// Name of the Host.
    #[schemars(length(min = 1, max = 253))]
    pub host: String,
    /// Why nothing was written.
    pub reason: FindingReason,
    /// Who owns the host: the name of a Source. Not set for a host that was made by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub owner: Option<String>,
    /// The fields that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["field"]))]
    pub fields: Vec<FoundField>,
    /// What an operator decided. `Found` lets the Source write what it found; `Expected` keeps what is stored, for as long as the
    /// Source finds the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// Why something was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FindingReason {
    /// Another Source owns the host, or it was made by hand.
    SourceConflict,
    /// Somebody else has set the field.
    Drifted,
    /// The serial number or the MAC addresses are those of another machine.
    IdentityChanged,
    /// The host is assigned, and its class would change.
    Assigned,
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundField {
    /// Path of the field in the Host, such as `spec.rack`.
    #[schemars(length(min = 1, max = 253))]
    pub field: String,
    /// What the Source says, as text. Never a credential.
    #[schemars(length(max = 2048))]
    pub found: String,
    /// What is stored, as text.
    #[schemars(length(max = 2048))]
    pub expected: String,
    /// Who last set it: a field manager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub set_by: Option<String>,
    /// When that was, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub set_at: Option<String>,
}

/// What an operator decided about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Decision {
    /// What the Source found counts.
    Found,
    /// What is stored counts.
    Expected,
}

impl Resource for SourceFinding {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "SourceFinding";
    const PLURAL: &'static str = "sourcefindings";

    fn declare() -> Declaration<SourceFinding> {
        let host = Reference::to::<Host>("spec.host").missing(Missing::Ignore).on_delete(OnDelete::Ignore);
        Declaration::cluster()
            .planes(Planes::Root)
            .history(History::Spec)
            .refers(host.tie("found about it"))
            .selects(&["spec.source", "spec.host", "spec.reason", "spec.decision"])
            .prints("Source", "string", ".spec.source")
            .prints("Host", "string", ".spec.host")
            .prints("Reason", "string", ".spec.reason")
            .prints("Fields", "string", ".spec.fields[*].field")
            .prints("Decision", "string", ".spec.decision")
            .prints_age()
            .validate(is_named_after_both)
    }
}

impl SourceFinding {
    /// The name of what a source finds about a host.
    pub fn name_of(source: &str, host: &str) -> String {
        fulfillment::identity::name_of(&format!("{source}.{host}"))
    }

    /// A finding.
    pub fn new(spec: SourceFindingSpec) -> SourceFinding {
        let name = SourceFinding::name_of(&spec.source, &spec.host);
        SourceFinding { metadata: Metadata { name, ..Metadata::default() }, spec }
    }
}

impl SourceFindingSpec {
    /// Whether it says the same as another one, whatever was decided.
    pub fn finds_the_same(&self, other: &SourceFindingSpec) -> bool {
        (self.reason, &self.owner, &self.fields) == (other.reason, &other.owner, &other.fields)
    }
}

fn is_named_after_both(change: &Change<SourceFinding>) -> Vec<FieldError> {
    let Some(finding) = change.after() else { return Vec::new() };
    let name = SourceFinding::name_of(&finding.spec.source, &finding.spec.host);
    match name == finding.metadata.name {
        true => Vec::new(),
        false => {
            let why = format!("what source {} finds about it is named {name}", finding.spec.source);
            vec![FieldError::invalid_text(&Path::of("spec").field("host"), &finding.spec.host, why)]
        }
    }
}

//! Cluster: a Kubernetes cluster that a tenant asks for, in its project.

use std::collections::BTreeMap;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Change, Declaration, Metadata, Planes, Reference, Resource, Sealed, Sentence, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cluster_template::{ClusterTemplate, SpreadOver, TypedValue};
use crate::identity::display_name_faults;
use crate::references::{MOST_FILE, MOST_PASSWORD, SealedReference};
use crate::states::{ClusterPhase, ClusterState};
use crate::templates;

/// A Kubernetes cluster that a tenant asks for, in its project. It is made from a ClusterTemplate, on hosts of the platform. Where
/// it is hosted is not part of it: ClusterPlacements of the root say that.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Standard object metadata. The uid is the identifier of the cluster in the fulfillment API, unless `id` is set.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API that was chosen when the cluster was created: a UUID. Defaults to the uid of the
    /// object. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label. Need not be unique. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Specification of the cluster. Set by the tenant.
    pub spec: ClusterSpec,
    /// Observed state of the cluster. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ClusterStatus>,
}

/// Specification of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.template == oldSelf.template", "message": "template is immutable"},
    {"rule": "has(self.templateParameters) == has(oldSelf.templateParameters) && (!has(self.templateParameters) || self.templateParameters == oldSelf.templateParameters)", "message": "templateParameters is immutable"},
]))]
pub struct ClusterSpec {
    /// Name of the ClusterTemplate that the cluster is made from. Must exist. Immutable.
    #[schemars(length(min = 1, max = 253))]
    pub template: String,
    /// Values of the template's parameters, by name. Those that are missing get their defaults. Immutable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 256))]
    pub template_parameters: BTreeMap<String, TypedValue>,
    /// Node sets, by name. Only those of the template can be named; those that are missing when the cluster is created are as
    /// the template says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub node_sets: BTreeMap<String, ClusterNodeSet>,
    /// Name of the release that the cluster runs, one of those of its template. Defaults to the first one. Change it to upgrade the
    /// cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub release: Option<String>,
}

/// A node set of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNodeSet {
    /// Name of the HostClass of the hosts. Defaults to that of the template, and must not be another. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub host_class: Option<String>,
    /// Number of hosts. Must be more than 0 when the cluster is created.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub size: i32,
    /// Labels that the hosts must have, besides those that the template asks for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub host_selector: BTreeMap<String, String>,
    /// What the hosts are spread over, the most important first. Defaults to what the template says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub spread: Vec<SpreadOver>,
    /// Names of hosts that leave first when the node set gets smaller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100_000), extend("x-kubernetes-list-type" = "atomic"))]
    pub leave_first: Vec<String>,
}

/// Observed state of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// State of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ClusterState>,
    /// Conditions of the cluster, such as `Ready`, `Progressing`, `Failed` and `Degraded`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
    /// What is being done, such as `Provisioning` or `Upgrading`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<ClusterPhase>,
    /// Since when the cluster is in its phase, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub phase_since: Option<String>,
    /// The one thing that the cluster waits for. Not set while it waits for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub waiting_for: Option<String>,
    /// Name of the release that the cluster runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub release: Option<String>,
    /// URL of the cluster's API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub api_url: Option<String>,
    /// URL of the cluster's console.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub console_url: Option<String>,
    /// Node sets as they are, by name, with the hosts that are assigned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub node_sets: BTreeMap<String, AssignedNodeSet>,
    /// Kubeconfig of the cluster's administrator. Write-only: it is moved into a Secret of the project, and `kubeconfigRef` says
    /// where it is. At most 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// Where the kubeconfig is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig_ref: Option<SealedReference>,
    /// Password of the cluster's administrator. Write-only: it is moved into a Secret of the project, and `passwordRef` says
    /// where it is. At most 1024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Where the password is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_ref: Option<SealedReference>,
}

/// A node set of a cluster, with its hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignedNodeSet {
    /// Name of the HostClass of the hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub host_class: Option<String>,
    /// Number of hosts that are part of the cluster.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub size: i32,
    /// Names of the hosts that are assigned, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100_000), extend("x-kubernetes-list-type" = "atomic"))]
    pub hosts: Vec<String>,
    /// Number of hosts that are installed.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    pub installed: i32,
    /// How far each host is that is not installed yet, as `HOST: PHASE`, at most 32 of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), extend("x-kubernetes-list-type" = "atomic"))]
    pub progress: Vec<String>,
}

impl Resource for Cluster {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Cluster";
    const PLURAL: &'static str = "clusters";

    fn declare() -> Declaration<Cluster> {
        let template = Reference::to::<ClusterTemplate>("spec.template").shared();
        Declaration::cluster()
            .names_creator(crate::CREATOR)
            .planes(Planes::Project)
            .categories(&["fulfillment"])
            .status()
            .seals(Sealed::at("status.kubeconfig", MOST_FILE))
            .seals(Sealed::at("status.password", MOST_PASSWORD))
            .refers(template.tie("made from it"))
            .selects(&["id", "displayName", "spec.template", "status.state"])
            .searches(&["id", "displayName", "status.apiUrl"])
            .prints("DisplayName", "string", ".displayName")
            .prints("Template", "string", ".spec.template")
            .prints("State", "string", ".status.state")
            .prints("Phase", "string", ".status.phase")
            .prints("APIURL", "string", ".status.apiUrl")
            .prints("ConsoleURL", "string", ".status.consoleUrl")
            .prints_age()
            .validate(keeps_what_it_is)
            .rule(is_as_its_template_allows)
            .tells_created(&[Sentence {
                when: "true",
                says: "asked for cluster @ from template {{ $.template }}",
            }])
            .tells_updated(&[Sentence {
                when: "has($.nodeSets) && (!has(before.spec.nodeSets) || before.spec.nodeSets != $.nodeSets)",
                says: "changed the node sets of cluster @",
            }, Sentence {
                when: "has($.release) && (!has(before.spec.release) || before.spec.release != $.release)",
                says: "set the release of cluster @ to {{ $.release }}",
            }])
    }
}

impl Cluster {
    /// Identifier in the fulfillment API.
    pub fn identifier(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.metadata.uid)
    }
}

/// What a change of a cluster must leave as it is.
fn keeps_what_it_is(change: &Change<Cluster>) -> Vec<FieldError> {
    let Some(after) = change.after() else { return Vec::new() };
    let mut faults = display_name_faults(after.display_name.as_deref());
    let spec = Path::of("spec");
    let sets = spec.field("nodeSets");
    let Some(before) = change.before() else {
        for (name, _) in after.spec.node_sets.iter().filter(|(_, set)| set.size == 0) {
            let path = sets.key(name);
            faults.push(FieldError::invalid(&path.field("size"), &0.into(), "must be greater than 0"));
        }
        return faults;
    };
    if after.spec.node_sets.is_empty() && !before.spec.node_sets.is_empty() {
        faults.push(FieldError::required(&sets, "a cluster keeps at least one node set"));
    }
    for (name, set) in &after.spec.node_sets {
        let was = before.spec.node_sets.get(name).and_then(|set| set.host_class.as_ref());
        if was.is_some() && was != set.host_class.as_ref() {
            let path = sets.key(name);
            let given = set.host_class.as_deref().unwrap_or_default();
            faults.push(FieldError::invalid_text(
                &path.field("hostClass"),
                given,
                "the host class is immutable",
            ));
        }
    }
    faults
}

/// Parameters and node sets are those of the template. What a cluster already has it may keep, whatever became of the template.
fn is_as_its_template_allows(change: &Change<Cluster>, view: &mut View<'_>) -> Verdict {
    let Some(cluster) = change.after() else { return allow() };
    let is_as_before = |before: &Cluster| {
        before.spec.node_sets.keys().eq(cluster.spec.node_sets.keys())
            && before.spec.release == cluster.spec.release
    };
    if change.before().is_some_and(is_as_before) {
        return allow();
    }
    let Some(template) = view.root().get::<ClusterTemplate>(&cluster.spec.template) else { return allow() };
    let known = change.before().map(|before| &before.spec);
    match templates::faults(&cluster.spec, known, &template) {
        faults if faults.is_empty() => allow(),
        faults => Err(krm::kind::Refusal::Invalid(faults)),
    }
}

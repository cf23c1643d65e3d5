//! ClusterTemplate: what tenants can choose when they ask for a cluster.

use std::collections::{BTreeMap, BTreeSet};

use krm::field::{FieldError, Path};
use krm::kind::{Bucket, Change, Declaration, Metadata, Planes, Resource, Sentence, Verdict, View, allow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::host_class::HostClass;
use crate::identity;

/// Bucket of the templates with node sets of a host class, by the name of the class.
pub const OF_CLASS: Bucket = Bucket::new("fulfillment.groundplane.dev/templates-of-class");

/// What tenants can choose when they ask for a cluster: parameters, and node sets with their host classes and sizes. Its fields
/// are not below `spec`: they are those of the ClusterTemplate of the fulfillment API. It cannot be deleted while a Cluster
/// uses it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterTemplate {
    /// Standard object metadata. The name is the identifier of the template in the fulfillment API, if that is a DNS name.
    pub metadata: Metadata,
    /// Identifier in the fulfillment API, if it is not a DNS name, such as `ocp_4_17_small`. The object is then named after it:
    /// the server says how. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "id is immutable"}]))]
    pub id: Option<String>,
    /// Name in the fulfillment API, a DNS label. Need not be unique. Defaults to the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub display_name: Option<String>,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub title: Option<String>,
    /// Description for people, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub description: Option<String>,
    /// Parameters that a cluster may set. Names are unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub parameters: Vec<ParameterDefinition>,
    /// Node sets of the clusters, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub node_sets: BTreeMap<String, TemplateNodeSet>,
    /// Releases that clusters can run, the newest first. A cluster that names none gets the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub releases: Vec<Release>,
}

/// A release that clusters can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Release {
    /// Name of the release, such as `4.19.18`. Unique in the template.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Image of the release, such as `quay.io/openshift-release-dev/ocp-release:4.19.18-x86_64`; for hosts that Ironic deploys,
    /// the URL of a disk image.
    #[schemars(length(min = 1, max = 2048))]
    pub image: String,
}

/// A parameter of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterDefinition {
    /// Name of the parameter.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub title: Option<String>,
    /// Description for people, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub description: Option<String>,
    /// Whether a cluster must set the parameter. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Type of the values, as a type URL, such as `type.googleapis.com/google.protobuf.Int32Value`.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    #[schemars(length(min = 1, max = 253))]
    pub kind: Option<String>,
    /// Value that a cluster gets which does not set the parameter. Must be of the type of the parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<TypedValue>,
}

/// A value with its type, as `google.protobuf.Any` is written in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct TypedValue {
    /// Type of the value, as a type URL, such as `type.googleapis.com/google.protobuf.StringValue`.
    #[serde(rename = "@type")]
    #[schemars(length(min = 1, max = 253))]
    pub kind: String,
    /// Fields of the value. Wrapper types, such as StringValue, have the one field `value`.
    #[serde(flatten)]
    pub fields: BTreeMap<String, Value>,
}

/// A node set of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateNodeSet {
    /// Name of the HostClass of the hosts. Must exist.
    #[schemars(length(min = 1, max = 253))]
    pub host_class: String,
    /// Number of hosts, if the cluster does not say.
    #[schemars(range(min = 0, max = 100_000))]
    pub size: i32,
    /// Labels that the hosts must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 64))]
    pub host_selector: BTreeMap<String, String>,
    /// What the hosts are spread over, the most important first. Hosts are chosen so that the loss of one rack or power feed takes
    /// as few of them as possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2), extend("x-kubernetes-list-type" = "atomic"))]
    pub spread: Vec<SpreadOver>,
}

/// What the hosts of a node set are spread over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum SpreadOver {
    /// Racks.
    Rack,
    /// Power feeds.
    Feed,
}

impl Resource for ClusterTemplate {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ClusterTemplate";
    const PLURAL: &'static str = "clustertemplates";

    fn declare() -> Declaration<ClusterTemplate> {
        Declaration::cluster()
            .names_creator(crate::CREATOR)
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .selects(&["id", "displayName", "title"])
            .searches(&["id", "displayName", "title"])
            .prints("DisplayName", "string", ".displayName")
            .prints("Title", "string", ".title")
            .prints_age()
            .bucket(OF_CLASS, |template: &ClusterTemplate| template.classes().into_iter().collect())
            .validate(makes_sense)
            .rule(has_known_classes)
            .tells_created(&[Sentence { when: "true", says: "added cluster template @" }])
    }
}

impl ClusterTemplate {
    /// The release that a cluster runs: the one that it names, or the first.
    pub fn release(&self, named: Option<&str>) -> Option<&Release> {
        match named {
            Some(name) => self.releases.iter().find(|release| release.name == name),
            None => self.releases.first(),
        }
    }

    /// The host classes of its node sets.
    fn classes(&self) -> BTreeSet<String> {
        self.node_sets.values().map(|set| set.host_class.clone()).collect()
    }
}

/// Its identity is one, its parameters are told apart, and their defaults are of their types.
fn makes_sense(change: &Change<ClusterTemplate>) -> Vec<FieldError> {
    let Some(template) = change.after() else { return Vec::new() };
    let (id, named) = (template.id.as_deref(), template.display_name.as_deref());
    let mut faults = identity::faults(&template.metadata, id, named);
    let (parameters, mut seen) = (Path::of("parameters"), BTreeSet::new());
    for (index, parameter) in template.parameters.iter().enumerate() {
        let at = parameters.index(index);
        if !seen.insert(&parameter.name) {
            faults.push(FieldError::duplicate(&at.field("name"), &Value::from(parameter.name.as_str())));
        }
        let given = parameter.default.as_ref().map(|default| default.kind.as_str());
        if let (Some(given), Some(kind)) = (given, parameter.kind.as_deref())
            && given != kind
        {
            let default = at.field("default");
            faults.push(FieldError::invalid_text(&default.field("@type"), given, format!("must be {kind}")));
        }
    }
    let (releases, mut seen) = (Path::of("releases"), BTreeSet::new());
    for (index, release) in template.releases.iter().enumerate() {
        if !seen.insert(&release.name) {
            let at = releases.index(index);
            faults.push(FieldError::duplicate(&at.field("name"), &Value::from(release.name.as_str())));
        }
    }
    let sets = Path::of("nodeSets");
    for name in template.node_sets.keys() {
        let wrong = krm::names::dns1123_label(name).into_iter();
        faults.extend(wrong.map(|why| FieldError::invalid_text(&sets.key(name), name, why)));
    }
    faults
}

/// The host classes of a template exist.
fn has_known_classes(change: &Change<ClusterTemplate>, view: &mut View<'_>) -> Verdict {
    let Some(template) = change.after() else { return allow() };
    let known = change.before().map(ClusterTemplate::classes).unwrap_or_default();
    for (name, set) in template.node_sets.iter().filter(|(_, set)| !known.contains(&set.host_class)) {
        if !view.exists::<HostClass>("", &set.host_class) {
            let sets = Path::of("nodeSets");
            let path = sets.key(name);
            let why = "there is no HostClass of this name";
            return Err(FieldError::invalid_text(&path.field("hostClass"), &set.host_class, why).into());
        }
    }
    allow()
}

//! BootAction: files, systemd units and packages that are installed on nodes when they are deployed.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// Files, systemd units and packages that are installed on the selected nodes when they are deployed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BootAction {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the boot action document. Set by users or "groundplane design import".
    pub spec: BootActionSpec,
}

/// Content of a boot action document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BootActionSpec {
    /// Whether the node reports the result. Defaults to true.
    pub signaling: Option<bool>,
    /// Assets to install, in this order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub assets: Option<Vec<Asset>>,
    /// Selects the nodes. Unset means all nodes.
    pub node_filter: Option<NodeFilter>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// An asset that is installed on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asset {
    /// Type of asset: `unit` (systemd unit), `file` or `pkg_list` (packages).
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Absolute path of the file on the node.
    pub path: Option<String>,
    /// URL that the content is fetched from. Alternative to `data`.
    pub location: Option<String>,
    /// Inline content. Alternative to `location`.
    pub data: Option<String>,
    /// For a `pkg_list`: packages by name, with their version. An empty version means any.
    pub packages: Option<BTreeMap<String, Option<String>>>,
    /// Transformations applied to `location` before it is fetched, in order: `template`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub location_pipeline: Option<Vec<String>>,
    /// Transformations applied to the content, in order: `base64_encode`, `base64_decode`, `utf8_encode`, `utf8_decode` or
    /// `template`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub data_pipeline: Option<Vec<String>>,
    /// File mode in octal, such as `0644`.
    pub permissions: Option<String>,
}

/// Selects nodes by several sets of criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFilter {
    /// How the results of the sets are combined: `intersection` or `union`.
    pub filter_set_type: Option<String>,
    /// Sets of criteria. Each selects nodes; `filter_set_type` combines them.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub filter_set: Option<Vec<Criteria>>,
}

/// A set of criteria for nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Criteria {
    /// How the criteria of the set are combined: `intersection` or `union`.
    pub filter_type: Option<String>,
    /// Matches nodes with one of these names.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub node_names: Option<Vec<String>>,
    /// Matches nodes with one of these tags.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub node_tags: Option<Vec<String>>,
    /// Matches nodes with one of these labels (`owner_data`).
    pub node_labels: Option<BTreeMap<String, String>>,
    /// Matches nodes in one of these racks.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub rack_names: Option<Vec<String>>,
    /// Matches nodes in racks with these labels.
    pub rack_labels: Option<BTreeMap<String, String>>,
}

impl Resource for BootAction {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "BootAction";
    const PLURAL: &'static str = "bootactions";

    fn declare() -> Declaration<BootAction> {
        document().searches(&["spec.assets"]).prints("Assets", "string", ".spec.assets[*].path").prints_age()
    }
}

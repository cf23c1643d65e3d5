//! BootAction: files, units and packages that a node gets when it is deployed.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// What is put on nodes when they are deployed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BootAction {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: BootActionSpec,
}

/// What is put where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BootActionSpec {
    /// Whether the node reports how it went; it does unless said.
    pub signaling: Option<bool>,
    /// What is put there, in order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub assets: Option<Vec<Asset>>,
    /// Which nodes; all unless said.
    pub node_filter: Option<NodeFilter>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// One thing put on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asset {
    /// `unit`, `file` or `pkg_list`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Where it goes.
    pub path: Option<String>,
    /// Where it is fetched from.
    pub location: Option<String>,
    /// Its content.
    pub data: Option<String>,
    /// Of a `pkg_list`: packages and their versions; a version left empty is any.
    pub packages: Option<BTreeMap<String, Option<String>>>,
    /// What becomes of the location before it is fetched.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub location_pipeline: Option<Vec<String>>,
    /// What becomes of the content.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub data_pipeline: Option<Vec<String>>,
    /// Its mode, in octal.
    pub permissions: Option<String>,
}

/// Several criteria and how their answers are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeFilter {
    /// `intersection` or `union`.
    pub filter_set_type: Option<String>,
    /// The criteria.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub filter_set: Option<Vec<Criteria>>,
}

/// What is asked of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Criteria {
    /// `intersection` or `union`.
    pub filter_type: Option<String>,
    /// It has one of these names.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub node_names: Option<Vec<String>>,
    /// It has one of these tags.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub node_tags: Option<Vec<String>>,
    /// It has one of these labels.
    pub node_labels: Option<BTreeMap<String, String>>,
    /// It stands in one of these racks.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub rack_names: Option<Vec<String>>,
    /// Its rack has these labels.
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

//! Node filters of tasks: which nodes of a design a task is about.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Selects nodes of a design. Without a filter, all nodes are selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeFilter {
    /// How the filters of the set are joined: a node must be selected by all of them, or by one.
    pub filter_set_type: Join,
    /// The filters. An empty set selects no node.
    #[serde(default)]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub filter_set: Vec<Criteria>,
}

/// How answers are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Join {
    /// All must hold.
    Intersection,
    /// One must hold.
    Union,
}

/// One filter. Criteria that are empty are not asked; a filter without any selects no node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Criteria {
    /// How the criteria of this filter are joined.
    pub filter_type: Join,
    /// Names of nodes. A node matches if it has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "atomic"))]
    pub node_names: Vec<String>,
    /// Tags. A node matches if it has one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub node_tags: Vec<String>,
    /// Labels (`owner_data` of the design). A node matches an `intersection` if it has all of them, and a `union` if it has
    /// one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_labels: BTreeMap<String, String>,
    /// Names of racks. A node matches if it is in one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "atomic"))]
    pub rack_names: Vec<String>,
    /// Labels of racks. Racks of a design have no labels, so this is accepted for existing clients and not asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rack_labels: BTreeMap<String, String>,
}

impl NodeFilter {
    /// Selects nodes by name.
    pub fn of_names(names: Vec<String>) -> NodeFilter {
        let criteria = Criteria {
            filter_type: Join::Union,
            node_names: names,
            node_tags: Vec::new(),
            node_labels: BTreeMap::new(),
            rack_names: Vec::new(),
            rack_labels: BTreeMap::new(),
        };
        NodeFilter { filter_set_type: Join::Intersection, filter_set: vec![criteria] }
    }
}

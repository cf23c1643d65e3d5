//! Placements of a workload: where its instances run, and how many.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LocationRef;
use super::quantity::int_or_string;

/// Where instances run, and how many in each place. Exactly one of `cityCodes`, `locations` and `locationSelector` is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Name of the placement, a DNS label. Unique within the workload.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Cities, by IATA code such as `DFW`. Each has one WorkloadDeployment. A city must be that of a location that is
    /// available to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub city_codes: Vec<String>,
    /// Locations by name. Each has one WorkloadDeployment. It must be available to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub locations: Vec<LocationRef>,
    /// Selects locations by their topology, such as `topology.datum.net/region`. Locations that become available later are
    /// selected too. Must select at least one when it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location_selector: Option<LocationSelector>,
    /// Number of instances in each place.
    pub scale_settings: ScaleSettings,
}

/// A selector over the topology of locations. All requirements must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationSelector {
    /// Keys of the topology with the value that they must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 32))]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub match_expressions: Vec<SelectorRequirement>,
}

impl LocationSelector {
    /// Whether it requires nothing.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

/// A requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectorRequirement {
    /// Key of the topology.
    #[schemars(length(min = 1, max = 316))]
    pub key: String,
    /// How the key and the values are related: `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[schemars(extend("enum" = ["In", "NotIn", "Exists", "DoesNotExist"]))]
    pub operator: String,
    /// Values. Required with `In` and `NotIn`, and empty with the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub values: Vec<String>,
}

/// Number of instances, fixed or between two bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScaleSettings {
    /// Least number of instances, 1 to 1000. Without `maxReplicas`, it is the number of instances.
    pub min_replicas: i32,
    /// Most instances that autoscaling may start. At least `minReplicas`. Needs `metrics`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
    /// What autoscaling goes by. Required with `maxReplicas`, and not allowed without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub metrics: Vec<Metric>,
    /// `OrderedReady` starts instances one after another, each once those before it are ready. `Parallel` starts and stops
    /// them all at once. Either way, updates replace one instance at a time. Defaults to `OrderedReady`.
    #[serde(default)]
    pub instance_management_policy: ManagementPolicy,
}

/// In which order instances are started and stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum ManagementPolicy {
    /// One after another.
    #[default]
    OrderedReady,
    /// All at once.
    Parallel,
}

/// What autoscaling goes by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Usage of a resource by the instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceMetric>,
}

/// Usage of a resource, and the usage to keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceMetric {
    /// The resource: `cpu`.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The usage to keep.
    pub target: MetricTarget,
}

/// The usage to keep. Exactly one field is set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricTarget {
    /// Usage of all instances together, as a Kubernetes quantity. Greater than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_string")]
    pub value: Option<Value>,
    /// Average usage of an instance, as a Kubernetes quantity. Greater than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_string")]
    pub average_value: Option<Value>,
    /// Average usage of an instance, in percent of what its type has. At least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_utilization: Option<i32>,
}

//! BuildData: what was found on a node or came of a step, as it was built.

use krm::kind::{Declaration, History, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A record of a node as it was built: what lshw and lldpd saw, the output of commissioning and deployment scripts, the
/// intended state of switch ports. Records are written by tasks and go by age and size.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BuildData {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// The record. Immutable.
    pub spec: BuildDataSpec,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildDataSpec {
    /// Name of the node in the design.
    #[schemars(length(min = 1, max = 253))]
    pub node: String,
    /// Name of the task that collected it, in the same namespace.
    #[schemars(length(max = 253))]
    pub task: String,
    /// What made it: `lshw`, `lldp`, `commission:<script>`, `testing:<script>`, `deploy:<script>`, `network:ports`.
    #[schemars(length(min = 1, max = 256))]
    pub generator: String,
    /// Media type of the data, such as `text/xml`.
    #[schemars(length(max = 127))]
    pub format: String,
    /// When it was collected, in RFC 3339 format.
    #[schemars(length(max = 64))]
    pub collected_at: String,
    /// The data. At most 1 MiB; what is longer is cut at its end, and `truncated` is true.
    #[schemars(length(max = 1048576))]
    pub data: String,
    /// Whether the data was longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Resource for BuildData {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "BuildData";
    const PLURAL: &'static str = "builddata";

    fn declare() -> Declaration<BuildData> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["orchestration"])
            .history(History::None)
            .selects(&["spec.node", "spec.task", "spec.generator"])
            .prints("Node", "string", ".spec.node")
            .prints("Generator", "string", ".spec.generator")
            .prints("Task", "string", ".spec.task")
            .prints("Collected", "string", ".spec.collectedAt")
            .prints_age()
    }
}

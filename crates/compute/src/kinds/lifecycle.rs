//! The lifecycle of an entry of the catalog, which goes one way.

use krm::field::{FieldError, Path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// How long an entry of the catalog is offered.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// `Active`, `Deprecated` or `Disabled`. It only goes forward. Defaults to `Active`.
    #[serde(default)]
    pub phase: LifecyclePhase,
    /// Name of the entry to use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub replacement: Option<String>,
    /// Name of the InstanceType to use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub replacement_instance_type: Option<String>,
}

/// Whether an entry of the catalog is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
pub enum LifecyclePhase {
    /// Offered.
    #[default]
    Active,
    /// Offered, but to be replaced.
    Deprecated,
    /// No longer offered.
    Disabled,
}

/// The error of a phase that is taken back.
pub fn goes_forward(before: &Lifecycle, after: &Lifecycle) -> Vec<FieldError> {
    if after.phase >= before.phase {
        return Vec::new();
    }
    let spec = Path::of("spec");
    let lifecycle = spec.field("lifecycle");
    let why = format!("a phase only goes forward, and it is {:?}", before.phase);
    vec![FieldError::invalid(&lifecycle.field("phase"), &json!(after.phase), why)]
}

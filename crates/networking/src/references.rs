//! References of the networking kinds, as their fields have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An object of the same namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalReference {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

impl LocalReference {
    /// A reference to this name.
    pub fn to(name: &str) -> LocalReference {
        LocalReference { name: name.to_owned() }
    }
}

/// A network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkReference {
    /// Name of the Network.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Namespace of the Network. Must be the namespace of the referring object, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// A location that is available to the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocationReference {
    /// Name of the LocationBinding of the project, which is the name of the Location.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Accepted for manifests of namespaced locations, and ignored: locations have no namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// An object with its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedReference {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the object.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
}

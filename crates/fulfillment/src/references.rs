//! References of the fulfillment kinds, as their fields have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An object by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NameReference {
    /// Name of the object. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Longest password that is sealed, in bytes.
pub const MOST_PASSWORD: usize = 1024;
/// Longest kubeconfig or pull secret that is sealed, in bytes.
pub const MOST_FILE: usize = 256 << 10;

/// Where a value is kept that was sent inline: a key of a Secret. Set by the server. To change the value, send a new one;
/// to remove it, remove the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SealedReference {
    /// Name of the Secret, in the namespace `groundplane-sealed`.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key of the value in the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Number of times that the value was changed. A value that is sent again unchanged does not count.
    #[schemars(range(min = 1))]
    pub generation: i64,
}

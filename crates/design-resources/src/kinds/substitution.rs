//! Substitutions: values copied from one document to another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value copied from another document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Substitution {
    /// Document and path that the value is copied from.
    pub src: Source,
    /// Destination in this document, or a list of destinations, each `{path, pattern, recurse}`.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub dest: Value,
}

/// Source of a substitution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Schema of the source document, as `namespace/Kind/version`. Must not be empty.
    #[schemars(length(min = 1))]
    pub schema: String,
    /// Name of the source document. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Path of the value in the source document; `.` selects the whole document.
    pub path: String,
    /// Regular expression: only the part of a string value that matches is copied.
    pub pattern: Option<String>,
    /// Capture group of `pattern` to copy. Defaults to 0, the whole match.
    pub match_group: Option<i64>,
}

/// A secret value of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretValue {
    /// Path of the value in the document's data, as field names after slashes: `/repositories/sources/main/url`. Members of
    /// lists go by their name, or by their number from 0.
    pub path: String,
    /// Name of the Secret, in the same namespace. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Key in the Secret's data. Must not be empty.
    #[schemars(length(min = 1))]
    pub key: String,
}

/// Reference to a key of a Secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretKey {
    /// Name of the Secret, in the same namespace. Must not be empty.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Key in the Secret's data. Must not be empty.
    #[schemars(length(min = 1))]
    pub key: String,
}

//! Substitutions: values that a document takes from another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value that is copied from another document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Substitution {
    /// Where it comes from.
    pub src: Source,
    /// Where it goes: one place, or a list of them, each `{path, pattern, recurse}`.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub dest: Value,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The kind of the document, as `namespace/Kind/version`.
    #[schemars(length(min = 1))]
    pub schema: String,
    /// The document's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Where in it the value stands; `.` is all of it.
    pub path: String,
    /// Of a text, what matches this.
    pub pattern: Option<String>,
    /// Of what matches, this group.
    pub match_group: Option<i64>,
}

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretKey {
    /// The Secret, in the same namespace.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The key in it.
    #[schemars(length(min = 1))]
    pub key: String,
}

//! How a document gets values from others before the design is compiled: layers, substitutions and Secrets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::substitution::{SecretValue, Substitution};

/// How a document gets values from other documents and from Secrets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Composition {
    /// Values copied from other documents before the design is compiled (Deckhand substitutions).
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
    /// Layer of the document and how it changes its parent in a more general layer. Rendered in the order of `spec.layers` of
    /// the Design.
    pub layering: Option<Layering>,
    /// Secret values of the document, such as private keys and URLs with passwords. Each is stored in a Secret.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["path"]))]
    pub secret_values: Option<Vec<SecretValue>>,
}

/// Layer of a document (Deckhand layering).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Layering {
    /// Name of the layer. Must be one of `spec.layers` of the Design.
    pub layer: Option<String>,
    /// Whether the document exists only as a parent of others. Defaults to false.
    pub r#abstract: Option<bool>,
    /// Whether the document takes the place of its parent, which has the same name. Defaults to false.
    pub replacement: Option<bool>,
    /// Labels that `parent_selector` of other documents matches.
    pub labels: Option<BTreeMap<String, String>>,
    /// Labels of the parent. The parent must be in a more general layer.
    pub parent_selector: Option<BTreeMap<String, String>>,
    /// Changes that make this document out of its parent, in order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub actions: Option<Vec<LayeringAction>>,
}

/// A change of the data of the parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayeringAction {
    /// Kind of change: `merge`, `replace` or `delete`.
    pub method: String,
    /// Path of the changed value; `.` is all of it.
    pub path: String,
}

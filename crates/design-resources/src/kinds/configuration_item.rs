//! ConfigurationItem: a document of a kind that is not about bootstrapping, defined by its users.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::substitution::{SecretKey, Substitution};

/// A document of a kind that users define.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationItem {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: ConfigurationItemSpec,
}

/// What the document is, and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationItemSpec {
    /// Its kind, as `namespace/Kind/version`. A `deckhand/DataSchema/v1` named so is the schema of its data.
    #[schemars(regex(pattern = r"^[^/\s]+/[^/\s]+/[^/\s]+$"))]
    pub schema: String,
    /// Its name among the documents of its kind; that of the object unless said.
    pub name: Option<String>,
    /// What it holds.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub data: Option<Value>,
    /// The Secret that holds it instead, as YAML.
    pub data_secret: Option<SecretKey>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

impl Resource for ConfigurationItem {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "ConfigurationItem";
    const PLURAL: &'static str = "configurationitems";

    fn declare() -> Declaration<ConfigurationItem> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .categories(&["design"])
            .short(&["ci"])
            .names(krm::names::name_is_path_segment)
            .selects(&["spec.schema", "spec.name"])
            .searches(&["spec.schema", "spec.name"])
            .prints("Schema", "string", ".spec.schema")
            .prints("Document", "string", ".spec.name")
            .prints_age()
    }
}

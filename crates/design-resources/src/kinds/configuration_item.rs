//! ConfigurationItem: a document of a user-defined schema.

use krm::kind::{Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::composition::Composition;
use super::substitution::SecretKey;

/// A document of a user-defined schema. It is validated against the DataSchema document of that schema, if there is one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationItem {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the document. Set by users or "groundplane design import".
    pub spec: ConfigurationItemSpec,
}

/// Schema and data of the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationItemSpec {
    /// Schema of the document, as `namespace/Kind/version`. A `deckhand/DataSchema/v1` document with this name is the JSON
    /// schema of its data.
    #[schemars(regex(pattern = r"^[^/\s]+/[^/\s]+/[^/\s]+$"))]
    pub schema: String,
    /// Name of the document. Defaults to the name of the object.
    pub name: Option<String>,
    /// Data of the document: any YAML value. Mutually exclusive with `data_secret`.
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub data: Option<Value>,
    /// Secret that holds the data, as YAML, instead of `data`.
    pub data_secret: Option<SecretKey>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
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
            .validate_raw(super::readable::validate_item)
            .selects(&["spec.schema", "spec.name"])
            .searches(&["spec.schema", "spec.name"])
            .prints("Schema", "string", ".spec.schema")
            .prints("Document", "string", ".spec.name")
            .prints_age()
    }
}

//! One version of a kind: its schema in compiled forms, its columns and its subresources.

use serde_json::Value;

use crate::cel::Rules;
use crate::patch::strategic::Layout;
use crate::schema::{Schema, SchemaError};
use crate::shape::Published;
use crate::table::Columns;

/// One version of a kind.
pub struct Version {
    /// `v1alpha1`.
    pub name: String,
    /// Whether requests may use it.
    pub served: bool,
    /// Warning for clients that use this deprecated version; empty for the default warning.
    pub deprecated: Option<String>,
    /// Its schema as it was given, for OpenAPI.
    pub openapi: Value,
    /// Its schema as Kubernetes publishes it, types within it apart; only Kubernetes' own kinds have one.
    pub published: Option<Published>,
    /// Its schema, to default, prune and validate by.
    pub schema: Schema,
    /// The rules in its schema, ready to run.
    pub rules: Rules,
    /// Its schema, to apply strategic merge patches by; only Kubernetes' own kinds have one.
    pub layout: Option<Layout>,
    /// What a table of its objects shows.
    pub columns: Columns,
    /// The fields that a field selector may name, besides name and namespace.
    pub selectable: Vec<String>,
    /// Its subresources.
    pub subresources: Vec<Subresource>,
    /// Objects written before this version of the store may not be as the schema now has it.
    pub since: u64,
}

/// A part of an object with a path of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subresource {
    /// What is observed, written apart from what is wanted.
    Status,
    /// How many there are to be, in a form common to all kinds.
    Scale(Scale),
}

/// Where a kind keeps what a Scale shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The number that is wanted: `.spec.replicas`.
    pub spec_replicas: String,
    /// The number that is there: `.status.replicas`.
    pub status_replicas: String,
    /// Which objects are counted: `.status.selector`.
    pub selector: Option<String>,
}

impl Version {
    /// A served version with this schema and nothing else.
    pub fn new(name: &str, openapi: Value) -> Result<Version, SchemaError> {
        let rules = Rules::compile(&openapi).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            SchemaError::Rule(errors.join(", "))
        })?;
        Ok(Version {
            name: name.to_owned(),
            rules,
            served: true,
            deprecated: None,
            schema: Schema::parse(&openapi)?,
            openapi,
            published: None,
            layout: None,
            columns: Columns::of_custom_resource(&[]),
            selectable: Vec::new(),
            subresources: Vec::new(),
            since: 0,
        })
    }

    /// Whether status is written apart.
    pub fn has_status(&self) -> bool {
        self.subresources.contains(&Subresource::Status)
    }

    /// Where the numbers of a Scale are kept.
    pub fn scale(&self) -> Option<&Scale> {
        self.subresources.iter().find_map(|sub| match sub {
            Subresource::Scale(scale) => Some(scale),
            Subresource::Status => None,
        })
    }
}

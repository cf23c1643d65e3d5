//! Region: site-wide settings. A design has exactly one.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// Site-wide settings: SSH keys, package repositories and hardware tags. A design has exactly one Region document.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the site document. Set by users or "groundplane design import".
    pub spec: RegionSpec,
}

/// Content of a region document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegionSpec {
    /// Tags that are assigned to hosts by a query over their hardware.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tag_definitions: Option<Vec<TagDefinition>>,
    /// SSH public keys that are authorized on every host.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub authorized_keys: Option<Vec<String>>,
    /// Package repositories of the site.
    pub repositories: Option<Repositories>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// A tag and the hardware query that assigns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TagDefinition {
    /// Name of the tag that matching hosts get.
    pub tag: Option<String>,
    /// Type of query. Must be `lshw_xpath`.
    pub definition_type: Option<String>,
    /// Query: an XPath expression over the output of lshw.
    pub definition: Option<String>,
}

/// The package repositories of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repositories {
    /// Whether to remove repositories of the image that are not listed here. Defaults to false.
    pub remove_unlisted: Option<bool>,
    /// Package repositories. Names are unique.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sources: Option<Vec<Repository>>,
}

/// A package repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repository {
    /// Name of the repository, unique within the site.
    pub name: String,
    /// Type of repository: `apt` or `rpm`.
    pub repo_type: Option<String>,
    /// Base URL of the repository.
    pub url: Option<String>,
    /// Distributions that the repository serves, such as `jammy`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub distributions: Option<Vec<String>>,
    /// Sub-repositories (pockets), such as `security` or `updates`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub subrepos: Option<Vec<String>>,
    /// Components, such as `main` or `universe`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub components: Option<Vec<String>>,
    /// GPG public key that signs the packages.
    pub gpgkey: Option<String>,
    /// CPU architectures that the repository serves, such as `amd64`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub arches: Option<Vec<String>>,
    /// Additional options of the package manager, as key-value pairs.
    pub options: Option<BTreeMap<String, String>>,
}

impl Resource for Region {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Region";
    const PLURAL: &'static str = "regions";

    fn declare() -> Declaration<Region> {
        document().prints("Repositories", "string", ".spec.repositories.sources[*].name").prints_age()
    }
}

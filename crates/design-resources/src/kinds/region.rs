//! Region: the site itself. A design has one.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// The site itself: who may log in, where packages come from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: RegionSpec,
}

/// What holds for the whole site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegionSpec {
    /// Tags that hardware earns by what it is.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tag_definitions: Option<Vec<TagDefinition>>,
    /// SSH public keys of those who may log in.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub authorized_keys: Option<Vec<String>>,
    /// Where packages come from.
    pub repositories: Option<Repositories>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// A tag and the question that earns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TagDefinition {
    /// The tag.
    pub tag: Option<String>,
    /// How it is asked: `lshw_xpath`.
    pub definition_type: Option<String>,
    /// The question.
    pub definition: Option<String>,
}

/// The package repositories of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repositories {
    /// Whether repositories that are not named here are taken away.
    pub remove_unlisted: Option<bool>,
    /// The repositories.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sources: Option<Vec<Repository>>,
}

/// One package repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// `apt` or `rpm`.
    pub repo_type: Option<String>,
    /// Where it is.
    pub url: Option<String>,
    /// The distributions it serves.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub distributions: Option<Vec<String>>,
    /// Pockets such as `security`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub subrepos: Option<Vec<String>>,
    /// Components such as `main`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub components: Option<Vec<String>>,
    /// The key its packages are signed with.
    pub gpgkey: Option<String>,
    /// Architectures it serves.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub arches: Option<Vec<String>>,
    /// Anything else the package tool takes.
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

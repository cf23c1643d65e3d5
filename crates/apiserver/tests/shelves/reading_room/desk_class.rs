//! Classes of desks, as a catalog in the root. A class counts how many of its desks are taken, where that is limited.

use krm::kind::{Counter, Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desks of a class that are taken.
pub const TAKEN: Counter<DeskClass> = Counter::at("status.taken");

/// A class of desks.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DeskClass {
    pub metadata: Metadata,
    pub spec: DeskClassSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DeskClassStatus>,
}

/// What there may be of a class.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DeskClassSpec {
    /// How many desks may be taken at once. Defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What is taken of a class.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct DeskClassStatus {
    /// Desks that are taken.
    #[serde(default)]
    pub taken: u32,
}

impl Resource for DeskClass {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "DeskClass";
    const PLURAL: &'static str = "deskclasses";

    fn declare() -> Declaration<DeskClass> {
        Declaration::cluster().planes(Planes::Root).status()
    }
}

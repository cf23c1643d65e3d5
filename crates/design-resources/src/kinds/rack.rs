//! Rack: a cabinet of the site, its switches and where it stands.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// A cabinet of the site, as it is designed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Rack {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: RackSpec,
}

/// What a design says of a cabinet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RackSpec {
    /// The switches at its top.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tor_switches: Option<Vec<TorSwitch>>,
    /// Where it stands, in words of the operator.
    pub location: Option<BTreeMap<String, String>>,
    /// Networks that do not leave it.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub local_networks: Option<Vec<String>>,
    /// Labels.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

/// A switch at the top of a rack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TorSwitch {
    /// Its name.
    pub name: String,
    /// Where it is managed.
    pub mgmt_ip: Option<String>,
    /// The controller that manages it.
    pub sdn_api_uri: Option<String>,
}

impl Resource for Rack {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Rack";
    const PLURAL: &'static str = "racks";

    fn declare() -> Declaration<Rack> {
        document()
            .selects(&["spec.location.clli", "spec.location.grid"])
            .searches(&["spec.location.clli", "spec.location.grid"])
            .prints("Switches", "string", ".spec.tor_switches[*].name")
            .prints("CLLI", "string", ".spec.location.clli")
            .prints("Grid", "string", ".spec.location.grid")
            .prints_age()
    }
}

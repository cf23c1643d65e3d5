//! Rack: a rack of the site with its switches and location.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// A rack of the site with its top-of-rack switches and location. Nodes name it in `metadata.rack`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Rack {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the rack document. Set by users or "groundplane design import".
    pub spec: RackSpec,
}

/// Content of a rack document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RackSpec {
    /// Top-of-rack switches. Names are unique within the rack.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tor_switches: Option<Vec<TorSwitch>>,
    /// Location of the rack, as free key-value pairs such as `clli` and `grid`.
    pub location: Option<BTreeMap<String, String>>,
    /// Names of the networks that exist only in this rack.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub local_networks: Option<Vec<String>>,
    /// Free labels. Node filters of boot actions select by them.
    pub labels: Option<BTreeMap<String, Option<String>>>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
}

/// A top-of-rack switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TorSwitch {
    /// Name of the switch, unique within the rack.
    pub name: String,
    /// IP address of the switch's management interface.
    pub mgmt_ip: Option<String>,
    /// URI of the SDN controller that manages the switch.
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

//! DriverPackage: drivers that the operating system does not bring, and the hardware that needs them.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document;
use super::substitution::Substitution;

/// Drivers for some hardware.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DriverPackage {
    /// What every object has.
    pub metadata: Metadata,
    /// What it says.
    pub spec: DriverPackageSpec,
}

/// What is installed, and for what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriverPackageSpec {
    /// Packages and their versions; a version left empty is any.
    pub packages: Option<BTreeMap<String, String>>,
    /// Kernel modules that are loaded, in order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub modules: Option<Vec<String>>,
    /// Modules that must not be loaded beside them.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub blacklist: Option<Vec<String>>,
    /// The repository of the region that the packages come from.
    pub repository: Option<String>,
    /// PCI ids of the hardware that needs it.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub pci_ids: Option<Vec<String>>,
    /// The images it is made for; all unless said.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub images: Option<Vec<String>>,
    /// What is taken from other documents.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub substitutions: Option<Vec<Substitution>>,
}

impl Resource for DriverPackage {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "DriverPackage";
    const PLURAL: &'static str = "driverpackages";

    fn declare() -> Declaration<DriverPackage> {
        document()
            .selects(&["spec.repository"])
            .prints("Modules", "string", ".spec.modules[*]")
            .prints("Repository", "string", ".spec.repository")
            .prints_wide("PCI", "string", ".spec.pci_ids[*]")
            .prints_age()
    }
}

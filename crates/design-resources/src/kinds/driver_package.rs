//! DriverPackage: drivers that the operating system lacks, and the hardware that needs them.

use std::collections::BTreeMap;

use krm::kind::{Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::composition::Composition;
use super::document;

/// Drivers that the operating system lacks: packages, kernel modules and the PCI ids they are for. Hosts and hardware
/// profiles name it in `drivers`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DriverPackage {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Content of the driver package document. Set by users or "groundplane design import".
    pub spec: DriverPackageSpec,
}

/// Content of a driver package document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriverPackageSpec {
    /// Packages to install, by name, with their version. An empty version means any.
    pub packages: Option<BTreeMap<String, String>>,
    /// Kernel modules to load, in this order.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub modules: Option<Vec<String>>,
    /// Kernel modules that must not be loaded.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub blacklist: Option<Vec<String>>,
    /// Name of the package repository of the Region document that provides the packages.
    pub repository: Option<String>,
    /// PCI ids of the hardware that needs the drivers, as `vendor:device`.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub pci_ids: Option<Vec<String>>,
    /// Operating system images that the drivers support. Unset means all.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub images: Option<Vec<String>>,
    /// Layers, substitutions and secret values.
    #[serde(flatten)]
    pub composition: Composition,
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

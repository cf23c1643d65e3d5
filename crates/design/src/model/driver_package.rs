//! DriverPackage: drivers that the operating system lacks, and the hardware that needs them.

use std::sync::Arc;

use super::{
    DocumentRef, Field, Set, Texts,
    section::{Reading, Section},
};

/// Drivers for some hardware. Hardware profiles, host profiles and nodes name the packages they need.
#[derive(Clone, Debug)]
pub struct DriverPackage {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// Packages and their versions; a version left empty is any.
    pub packages: Texts,
    /// Kernel modules that are loaded, in order.
    pub modules: Vec<Set<String>>,
    /// Modules that must not be loaded beside them.
    pub blacklist: Vec<Set<String>>,
    /// The repository of the region that the packages come from.
    pub repository: Field<String>,
    /// PCI ids (`vendor:device`) of the hardware that needs it.
    pub pci_ids: Vec<Set<String>>,
    /// Supported images; all if unset.
    pub images: Vec<Set<String>>,
}

impl DriverPackage {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &["packages", "modules", "blacklist", "repository", "pci_ids", "images"]);
        Self {
            document: reading.document(),
            packages: data.text_map(reading, "packages", Reading::text).unwrap_or_default(),
            modules: data.texts(reading, "modules").unwrap_or_default(),
            blacklist: data.texts(reading, "blacklist").unwrap_or_default(),
            repository: data.text(reading, "repository"),
            pci_ids: data.texts(reading, "pci_ids").unwrap_or_default(),
            images: data.texts(reading, "images").unwrap_or_default(),
        }
    }

    /// The package's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }
}

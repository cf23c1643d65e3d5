//! Deviations of BMCs from the standard, as data: `quirks.json`, by vendor.

use serde::Deserialize;

/// What is different about a BMC. The default is the standard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Name of the product, for logs.
    pub name: String,
    /// Part of the vendor in the service root, in lower case.
    pub vendor: String,
    /// Part of the manufacturer of the system, in lower case.
    pub manufacturer: String,
    /// Every PATCH needs an If-Match header.
    pub etag: bool,
    /// Where a boot override is written.
    pub boot: BootTarget,
    /// A boot override needs the mode beside the device.
    pub boot_with_mode: bool,
    /// An override for one boot is reported as `Continuous`.
    pub once_reads_as_continuous: bool,
    /// Where BIOS attributes are staged.
    pub bios: BiosTarget,
    /// `ApplyTime` that staging must name.
    pub bios_apply: Option<String>,
    /// How an image is inserted.
    pub media_insert: MediaInsert,
    /// Reset types for a graceful shutdown, the first that the BMC allows.
    pub graceful: Vec<String>,
}

/// Where a boot override is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub enum BootTarget {
    /// Into the system.
    #[default]
    System,
    /// Into a resource of this name below the system.
    Settings(String),
}

/// Where BIOS attributes are staged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub enum BiosTarget {
    /// Into the resource that `@Redfish.Settings` names, or `Settings` below the Bios resource.
    #[default]
    Linked,
    /// Into a resource of this name below the Bios resource.
    Path(String),
    /// Into the Bios resource itself.
    Direct,
}

/// How an image is inserted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum MediaInsert {
    /// By the action.
    #[default]
    Action,
    /// By a PATCH of the slot.
    Patch,
}

impl Quirks {
    /// Those of a product; the standard when the table has none.
    pub fn find(vendor: &str, manufacturer: &str) -> Quirks {
        let (vendor, manufacturer) = (vendor.to_lowercase(), manufacturer.to_lowercase());
        let is_it = |quirks: &Quirks| {
            (!quirks.vendor.is_empty() && vendor.contains(&quirks.vendor))
                || (!quirks.manufacturer.is_empty() && manufacturer.contains(&quirks.manufacturer))
        };
        table().into_iter().find(is_it).unwrap_or_default()
    }
}

fn table() -> Vec<Quirks> {
    serde_json::from_str(include_str!("quirks.json")).expect("a test reads the table that ships")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_vendors_are_found() {
        assert!(table().len() > 5);
        assert!(Quirks::find("Lenovo", "").etag);
        assert_eq!(Quirks::find("Dell Inc.", "").bios, BiosTarget::Path("Settings".to_owned()));
        assert!(Quirks::find("", "Sushy Emulator").once_reads_as_continuous);
        assert_eq!(Quirks::find("Contoso", "Contoso"), Quirks::default());
    }
}

//! Validators of a compiled design, one per file.
//!
//! Each has a unique, stable code and, where Drydock has the same check, Drydock's id. A validator never panics or
//! prevents others from running.

mod addresses_in_dhcp_ranges;
mod allowed_networks;
mod bonds;
mod boot_action_reach;
mod boot_macs;
mod boot_storage;
mod cidrs;
mod dangling_references;
mod device_aliases;
mod diagnostic;
mod duplicate_addresses;
mod finding;
mod hostnames;
mod hugepages;
mod ip_locality;
mod ipmi;
mod libvirt;
mod machines;
mod malformed_addresses;
mod mountpoints;
mod mtus;
mod name_servers;
mod overlapping_networks;
mod packages;
mod partitioning;
mod platforms;
mod ranges;
mod redfish;
mod regions;
mod sizing;
mod subnet;
mod trunking;
mod unresolved_aliases;
mod vlans;

pub use diagnostic::{Code, Diagnostic, codes, diagnose};
pub use finding::{Finding, Report, Severity, Validator};

use crate::{compile::Site, model::Design};

/// All validators, in the order they run. Those the original has come first, in its order.
pub const VALIDATORS: [&Validator; 31] = [
    &boot_storage::VALIDATOR,
    &cidrs::VALIDATOR,
    &hugepages::VALIDATOR,
    &ip_locality::VALIDATOR,
    &mtus::VALIDATOR,
    &trunking::VALIDATOR,
    &duplicate_addresses::VALIDATOR,
    &platforms::VALIDATOR,
    &bonds::VALIDATOR,
    &partitioning::VALIDATOR,
    &sizing::VALIDATOR,
    &mountpoints::VALIDATOR,
    &allowed_networks::VALIDATOR,
    &hostnames::VALIDATOR,
    &ipmi::VALIDATOR,
    &libvirt::VALIDATOR,
    &boot_action_reach::VALIDATOR,
    &packages::VALIDATOR,
    &redfish::VALIDATOR,
    &dangling_references::VALIDATOR,
    &ranges::VALIDATOR,
    &addresses_in_dhcp_ranges::VALIDATOR,
    &device_aliases::VALIDATOR,
    &unresolved_aliases::VALIDATOR,
    &machines::VALIDATOR,
    &malformed_addresses::VALIDATOR,
    &name_servers::VALIDATOR,
    &vlans::VALIDATOR,
    &boot_macs::VALIDATOR,
    &overlapping_networks::VALIDATOR,
    &regions::VALIDATOR,
];

/// Runs every validator over an effective site.
pub fn validate(design: &Design, site: &Site) -> Report {
    Report::of(VALIDATORS.iter().flat_map(|validator| validator.run(design, site)).collect())
}

//! Hardware, as a BMC describes it. Everything may be missing: BMCs differ in what they tell.

use crate::firmware::FirmwareLevel;
use crate::power::PowerState;

/// What a BMC knows of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inventory {
    /// The BMC itself.
    pub manager: Manager,
    /// Its systems, sorted by their path or number.
    pub systems: Vec<System>,
    /// Versions of firmware.
    pub firmware: Vec<FirmwareLevel>,
    /// Parts that the BMC offers and could not be read, with the reason. Empty: the inventory is complete.
    pub unread: Vec<String>,
}

/// A BMC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manager {
    /// Who made it.
    pub vendor: Option<String>,
    /// Model of the BMC.
    pub model: Option<String>,
    /// Version of its firmware.
    pub firmware: Option<String>,
    /// UUID of its service.
    pub uuid: Option<String>,
}

/// A computer system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct System {
    /// Path of the resource (Redfish) or a fixed name.
    pub path: String,
    /// Name on the BMC.
    pub name: Option<String>,
    /// SMBIOS UUID.
    pub uuid: Option<String>,
    /// Manufacturer.
    pub manufacturer: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Manufacturer's serial number.
    pub serial: Option<String>,
    /// Stock keeping unit; Dell's service tag.
    pub sku: Option<String>,
    /// Asset tag that an operator set.
    pub asset_tag: Option<String>,
    /// Version of the BIOS.
    pub bios_version: Option<String>,
    /// Power state.
    pub power: Option<PowerState>,
    /// Processors.
    pub processors: Vec<Processor>,
    /// Memory modules.
    pub memory: Vec<MemoryModule>,
    /// Memory in MiB, as the system reports it in total.
    pub memory_mib: Option<u64>,
    /// Network interfaces.
    pub nics: Vec<Nic>,
    /// Drives.
    pub drives: Vec<Drive>,
}

/// A processor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Processor {
    /// Name of the socket.
    pub socket: String,
    /// Model.
    pub model: Option<String>,
    /// Instruction set as Redfish names it, such as `x86-64` or `ARM-A64`.
    pub instruction_set: Option<String>,
    /// Cores.
    pub cores: Option<u32>,
    /// Hardware threads.
    pub threads: Option<u32>,
}

/// A memory module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryModule {
    /// Name of the slot.
    pub slot: String,
    /// Capacity in MiB.
    pub mib: u64,
    /// Type such as DDR5.
    pub kind: Option<String>,
    /// Manufacturer's serial number.
    pub serial: Option<String>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nic {
    /// Name on the BMC.
    pub id: String,
    /// MAC address in lower case, with colons.
    pub mac: Option<String>,
    /// Speed in Mbit/s.
    pub mbps: Option<u64>,
    /// Whether the link is up.
    pub is_up: Option<bool>,
}

/// A drive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drive {
    /// Name on the BMC.
    pub id: String,
    /// Model.
    pub model: Option<String>,
    /// Manufacturer's serial number.
    pub serial: Option<String>,
    /// Capacity in bytes.
    pub bytes: Option<u64>,
    /// Media such as SSD or HDD.
    pub media: Option<String>,
    /// Protocol such as NVMe or SAS.
    pub protocol: Option<String>,
}

/// A MAC address in lower case with colons; `None` when the text is not one, or all zeros.
pub fn mac(text: &str) -> Option<String> {
    let hex: String = text.chars().filter(|c| !matches!(c, ':' | '-' | '.')).collect();
    let is_mac = hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_mac || hex.bytes().all(|byte| byte == b'0') {
        return None;
    }
    let lower = hex.to_ascii_lowercase();
    let pairs: Vec<&str> = (0..6).filter_map(|pair| lower.get(pair * 2..pair * 2 + 2)).collect();
    Some(pairs.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mac_addresses_have_one_form() {
        assert_eq!(mac("AA-BB-CC-00-11-22").as_deref(), Some("aa:bb:cc:00:11:22"));
        assert_eq!(mac("aabb.cc00.1122").as_deref(), Some("aa:bb:cc:00:11:22"));
        assert_eq!((mac("00:00:00:00:00:00"), mac("aa:bb"), mac("zz:bb:cc:00:11:22")), (None, None, None));
    }
}

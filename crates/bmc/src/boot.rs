//! Boot overrides.

use std::fmt;

/// A class of boot devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BootDevice {
    /// The order of the firmware: no override.
    Default,
    /// Network boot by PXE.
    Pxe,
    /// The first disk.
    Disk,
    /// Optical media, virtual media included.
    Cd,
    /// USB or floppy, virtual media included.
    Usb,
    /// The setup of the firmware.
    Setup,
    /// Network boot by HTTP. UEFI only.
    Http,
}

/// How long an override lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// For the next boot.
    Once,
    /// Until it is changed.
    Always,
}

/// Firmware interface of a boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BootMode {
    /// UEFI.
    Uefi,
    /// BIOS compatibility.
    Legacy,
}

/// An override of the boot device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BootOverride {
    /// What to boot from.
    pub device: BootDevice,
    /// For how long. Without meaning for [`BootDevice::Default`].
    pub persistence: Persistence,
    /// UEFI or legacy; `None` keeps, or does not tell, the mode.
    pub mode: Option<BootMode>,
}

impl BootOverride {
    /// For the next boot, in the current mode.
    pub fn once(device: BootDevice) -> BootOverride {
        BootOverride { device, persistence: Persistence::Once, mode: None }
    }

    /// For every boot, in the current mode.
    pub fn always(device: BootDevice) -> BootOverride {
        BootOverride { device, persistence: Persistence::Always, mode: None }
    }

    /// The same in a mode.
    pub fn in_mode(self, mode: BootMode) -> BootOverride {
        BootOverride { mode: Some(mode), ..self }
    }

    /// Whether a BMC that reports `self` does what `wanted` asks for.
    pub fn satisfies(&self, wanted: &BootOverride) -> bool {
        let same_persistence = wanted.device == BootDevice::Default || self.persistence == wanted.persistence;
        self.device == wanted.device
            && same_persistence
            && (wanted.mode.is_none() || self.mode == wanted.mode)
    }
}

impl fmt::Display for BootOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = match self.device {
            BootDevice::Default => return f.write_str("no override"),
            BootDevice::Pxe => "PXE",
            BootDevice::Disk => "disk",
            BootDevice::Cd => "CD",
            BootDevice::Usb => "USB",
            BootDevice::Setup => "firmware setup",
            BootDevice::Http => "HTTP boot",
        };
        let persistence = match self.persistence {
            Persistence::Once => "once",
            Persistence::Always => "always",
        };
        write!(f, "{device} {persistence}")?;
        match self.mode {
            Some(BootMode::Uefi) => f.write_str(", UEFI"),
            Some(BootMode::Legacy) => f.write_str(", legacy"),
            None => Ok(()),
        }
    }
}

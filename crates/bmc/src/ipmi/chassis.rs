//! Power, boot options and the identification light.

use super::Ipmi;
use super::message::Command;
use crate::boot::{BootDevice, BootMode, BootOverride, Persistence};
use crate::contract::Outcome;
use crate::error::{Cause, Result};
use crate::power::{PowerAction, PowerState};
use crate::readback;

const BOOT_FLAG_CLEARING: u8 = 3;
const BOOT_ACKNOWLEDGE: u8 = 4;
const BOOT_FLAGS: u8 = 5;

const VALID: u8 = 0x80;
const PERSISTENT: u8 = 0x40;
const UEFI: u8 = 0x20;

/// Devices of the boot flags, IPMI 2.0, table 28-14.
const DEVICES: [(BootDevice, u8); 6] = [
    (BootDevice::Default, 0),
    (BootDevice::Pxe, 1),
    (BootDevice::Disk, 2),
    (BootDevice::Cd, 5),
    (BootDevice::Setup, 6),
    (BootDevice::Usb, 15),
];

impl Ipmi {
    pub(super) async fn read_power(&self) -> Result<PowerState> {
        let status = self.request("read the power state", Command::CHASSIS_STATUS, &[]).await?;
        match status.first() {
            Some(state) if state & 1 == 1 => Ok(PowerState::On),
            Some(_) => Ok(PowerState::Off),
            None => {
                let why = "the chassis status is empty".to_owned();
                Err(self.failed("read the power state", Cause::WrongShape { why }))
            }
        }
    }

    pub(super) async fn change_power(&self, action: PowerAction) -> Result<Outcome> {
        let name = action.to_string();
        let before = self.read_power().await.map_err(|error| error.during(&name))?;
        if action.is_idempotent() && before == action.leads_to() {
            return Ok(Outcome::Unchanged);
        }
        match action {
            PowerAction::On => self.control(&name, 1, true).await?,
            PowerAction::GracefulOff => self.control(&name, 5, true).await?,
            PowerAction::ForceOff => self.control(&name, 0, true).await?,
            // Off, seen off, and on: a cycle in one command can't be read back.
            PowerAction::Cycle => {
                if before == PowerState::On {
                    self.control(&name, 0, true).await?;
                    self.verify_power(&name, PowerState::Off).await?;
                }
                self.control(&name, 1, true).await?;
            }
            PowerAction::Reset if before == PowerState::Off => {
                let why = "a system that is off cannot be reset; power it on".to_owned();
                return Err(self.failed(&name, Cause::Invalid { why }));
            }
            PowerAction::Reset => self.control(&name, 3, false).await?,
        }
        self.verify_power(&name, action.leads_to()).await?;
        Ok(Outcome::Changed)
    }

    async fn control(&self, name: &str, control: u8, may_repeat: bool) -> Result<()> {
        self.exchange(name, Command::CHASSIS_CONTROL, &[control], may_repeat).await.map(|_| ())
    }

    async fn verify_power(&self, name: &str, wanted: PowerState) -> Result<PowerState> {
        let read = || Box::pin(self.read_power()) as _;
        let patience = self.options.patience;
        readback::until(&self.address, name, wanted, patience, read, |state| *state == wanted).await
    }

    pub(super) async fn read_boot(&self) -> Result<BootOverride> {
        let action = "read the boot device";
        let data = self.request(action, Command::GET_BOOT_OPTIONS, &[BOOT_FLAGS, 0, 0]).await?;
        let wrong = |why: String| self.failed(action, Cause::WrongShape { why });
        let flags =
            data.get(2..4).ok_or_else(|| wrong(format!("the boot flags have {} bytes", data.len())))?;
        let (flags, number) = (flags[0], flags[1] >> 2 & 0x0f);
        let device = DEVICES.iter().find(|(_, known)| *known == number).map(|(device, _)| *device);
        let device = device.ok_or_else(|| wrong(format!("boot device {number} is not known")))?;
        let persistence = if flags & PERSISTENT == 0 { Persistence::Once } else { Persistence::Always };
        let mode = if flags & UEFI == 0 { BootMode::Legacy } else { BootMode::Uefi };
        if self.options.boot_device_alone {
            return Ok(BootOverride::once(device));
        }
        Ok(match flags & VALID == 0 {
            true => BootOverride { mode: Some(mode), ..BootOverride::always(BootDevice::Default) },
            false => BootOverride { device, persistence, mode: Some(mode) },
        })
    }

    pub(super) async fn change_boot(&self, wanted: BootOverride) -> Result<Outcome> {
        let action = format!("set boot device to {wanted}");
        let Some((_, number)) = DEVICES.iter().find(|(device, _)| *device == wanted.device) else {
            let what = format!("booting from {wanted} over IPMI");
            return Err(self.failed(&action, Cause::Unsupported { what }));
        };
        let before = self.read_boot().await?;
        // What is not reported may differ.
        if before.satisfies(&wanted) && !self.options.boot_device_alone {
            return Ok(Outcome::Unchanged);
        }
        // Keep the flags for longer than a minute, and say that the BMC is to act on them. Optional: not every BMC has
        // these parameters.
        let _ = self.set_boot_option(&action, &[BOOT_FLAG_CLEARING, 0x08]).await;
        let _ = self.set_boot_option(&action, &[BOOT_ACKNOWLEDGE, 0x01, 0x01]).await;
        let mut flags = VALID;
        if wanted.persistence == Persistence::Always && wanted.device != BootDevice::Default {
            flags |= PERSISTENT;
        }
        if wanted.mode.or(before.mode) == Some(BootMode::Uefi) {
            flags |= UEFI;
        }
        self.set_boot_option(&action, &[BOOT_FLAGS, flags, number << 2, 0, 0, 0]).await?;
        let found = self.read_boot().await?;
        let is_device = self.options.boot_device_alone && found.device == wanted.device;
        match is_device || found.satisfies(&wanted) {
            true => Ok(Outcome::Changed),
            false => {
                let (wanted, found) = (wanted.to_string(), found.to_string());
                Err(self.failed(&action, Cause::NotVerified { wanted, found }))
            }
        }
    }

    async fn set_boot_option(&self, action: &str, data: &[u8]) -> Result<()> {
        self.request(action, Command::SET_BOOT_OPTIONS, data).await.map(|_| ())
    }

    /// Read back if the BMC reports the state of the light.
    pub(super) async fn change_light(&self, on: bool) -> Result<Outcome> {
        let action =
            if on { "turn the identification light on" } else { "turn the identification light off" };
        if self.light(action).await? == Some(on) {
            return Ok(Outcome::Unchanged);
        }
        self.request(action, Command::CHASSIS_IDENTIFY, &[0, u8::from(on)]).await?;
        match self.light(action).await? {
            Some(found) if found != on => {
                let name = |on: bool| if on { "on" } else { "off" }.to_owned();
                Err(self.failed(action, Cause::NotVerified { wanted: name(on), found: name(found) }))
            }
            _ => Ok(Outcome::Changed),
        }
    }

    async fn light(&self, action: &str) -> Result<Option<bool>> {
        let status = self.request(action, Command::CHASSIS_STATUS, &[]).await?;
        let state = status.get(2).copied().unwrap_or_default();
        Ok((state & 0x40 != 0).then_some(state & 0x30 != 0))
    }
}

//! Boot overrides.

use serde_json::{Map, Value};

use super::Redfish;
use super::quirks::{BootTarget, Quirks};
use super::resource::{Resource, text};
use crate::boot::{BootDevice, BootMode, BootOverride, Persistence};
use crate::contract::Outcome;
use crate::error::{Cause, Result};

const DEVICES: [(BootDevice, &str); 7] = [
    (BootDevice::Default, "None"),
    (BootDevice::Pxe, "Pxe"),
    (BootDevice::Disk, "Hdd"),
    (BootDevice::Cd, "Cd"),
    (BootDevice::Usb, "Usb"),
    (BootDevice::Setup, "BiosSetup"),
    (BootDevice::Http, "UefiHttp"),
];

impl Redfish {
    pub(super) async fn read_boot(&self) -> Result<BootOverride> {
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        self.parse_boot(&system)
    }

    pub(super) async fn change_boot(&self, wanted: BootOverride) -> Result<Outcome> {
        let action = format!("set boot device to {wanted}");
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        let quirks = self.quirks().await?;
        let found = self.parse_boot(&system)?;
        if found.satisfies(&wanted) {
            return Ok(Outcome::Unchanged);
        }
        let name =
            DEVICES.iter().find(|(device, _)| *device == wanted.device).map_or("None", |(_, name)| name);
        let allowed = system.at(&["Boot", "BootSourceOverrideTarget@Redfish.AllowableValues"]);
        let allowed = allowed.and_then(Value::as_array);
        let is_allowed = allowed.is_none_or(|allowed| allowed.iter().any(|value| value == name));
        if !is_allowed && wanted.device != BootDevice::Default {
            let allowed: Vec<String> = allowed.into_iter().flatten().filter_map(text).collect();
            let what = format!("booting from {name} (the BMC allows {})", allowed.join(", "));
            return Err(self.failed(&action, Cause::Unsupported { what }));
        }
        let mut boot = Map::new();
        let enabled = match (wanted.device, wanted.persistence) {
            (BootDevice::Default, _) => "Disabled",
            (_, Persistence::Once) => "Once",
            (_, Persistence::Always) => "Continuous",
        };
        boot.insert("BootSourceOverrideEnabled".to_owned(), enabled.into());
        if wanted.device != BootDevice::Default {
            boot.insert("BootSourceOverrideTarget".to_owned(), name.into());
        }
        let mode = wanted.mode.or(found.mode.filter(|_| quirks.boot_with_mode));
        if let Some(mode) = mode {
            let mode = match mode {
                BootMode::Uefi => "UEFI",
                BootMode::Legacy => "Legacy",
            };
            boot.insert("BootSourceOverrideMode".to_owned(), mode.into());
        }
        let mut change = Map::new();
        change.insert("Boot".to_owned(), boot.into());
        let target = match &quirks.boot {
            BootTarget::System => path.to_owned(),
            BootTarget::Settings(name) => format!("{path}/{name}"),
        };
        let sent = self.service.patch(&target, &change.into(), quirks.etag).await;
        sent.map_err(|error| error.during(&action))?;
        let found = self.read_boot().await?;
        match is_done(&found, &wanted, &quirks) {
            true => Ok(Outcome::Changed),
            false => {
                let (wanted, found) = (wanted.to_string(), found.to_string());
                Err(self.failed(&action, Cause::NotVerified { wanted, found }))
            }
        }
    }

    fn parse_boot(&self, system: &Resource) -> Result<BootOverride> {
        let Some(boot) = system.at(&["Boot"]) else {
            let what = "the boot override".to_owned();
            return Err(self.failed("read the boot device", Cause::Unsupported { what }));
        };
        let value = |name: &str| boot.get(name).and_then(text).unwrap_or_default();
        let target = value("BootSourceOverrideTarget");
        let device = DEVICES.iter().find(|(_, name)| *name == target).map(|(device, _)| *device);
        let mode = match value("BootSourceOverrideMode").as_str() {
            "UEFI" => Some(BootMode::Uefi),
            "Legacy" => Some(BootMode::Legacy),
            _ => None,
        };
        let (device, persistence) = match (value("BootSourceOverrideEnabled").as_str(), device) {
            ("Once", Some(device)) => (device, Persistence::Once),
            ("Continuous", Some(device)) => (device, Persistence::Always),
            ("Once" | "Continuous", None) => {
                let why = format!("the boot override target is \"{target}\"");
                return Err(self.failed("read the boot device", Cause::WrongShape { why }));
            }
            _ => (BootDevice::Default, Persistence::Always),
        };
        Ok(BootOverride { device, persistence, mode })
    }
}

fn is_done(found: &BootOverride, wanted: &BootOverride, quirks: &Quirks) -> bool {
    let as_reported = match quirks.once_reads_as_continuous {
        true => BootOverride { persistence: wanted.persistence, ..*found },
        false => *found,
    };
    as_reported.satisfies(wanted)
}

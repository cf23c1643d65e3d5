//! Redfish.

mod accounts;
mod bios;
mod boot;
mod extras;
mod firmware;
mod hardware;
mod media;
mod power;
mod quirks;
mod resource;
mod service;
mod session;
mod tasks;
mod transport;

use std::collections::BTreeMap;

use tokio::sync::OnceCell;

use crate::bios::{Attribute, Bios};
use crate::boot::BootOverride;
use crate::contract::{Answer, Bmc, Outcome};
use crate::credentials::{Credentials, Password};
use crate::error::{Cause, Error, Result};
use crate::firmware::FirmwareLevel;
use crate::inventory::Inventory;
use crate::media::Media;
use crate::power::{PowerAction, PowerState};
use crate::sensors::Reading;
use crate::trust::{Fingerprint, Trust};
use crate::{Address, Environment};

pub use crate::readback::Patience;
pub use quirks::{BiosTarget, BootTarget, MediaInsert, Quirks};
pub(crate) use service::Root;
use service::Service;
pub use transport::Limits;

/// How a BMC is spoken to over Redfish.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whom to trust.
    pub trust: Trust,
    /// Who logs in; `None` reads what needs no login.
    pub credentials: Option<Credentials>,
    /// Limits of requests.
    pub limits: Limits,
    /// How long a change of power may take until the BMC reports it.
    pub patience: Patience,
    /// Deviations of the BMC; `None` finds them in the table by vendor.
    pub quirks: Option<Quirks>,
    /// Name of the BMC in the ledger of logins. Defaults to the host of the address.
    pub ledger_key: Option<String>,
}

impl Options {
    /// Defaults, with a trust and credentials.
    pub fn new(trust: Trust, credentials: Option<Credentials>) -> Options {
        Options {
            trust,
            credentials,
            limits: Limits::default(),
            patience: Patience::default(),
            quirks: None,
            ledger_key: None,
        }
    }
}

/// A BMC that speaks Redfish. Nothing is sent before the first call.
pub struct Redfish {
    service: Service,
    patience: Patience,
    quirks: Option<Quirks>,
    system: OnceCell<String>,
}

impl Redfish {
    /// For an address whose path, if any, names the system.
    pub fn new(address: &Address, options: Options, environment: &Environment) -> Result<Redfish> {
        let Options { trust, credentials, limits, patience, quirks, ledger_key } = options;
        let service = Service::new(address, &trust, credentials, limits, ledger_key.as_deref(), environment)?;
        Ok(Redfish { service, patience, quirks, system: OnceCell::new() })
    }

    /// The certificate that the BMC presented, after the first call: what the caller of [`Trust::FirstUse`] stores.
    pub fn pin(&self) -> Option<Fingerprint> {
        self.service.pin()
    }

    /// The service root, which needs no login.
    pub(crate) async fn root(&self) -> Result<&Root> {
        self.service.root().await
    }

    /// The system that is meant: the one of the address, or the only one.
    async fn system(&self) -> Result<&str> {
        let found = self.system.get_or_try_init(|| self.find_system()).await?;
        Ok(found)
    }

    async fn find_system(&self) -> Result<String> {
        let path = self.service.address().path();
        if path.contains("/Systems/") {
            return Ok(path.to_owned());
        }
        let root = self.service.root().await?;
        let systems = root.link("Systems").unwrap_or("/redfish/v1/Systems").to_owned();
        let members = self.service.members(&systems).await?;
        match members.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(self.failed("find the system", Cause::NotFound { what: "a system".to_owned() })),
            several => {
                let shown: Vec<&str> = several.iter().take(3).map(String::as_str).collect();
                let why = format!(
                    "the BMC has {} systems ({}, …); add the path of one to the address",
                    several.len(),
                    shown.join(", ")
                );
                Err(self.failed("find the system", Cause::Invalid { why }))
            }
        }
    }

    /// Deviations: given, or found by vendor and manufacturer.
    async fn quirks(&self) -> Result<Quirks> {
        if let Some(quirks) = &self.quirks {
            return Ok(quirks.clone());
        }
        let root = self.service.root().await?;
        let vendor = root.vendor().unwrap_or_default().to_owned();
        let system = self.service.get(self.system().await?).await?;
        let manufacturer = system.text("Manufacturer").unwrap_or_default();
        Ok(Quirks::find(&vendor, &manufacturer))
    }

    fn failed(&self, action: &str, cause: Cause) -> Error {
        Error::new(self.service.address(), action, cause)
    }
}

impl Bmc for Redfish {
    fn address(&self) -> &Address {
        self.service.address()
    }

    fn power(&self) -> Answer<'_, PowerState> {
        Box::pin(self.read_power())
    }

    fn set_power(&self, action: PowerAction) -> Answer<'_, Outcome> {
        Box::pin(self.change_power(action))
    }

    fn boot(&self) -> Answer<'_, BootOverride> {
        Box::pin(self.read_boot())
    }

    fn set_boot(&self, wanted: BootOverride) -> Answer<'_, Outcome> {
        Box::pin(self.change_boot(wanted))
    }

    fn media(&self) -> Answer<'_, Vec<Media>> {
        Box::pin(self.read_media())
    }

    fn insert_media<'a>(&'a self, image: &'a str) -> Answer<'a, Outcome> {
        Box::pin(self.insert(image))
    }

    fn eject_media(&self) -> Answer<'_, Outcome> {
        Box::pin(self.eject())
    }

    fn bios(&self) -> Answer<'_, Bios> {
        Box::pin(self.read_bios())
    }

    fn stage_bios(&self, wanted: BTreeMap<String, Attribute>) -> Answer<'_, Outcome> {
        Box::pin(self.stage(wanted))
    }

    fn firmware(&self) -> Answer<'_, Vec<FirmwareLevel>> {
        Box::pin(self.read_firmware())
    }

    fn inventory(&self) -> Answer<'_, Inventory> {
        Box::pin(self.read_inventory())
    }

    fn sensors(&self) -> Answer<'_, Vec<Reading>> {
        Box::pin(self.read_sensors())
    }

    fn set_password<'a>(&'a self, user: &'a str, password: &'a Password) -> Answer<'a, ()> {
        Box::pin(self.change_password(user, password))
    }

    fn identify(&self, on: bool) -> Answer<'_, Outcome> {
        Box::pin(self.change_light(on))
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(self.service.log_out())
    }
}

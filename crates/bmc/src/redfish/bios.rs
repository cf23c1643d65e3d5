//! BIOS attributes: read, and staged for the next boot.

use std::collections::BTreeMap;

use serde_json::json;

use super::Redfish;
use super::quirks::{BiosTarget, Quirks};
use super::resource::Resource;
use crate::bios::{Attribute, Bios};
use crate::contract::Outcome;
use crate::error::{Cause, Result};

impl Redfish {
    pub(super) async fn read_bios(&self) -> Result<Bios> {
        let quirks = self.quirks().await?;
        let (path, bios) = self.bios_resource().await?;
        let current = attributes(&bios);
        let target = target(&path, &bios, &quirks);
        let staged = match target == path {
            true => None,
            false => self.service.get_optional(&target).await?,
        };
        let mut pending = staged.as_ref().map(attributes).unwrap_or_default();
        pending.retain(|name, value| current.get(name) != Some(value));
        Ok(Bios { current, pending })
    }

    pub(super) async fn stage(&self, wanted: BTreeMap<String, Attribute>) -> Result<Outcome> {
        let action = "stage BIOS attributes";
        let before = self.read_bios().await?;
        if let Some(unknown) = wanted.keys().find(|name| !before.current.contains_key(*name)) {
            let why = format!("the BIOS has no attribute \"{unknown}\"");
            return Err(self.failed(action, Cause::Invalid { why }));
        }
        let missing = before.missing(&wanted);
        if missing.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        let quirks = self.quirks().await?;
        let (path, bios) = self.bios_resource().await?;
        let target = target(&path, &bios, &quirks);
        let mut change = json!({ "Attributes": missing });
        if let (Some(apply), Some(change)) = (&quirks.bios_apply, change.as_object_mut()) {
            change.insert("@Redfish.SettingsApplyTime".to_owned(), json!({ "ApplyTime": apply }));
        }
        let sent = self.service.patch(&target, &change, quirks.etag).await;
        sent.map_err(|error| error.during(action))?;
        let after = self.read_bios().await?.missing(&wanted);
        // A BMC that takes attributes directly does not tell what is staged: the next boot shows it.
        if after.is_empty() || target == path {
            return Ok(Outcome::Changed);
        }
        let names: Vec<&str> = after.keys().map(String::as_str).collect();
        let wanted = format!("the staged values of {}", names.join(", "));
        Err(self.failed(action, Cause::NotVerified { wanted, found: "others".to_owned() }))
    }

    async fn bios_resource(&self) -> Result<(String, Resource)> {
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        let path = system.link("Bios").map_or_else(|| format!("{path}/Bios"), str::to_owned);
        match self.service.get_optional(&path).await? {
            Some(bios) => Ok((path, bios)),
            None => {
                let what = "BIOS attributes".to_owned();
                Err(self.failed("read BIOS attributes", Cause::Unsupported { what }))
            }
        }
    }
}

fn target(path: &str, bios: &Resource, quirks: &Quirks) -> String {
    match &quirks.bios {
        BiosTarget::Direct => path.to_owned(),
        BiosTarget::Path(name) => format!("{path}/{name}"),
        BiosTarget::Linked => {
            let linked = bios.link_at(&["@Redfish.Settings", "SettingsObject"]);
            linked.map_or_else(|| format!("{path}/Settings"), str::to_owned)
        }
    }
}

fn attributes(bios: &Resource) -> BTreeMap<String, Attribute> {
    let all = bios.at(&["Attributes"]).and_then(|attributes| attributes.as_object());
    let read = |value: &serde_json::Value| serde_json::from_value(value.clone()).ok();
    all.into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), read(value)?))).collect()
}

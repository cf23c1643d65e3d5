//! Firmware inventory.

use serde_json::Value;

use super::Redfish;
use crate::error::{Cause, Result};
use crate::firmware::FirmwareLevel;

impl Redfish {
    pub(super) async fn read_firmware(&self) -> Result<Vec<FirmwareLevel>> {
        let root = self.service.root().await?;
        let lacks = || {
            let what = "firmware inventory".to_owned();
            self.failed("read firmware levels", Cause::Unsupported { what })
        };
        let update = root.link("UpdateService").ok_or_else(lacks)?;
        let update = self.service.get(update).await?;
        let collection = update.link("FirmwareInventory").ok_or_else(lacks)?;
        let mut levels = Vec::new();
        for path in self.service.members(collection).await? {
            let Some(item) = self.service.get_optional(&path).await? else { continue };
            let Some(version) = item.text("Version") else { continue };
            let last = path.rsplit('/').next().unwrap_or(&path);
            levels.push(FirmwareLevel {
                component: item.text("Id").unwrap_or_else(|| last.to_owned()),
                name: item.text("Name"),
                version,
                is_updateable: item.at(&["Updateable"]).and_then(Value::as_bool),
            });
        }
        Ok(levels)
    }
}

//! Accounts: changing a password.

use serde_json::json;

use super::Redfish;
use crate::credentials::Password;
use crate::error::{Cause, Result};

impl Redfish {
    /// The result is not read back here: only a login shows it, which rotation makes.
    pub(super) async fn change_password(&self, user: &str, password: &Password) -> Result<()> {
        let action = format!("change the password of \"{user}\"");
        let quirks = self.quirks().await?;
        let root = self.service.root().await?;
        let Some(service) = root.link("AccountService") else {
            let what = "changing passwords (no AccountService)".to_owned();
            return Err(self.failed(&action, Cause::Unsupported { what }));
        };
        let service = self.service.get(service).await?;
        let Some(accounts) = service.link("Accounts") else {
            let what = "changing passwords (no Accounts)".to_owned();
            return Err(self.failed(&action, Cause::Unsupported { what }));
        };
        for path in self.service.members(accounts).await? {
            let account = self.service.get(&path).await?;
            if account.text("UserName").as_deref() != Some(user) {
                continue;
            }
            let change = json!({ "Password": password.reveal() });
            let sent = self.service.patch(&path, &change, quirks.etag).await;
            return sent.map_err(|error| error.during(&action));
        }
        Err(self.failed(&action, Cause::NotFound { what: format!("account \"{user}\"") }))
    }
}

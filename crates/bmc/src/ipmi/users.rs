//! Accounts: changing a password.

use zeroize::Zeroizing;

use super::Ipmi;
use super::message::Command;
use crate::credentials::Password;
use crate::error::{Cause, Result};

/// The channel that the request came in on.
const THIS_CHANNEL: u8 = 0x0e;
const SET: u8 = 2;

impl Ipmi {
    /// The result is not read back here: only a login shows it, which rotation makes.
    pub(super) async fn change_password(&self, user: &str, password: &Password) -> Result<()> {
        let action = format!("change the password of \"{user}\"");
        let text = password.reveal().as_bytes();
        if text.len() > 20 {
            let why = "IPMI takes passwords of at most 20 bytes".to_owned();
            return Err(self.failed(&action, Cause::Invalid { why }));
        }
        let id = self.user_id(&action, user).await?;
        // 16 bytes where they do: every BMC takes those.
        let (flag, length) = if text.len() > 16 { (0x80, 20) } else { (0, 16) };
        let mut data = Zeroizing::new(vec![flag | id, SET]);
        data.extend_from_slice(text);
        data.resize(2 + length, 0);
        self.request(&action, Command::SET_USER_PASSWORD, &data).await.map(|_| ())
    }

    async fn user_id(&self, action: &str, user: &str) -> Result<u8> {
        let access = self.request(action, Command::GET_USER_ACCESS, &[THIS_CHANNEL, 1]).await?;
        let most = access.first().copied().unwrap_or_default() & 0x3f;
        for id in 1..=most {
            let name = self.request(action, Command::GET_USER_NAME, &[id]).await;
            let name = match name {
                Ok(name) => name,
                // Slots that are not in use may have no name.
                Err(error) if matches!(error.cause(), Cause::Refusal { .. }) => continue,
                Err(error) => return Err(error),
            };
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            if name.get(..end) == Some(user.as_bytes()) {
                return Ok(id);
            }
        }
        Err(self.failed(action, Cause::NotFound { what: format!("account \"{user}\"") }))
    }
}

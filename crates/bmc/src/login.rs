//! The lockout guard: every login to a BMC is an attempt that the ledger allows.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use crate::error::{Cause, Error, Result};
use crate::ledger::{ATTEMPT_LIMIT, Denied, Ending};
use crate::{Address, Environment};

/// How often a login waits for another one that is under way.
const PENDING_POLL: Duration = Duration::from_millis(100);

/// Guards the logins to one BMC.
#[derive(Clone)]
pub struct LoginGuard {
    address: Address,
    /// Name of the BMC in the ledger. Protocols of one BMC share its accounts, and so its name.
    key: String,
    environment: Environment,
}

impl LoginGuard {
    /// For a BMC; `key` names it in the ledger and defaults to its host.
    pub fn new(address: &Address, key: Option<&str>, environment: &Environment) -> LoginGuard {
        let key = key.map_or_else(|| address.host().to_owned(), str::to_owned);
        LoginGuard { address: address.clone(), key, environment: environment.clone() }
    }

    /// Makes one attempt to log in, or answers [`Cause::LockoutGuard`] without one. If this future is dropped in the
    /// middle, the attempt counts as failed.
    pub async fn attempt<T>(&self, login: impl Future<Output = Result<T>>) -> Result<T> {
        let mut id = [0; 8];
        self.environment.random.fill(&mut id);
        let id = u64::from_le_bytes(id);
        self.reserve(id).await?;
        let ended = timeout(ATTEMPT_LIMIT, login).await;
        let ended = ended.unwrap_or_else(|_| Err(self.failed(Cause::TimedOut { after: ATTEMPT_LIMIT })));
        let now = self.environment.clock.now();
        let settled = self.environment.ledger.settle(&self.key, id, ending(&ended), now).await;
        if let Err(why) = settled {
            // The reservation stays and counts as failed: safe, and no reason to fail a login that worked.
            tracing::warn!(bmc = self.key, why, "the end of a login was not recorded");
        }
        ended
    }

    async fn reserve(&self, id: u64) -> Result<()> {
        let patience = Instant::now() + ATTEMPT_LIMIT;
        loop {
            let now = self.environment.clock.now();
            let reserved = self.environment.ledger.reserve(&self.key, id, now).await;
            match reserved.map_err(|why| self.failed(Cause::Ledger { why }))? {
                Ok(()) => return Ok(()),
                Err(Denied { is_pending: true, .. }) if Instant::now() < patience => {
                    sleep(PENDING_POLL).await
                }
                Err(Denied { retry_at, .. }) => {
                    let retry_after = retry_at.saturating_sub(now);
                    return Err(self.failed(Cause::LockoutGuard { retry_after }));
                }
            }
        }
    }

    fn failed(&self, cause: Cause) -> Error {
        Error::new(&self.address, "log in", cause)
    }
}

fn ending<T>(ended: &Result<T>) -> Ending {
    let Err(error) = ended else { return Ending::Harmless };
    match error.cause() {
        _ if error.is_unsent() => Ending::Harmless,
        // The BMC has not looked at the credentials.
        Cause::Unsupported { .. }
        | Cause::NotFound { .. }
        | Cause::Redirected { .. }
        | Cause::Busy { .. } => Ending::Harmless,
        _ => Ending::Failed,
    }
}

//! Reading back what was changed.

use std::fmt::Display;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::{Cause, Error, Result};
use crate::{Address, Answer};

/// How long and how often a BMC is asked whether a change has happened.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long to wait in total.
    pub limit: Duration,
    /// Time between two reads.
    pub interval: Duration,
}

impl Default for Patience {
    /// Three minutes, as servers need to shut down; every two seconds.
    fn default() -> Patience {
        Patience { limit: Duration::from_secs(180), interval: Duration::from_secs(2) }
    }
}

/// Reads until the state is the wanted one; [`Cause::NotVerified`] when it never is. One failed read is no reason to
/// give up: BMCs drop connections while a system changes its power state.
pub async fn until<'a, T: Display>(
    address: &Address,
    action: &str,
    wanted: impl Display,
    patience: Patience,
    mut read: impl FnMut() -> Answer<'a, T>,
    is_wanted: impl Fn(&T) -> bool,
) -> Result<T> {
    let end = Instant::now() + patience.limit;
    loop {
        let last = match read().await {
            Ok(found) if is_wanted(&found) => return Ok(found),
            Ok(found) => Ok(found),
            Err(error) if error.is_transient() => Err(error),
            Err(error) => return Err(error.during(action)),
        };
        if Instant::now() >= end {
            return Err(match last {
                Ok(found) => Error::new(
                    address,
                    action,
                    Cause::NotVerified { wanted: wanted.to_string(), found: found.to_string() },
                ),
                Err(error) => error.during(action),
            });
        }
        sleep(patience.interval).await;
    }
}

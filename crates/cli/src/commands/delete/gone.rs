//! Waiting until deleted objects are gone.

use std::time::{Duration, Instant};

use super::Doomed;
use crate::client::{Ask, Client};
use crate::failure::Failure;

/// How long between two looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Waits until every object is gone, or another one has its name.
pub async fn wait(client: &Client, deleted: &[(&Doomed, String)], timeout: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    for (one, uid) in deleted {
        let mut pause = PAUSES.0;
        let ask = Ask::get(one.resource.object(one.namespace.as_deref(), &one.name));
        loop {
            match client.value(&ask).await {
                Err(failure) if failure.is_not_found() => break,
                // Who may delete need not be allowed to look.
                Err(failure)
                    if failure.refusal().is_some_and(|refusal| matches!(refusal.code(), 403 | 405)) =>
                {
                    break;
                }
                Err(failure) => return Err(failure),
                Ok(object) if !uid.is_empty() && object["metadata"]["uid"] != **uid => break,
                Ok(_) => {}
            }
            if !timeout.is_zero() && begun.elapsed() > timeout {
                let name = format!("{}/{}", one.resource.plural, one.name);
                return Err(Failure::other(format!("timed out waiting for the condition on {name}"))
                    .hint("its finalizers delay the deletion; \"groundplane get -o yaml\" shows them"));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
    Ok(())
}

//! Resolving: the names of the cluster are made, and resolve at the authoritative server.

use std::time::Duration;

use super::Stand;
use super::facts::Facts;
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(900);

/// Waits for the names; nothing once they resolve, or if there are none.
pub fn step(facts: &Facts<'_>) -> Option<Stand> {
    let (placement, _) = facts.placement.as_ref()?;
    placement.spec.zone.as_ref()?;
    match facts.placed("Resolves") {
        Some((true, ..)) => None,
        // What a name server says is for operators: the status of the placement has it.
        Some((false, ..)) | None => {
            let mut stand =
                Stand::new(ClusterPhase::Resolving, LIMIT, "DnsNotReady", "its names do not resolve yet");
            stand.is_degraded = facts.was_ready;
            Some(stand)
        }
    }
}

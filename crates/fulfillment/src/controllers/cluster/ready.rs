//! Ready: the cluster can be used, and nothing is being done.

use std::time::Duration;

use reconcile::plan::Plan;

use super::Stand;
use super::facts::Facts;
use crate::states::ClusterPhase;

/// Says what is wrong with a cluster that was ready, if anything is.
pub fn step(facts: &Facts<'_>) -> Stand {
    let lost = match facts.placed("Available") {
        Some((true, ..)) | None => None,
        Some((false, "HubUnreachable" | "HubRefuses" | "HubGone", _)) => {
            Some(("ControlPlaneUnknown", "the platform does not reach its control plane".to_owned()))
        }
        Some((false, _, message)) => {
            let message = if message.is_empty() { "its control plane is not available" } else { message };
            Some(("ControlPlaneUnavailable", message.to_owned()))
        }
    };
    let limit = Duration::MAX;
    Stand {
        phase: ClusterPhase::Ready,
        limit,
        is_degraded: lost.is_some(),
        waits: lost,
        plan: Plan::nothing(),
    }
}

//! Installing: the control plane comes up.

use std::time::Duration;

use super::Stand;
use super::facts::Facts;
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(5400);

/// Waits for the control plane; nothing once it can be used.
pub fn step(facts: &Facts<'_>) -> Option<Stand> {
    let (is_available, reason, message) = facts.placed("Available").unwrap_or((false, "Waiting", ""));
    if is_available {
        return None;
    }
    let what = match (reason, message) {
        // What is wrong with a hub is nothing for tenants.
        ("HubUnreachable" | "HubRefuses" | "HubGone", _) => {
            "the platform does not reach its control plane".to_owned()
        }
        (_, "") => "its control plane is being installed".to_owned(),
        (_, message) => message.to_owned(),
    };
    Some(Stand::new(ClusterPhase::Installing, LIMIT, "InstallingControlPlane", what))
}

//! Upgrading: the control plane and then the nodes get another release.

use std::time::Duration;

use super::Stand;
use super::facts::Facts;
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// Waits for the release that is wanted; nothing if the cluster runs it.
pub fn step(facts: &Facts<'_>) -> Option<Stand> {
    let wanted = facts.image()?;
    let running =
        facts.placement.as_ref().and_then(|(placement, _)| placement.status.as_ref()?.image.as_deref());
    if running == Some(&wanted) {
        return None;
    }
    let name = facts.release().map_or(wanted.as_str(), |release| release.name.as_str());
    let what = match facts.placed("Available") {
        Some((true, _, message)) if !message.is_empty() => {
            format!("release {name} is being installed: {message}")
        }
        _ => format!("release {name} is being installed"),
    };
    Some(Stand::new(ClusterPhase::Upgrading, LIMIT, "Upgrading", what))
}

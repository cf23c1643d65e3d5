//! Provisioning: the hosts boot and are installed.

use std::time::Duration;

use super::Stand;
use super::claiming::quarantine_failed;
use super::facts::Facts;
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(7200);

/// Waits for the hosts; nothing once all are installed.
pub fn step(facts: &Facts<'_>) -> Option<Stand> {
    let waiting: Vec<_> = facts.held.iter().filter(|held| !facts.is_installed(held)).collect();
    let first = waiting.first()?;
    let (done, all) = (facts.held.len() - waiting.len(), facts.held.len());
    let what = format!("{done} of {all} hosts are installed; {}: {}", first.host.metadata.name, first.told());
    let mut stand = Stand::new(ClusterPhase::Provisioning, LIMIT, "InstallingHosts", what);
    quarantine_failed(facts, &mut stand.plan);
    // A host that takes too long is replaced.
    let soonest = waiting.iter().filter_map(|held| {
        let since = krm::time::Moment::parse(&held.provisioning()?.since).ok()?;
        Some(held.limit.saturating_sub(super::elapsed(since, facts.now)))
    });
    if let Some(soonest) = soonest.min() {
        stand.plan.again_after(soonest.max(Duration::from_secs(1)));
    }
    Some(stand)
}

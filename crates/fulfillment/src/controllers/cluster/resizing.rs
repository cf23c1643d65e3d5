//! Resizing: hosts join, leave, or take the place of others, in a cluster that is used.

use std::time::Duration;

use super::Stand;
use super::facts::{Facts, Held};
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(7200);

/// Brings the hosts to what is wanted; nothing if they are.
pub fn step(facts: &Facts<'_>) -> Option<Stand> {
    let leaving = leaving(facts);
    let mut stand = provisioning_of(facts).or_else(|| {
        let what = format!("{} hosts leave", leaving.len());
        (!leaving.is_empty()).then(|| Stand::new(ClusterPhase::Resizing, LIMIT, "HostsLeave", what))
    })?;
    for (held, why) in leaving {
        stand.plan.write(facts.hand_over(held, why));
    }
    Some(stand)
}

/// Hosts that are on their way into the cluster.
fn provisioning_of(facts: &Facts<'_>) -> Option<Stand> {
    let mut stand = super::provisioning::step(facts)?;
    stand.phase = ClusterPhase::Resizing;
    Some(stand)
}

/// The hosts that go, each with the reason: those that are replaced once their successors are installed, and those that are too
/// many. Named ones go first, then those that are not installed, then the last by name.
pub fn leaving<'f>(facts: &'f Facts<'_>) -> Vec<(&'f Held, &'static str)> {
    let mut leaving = Vec::new();
    let sets: std::collections::BTreeSet<&str> =
        facts.held.iter().map(|held| held.node_set.as_str()).collect();
    for set in sets {
        let spec = facts.cluster.spec.node_sets.get(set);
        let size = spec.map_or(0, |spec| usize::try_from(spec.size).unwrap_or_default());
        let mut staying = facts.staying(set);
        let installed = staying.iter().filter(|held| facts.is_installed(held)).count();
        let replaced = facts.held.iter().filter(|held| held.node_set == set && facts.is_replaced(held));
        for held in replaced.filter(|held| !facts.has_failed(held)) {
            if installed >= size {
                leaving.push((held, "another host took its place"));
            }
        }
        let named =
            |held: &Held| spec.is_some_and(|spec| spec.leave_first.contains(&held.host.metadata.name));
        staying.sort_by_key(|held| {
            (!named(held), facts.is_installed(held), std::cmp::Reverse(held.host.metadata.name.clone()))
        });
        let too_many = staying.len().saturating_sub(size);
        leaving.extend(staying.into_iter().take(too_many).map(|held| (held, "its node set got smaller")));
    }
    leaving
}

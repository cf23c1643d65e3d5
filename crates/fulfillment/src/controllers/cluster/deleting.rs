//! Deleting: the hosts are handed over to be cleaned, and the cluster is removed from its hub and from DNS.
//!
//! The placement keeps alias and port and goes last. A hub or a name server that does not answer does not keep the cluster: it
//! goes, and its placement stays until nothing is left behind.

use std::time::Duration;

use krm::Object;
use reconcile::plan::{Event, Write};

use super::Stand;
use super::facts::Facts;
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(3600);
/// How long a cluster waits for a hub or a name server that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Hosts that are handed over in one commit.
const PART: usize = 20;
/// Reasons of the placement for which nobody waits.
const DEAD: [&str; 4] = ["HubUnreachable", "HubRefuses", "HubGone", "DnsFailed"];

/// Removes the cluster.
pub fn step(facts: &Facts<'_>) -> Stand {
    let mut stand = Stand::new(ClusterPhase::Deleting, LIMIT, "Deleting", "it is being removed");
    for held in facts.held.iter().take(PART) {
        stand.plan.write(facts.hand_over(held, "its cluster was deleted"));
    }
    if !facts.held.is_empty() {
        stand.waits = Some(("ReleasingHosts", format!("{} hosts leave", facts.held.len())));
    }
    let Some((placement, object)) = &facts.placement else {
        if facts.held.is_empty() {
            let_go(facts, &mut stand);
        }
        return stand;
    };
    if placement.spec.retired != Some(true) {
        let mut retired = Object::clone(object);
        retired.set_at("spec.retired", true.into());
        stand.plan.write(Write::Update(String::new(), retired));
        return stand;
    }
    let waited = facts.since_of(ClusterPhase::Deleting).map(|since| super::elapsed(since, facts.now));
    let waited = waited.unwrap_or_default();
    let is_dead = matches!(facts.placed("Removed"), Some((false, reason, _)) if DEAD.contains(&reason));
    let is_left_behind = (is_dead && waited >= PATIENCE) || waited >= LIMIT;
    if is_left_behind && facts.held.is_empty() {
        let remains = placement.status.as_ref().map(|status| status.remains.join(", ")).unwrap_or_default();
        tracing::warn!(
            cluster = facts.cluster.identifier(),
            remains,
            "a cluster is gone before all of it was removed"
        );
        stand.plan.write(Write::Event(
            facts.target.clone(),
            Event {
                is_warning: true,
                reason: "LeftBehind".to_owned(),
                note: "not all of it could be removed yet; the platform goes on trying".to_owned(),
                annotations: std::collections::BTreeMap::new(),
            },
        ));
        let_go(facts, &mut stand);
        return stand;
    }
    if is_dead {
        stand.plan.again_after(PATIENCE.saturating_sub(waited).max(Duration::from_secs(1)));
    }
    if facts.held.is_empty() {
        let what = "its control plane and its names are being removed";
        stand.waits = Some(("RemovingControlPlane", what.to_owned()));
    }
    stand
}

/// Takes the finalizer away.
fn let_go(facts: &Facts<'_>, stand: &mut Stand) {
    let mut new = Object::clone(facts.object);
    let left = facts.object.finalizers().into_iter().filter(|name| *name != super::FINALIZER);
    new.set_finalizers(left.map(str::to_owned).collect());
    stand.plan.write(Write::Update(facts.target.plane.clone(), new));
}

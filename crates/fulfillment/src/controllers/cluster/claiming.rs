//! Claiming: hosts are chosen for the node sets and claimed, all of them in one commit as far as the store takes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Event, Plan, Write};
use reconcile::target::Target;
use serde_json::{Value, json};

use super::Stand;
use super::facts::{Facts, Held};
use crate::kinds::hub::Hub;
use crate::kinds::{Host, HostClaim};
use crate::provisioners;
use crate::selection::{self, Shortage, Wanted};
use crate::states::ClusterPhase;

const LIMIT: Duration = Duration::from_secs(3600);

/// Claims what is missing; nothing if nothing is.
pub fn step(facts: &Facts<'_>, context: &Context<'_>) -> Option<Stand> {
    let missing = missing(facts);
    if missing.is_empty() {
        return None;
    }
    let phase = match (facts.was_ready, facts.has_begun()) {
        (true, _) => ClusterPhase::Resizing,
        // A host is replaced before the cluster was ready: the others go on.
        (false, true) => ClusterPhase::Provisioning,
        (false, false) => ClusterPhase::Claiming,
    };
    let root = context.root();
    let (chosen, shortage) = select(facts, &missing, &root);
    if let Some(shortage) = shortage {
        let mut stand = Stand::new(phase, LIMIT, "InsufficientHosts", shortage.to_string());
        stand.is_degraded = facts.was_ready;
        if phase == ClusterPhase::Claiming {
            // Nobody holds hosts that are of no use to it as long as others are missing.
            let most = context.world().most_writes();
            for held in facts.held.iter().filter(|held| !facts.has_failed(held)).take(most) {
                stand.plan.write(facts.hand_over(held, "its cluster did not get all of its hosts"));
            }
        }
        quarantine_failed(facts, &mut stand.plan);
        return Some(stand);
    }
    let driver = driver(facts, &root);
    let total = chosen.len();
    let most = context.world().most_writes();
    let told = format!("{total} hosts are being claimed");
    let mut stand = Stand::new(phase, LIMIT, "ClaimingHosts", told);
    for (set, host) in chosen.into_iter().take(most) {
        stand.plan.write(claim(facts, &set, &host, driver, &root));
    }
    quarantine_failed(facts, &mut stand.plan);
    Some(stand)
}

/// What the node sets lack.
fn missing(facts: &Facts<'_>) -> Vec<(String, Wanted)> {
    let sets = facts.cluster.spec.node_sets.iter().filter_map(|(name, set)| {
        let size = usize::try_from(set.size).unwrap_or_default();
        let count = size.saturating_sub(facts.staying(name).len());
        let of_template = facts.template.as_ref().and_then(|template| template.node_sets.get(name));
        let mut selector = of_template.map(|set| set.host_selector.clone()).unwrap_or_default();
        selector.extend(set.host_selector.clone());
        let spread = match set.spread.is_empty() {
            true => of_template.map(|set| set.spread.clone()).unwrap_or_default(),
            false => set.spread.clone(),
        };
        let class = set.host_class.clone().or_else(|| of_template.map(|set| set.host_class.clone()));
        (count > 0)
            .then(|| (name.clone(), Wanted { class: class.unwrap_or_default(), count, selector, spread }))
    });
    sets.collect()
}

type Chosen = Vec<(String, Arc<Host>)>;

fn select(
    facts: &Facts<'_>,
    missing: &[(String, Wanted)],
    root: &dyn QueryContext,
) -> (Chosen, Option<Shortage>) {
    let mut taken = BTreeSet::new();
    let mut chosen = Vec::new();
    for (set, wanted) in missing {
        let has: Vec<Arc<Host>> = facts.staying(set).iter().map(|held| held.host.clone()).collect();
        match selection::select(root, wanted, &has, &taken, facts.cluster.identifier()) {
            Err(shortage) => return (Vec::new(), Some(shortage)),
            Ok(hosts) => {
                taken.extend(hosts.iter().map(|host| host.metadata.name.clone()));
                chosen.extend(hosts.into_iter().map(|host| (set.clone(), host)));
            }
        }
    }
    (chosen, None)
}

/// What drives the BMCs of its hosts.
fn driver(facts: &Facts<'_>, root: &dyn QueryContext) -> Option<&'static str> {
    let (placement, _) = facts.placement.as_ref()?;
    let hub = root.find::<Hub>(placement.spec.hub.as_deref()?)?;
    Some(provisioners::of(hub.spec.provisioner.unwrap_or_default()).driver())
}

/// The write that claims a host, which is refused if somebody else was faster.
fn claim(
    facts: &Facts<'_>,
    set: &str,
    host: &Host,
    driver: Option<&'static str>,
    root: &dyn QueryContext,
) -> Write {
    let name = &host.metadata.name;
    let mut spec = json!({"hostRef": {"name": name}, "holder": facts.claimant(), "nodeSet": set});
    if let Some(driver) = driver {
        spec["outsideDriver"] = driver.into();
    }
    match root.get(&HostClaim::address("", name)) {
        Some(found) => {
            let mut claim = Object::clone(&found);
            claim.set("spec", Some(spec));
            Write::Update(String::new(), claim)
        }
        None => {
            let mut claim = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), HostClaim::KIND);
            claim.set_meta("name", Some(name.as_str().into()));
            claim.set("spec", Some(spec));
            Write::Create(String::new(), claim)
        }
    }
}

/// Hosts that could not be installed leave, and nobody else gets them before somebody has looked at them.
pub fn quarantine_failed(facts: &Facts<'_>, plan: &mut Plan) {
    for held in facts.held.iter().filter(|held| facts.has_failed(held)) {
        plan.write(facts.hand_over(held, "it could not be installed"));
        plan.writes.extend(quarantine(facts, held));
        let at = Target::new(facts.target.plane.clone(), facts.target.at.clone());
        let note = format!(
            "host {} could not be installed ({}); another one takes its place",
            held.host.metadata.name,
            held.told()
        );
        plan.write(Write::Event(at, event("HostReplaced", note)));
    }
}

fn quarantine(facts: &Facts<'_>, held: &Held) -> Option<Write> {
    if held.host.spec.quarantine.is_some() {
        return None;
    }
    let name = &held.host.metadata.name;
    let reason =
        format!("it could not be installed for cluster {}: {}", facts.cluster.metadata.name, held.told());
    let reason: String = reason.chars().take(1000).collect();
    let patch: Value = json!({"spec": {"quarantine": {"reason": reason}}});
    Some(Write::Patch(Target::of::<Host>("", "", name), patch))
}

fn event(reason: &str, note: String) -> Event {
    Event {
        is_warning: true,
        reason: reason.to_owned(),
        note,
        annotations: std::collections::BTreeMap::new(),
    }
}

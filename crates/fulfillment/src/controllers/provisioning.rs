//! The host provisioning controller: brings claimed hosts into their clusters, and cleans those that leave.
//!
//! Hosts that leave a cluster are held by it until they are clean. What may be on their drives is noted before it is written and
//! taken back only when the provisioner says that they were cleaned.

mod facts;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, DependsOn, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reach;
use crate::hubs::Hubs;
use crate::kinds::host::HostProvisioning;
use crate::kinds::host_claim::{CLEANER, Claimant};
use crate::kinds::{Cluster, ClusterPlacement, Host, HostClaim, HostClass};
use crate::provisioners::HostStep;
use crate::states::{ClusterPhase, HostPhase, HostPowerState, HostState};

/// Longest message of a provisioner that is kept.
const LONGEST: usize = 2000;

/// Reconciles hosts that are part of clusters.
pub struct ProvisioningController {
    hubs: Arc<Hubs>,
}

impl ProvisioningController {
    /// A controller with these connections.
    pub fn new(hubs: Arc<Hubs>) -> ProvisioningController {
        ProvisioningController { hubs }
    }
}

impl Reconciler for ProvisioningController {
    fn name(&self) -> &'static str {
        CLEANER
    }

    fn description(&self) -> &'static str {
        "Has claimed hosts installed for their clusters, cleans hosts that leave, and releases them once they are clean."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Host>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["hosts/status"], &["update"]),
            Rule::new(crate::GROUP, &["hostclaims"], &["update"]),
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 8, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // Whether a cluster has all of its hosts is in its status.
        DependsOn::Everything
    }

    fn attach(&self, bell: Bell) {
        self.hubs.attach("hosts", bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Ok(host) = Host::deserialize(&Value::Object(object.0.clone())) else { return Plan::nothing() };
        let root = context.root();
        let claim = root.get(&HostClaim::address("", object.name()));
        let holder = claim
            .as_ref()
            .and_then(|claim| HostClaim::deserialize(&Value::Object(claim.0.clone())).ok())
            .and_then(|claim| Some((claim.spec.holder?, claim.spec.node_set.unwrap_or_default())));
        match (holder, claim) {
            (Some((holder, set)), _) if holder.is_cluster() => {
                self.install(target, object, &host, (&holder, &set), context)
            }
            (Some((holder, _)), Some(claim)) if holder.is_cleaner() => {
                self.clean(target, object, &host, &claim, context)
            }
            _ => forgotten(target, object, &host),
        }
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let done = reach::execute(&self.hubs, action, &execution.target).await;
            done.unwrap_or_else(|| Outcome::Failed(format!("unknown action {:?}", action.name)))
        })
    }
}

impl ProvisioningController {
    fn install(
        &self,
        target: &Target,
        object: &Arc<Object>,
        host: &Host,
        (holder, set): (&Claimant, &str),
        context: &Context<'_>,
    ) -> Plan {
        let mut plan = Plan::nothing();
        let root = context.root();
        let Some((cluster, placement)) = cluster_of(holder, context) else { return plan };
        let phase = cluster.status.as_ref().and_then(|status| status.phase);
        if matches!(
            phase,
            None | Some(ClusterPhase::Placing | ClusterPhase::Claiming | ClusterPhase::Deleting)
        ) {
            return plan.waiting_for("its cluster to have all of its hosts");
        }
        let Some(hub) = placement.spec.hub.clone() else { return plan };
        let reached = match reach::reach(&self.hubs, &hub, target, &root) {
            Ok(reached) => reached,
            Err(unreached) => {
                plan.actions.extend(unreached.action);
                return plan.waiting_for(unreached.message);
            }
        };
        let facts = facts::of(host, &cluster, set, &root);
        let before = host.status.as_ref().and_then(|status| status.provisioning.clone());
        let before = before.filter(|before| before.cluster == cluster.identifier());
        let mut step = reached.provisioner.install(&reached.facts, &facts, &reached.link);
        let is_dirty = before.as_ref().is_some_and(|before| before.is_dirty)
            || matches!(step.phase, HostPhase::Booting | HostPhase::Installing | HostPhase::Installed);
        let is_noted = before.is_some();
        let calls = std::mem::take(&mut step.calls);
        write(
            target,
            object,
            &step,
            before,
            (cluster.identifier(), &hub, is_dirty),
            context.now(),
            &mut plan,
        );
        // What is begun is on record first, so that it is cleaned up whatever happens.
        if is_noted {
            plan.actions.extend(reach::calls(&hub, reached.link.version(), &calls));
        }
        match step.phase {
            HostPhase::Installed => plan,
            _ => plan.waiting_for(step.message),
        }
    }

    fn clean(
        &self,
        target: &Target,
        object: &Arc<Object>,
        host: &Host,
        claim: &Arc<Object>,
        context: &Context<'_>,
    ) -> Plan {
        let mut plan = Plan::nothing();
        let status = host.status.as_ref();
        let Some(before) = status.and_then(|status| status.provisioning.clone()) else {
            // Nothing was ever begun.
            return released(target, object, claim);
        };
        let Some(hub) = status.and_then(|status| status.hub.clone()) else {
            return released(target, object, claim);
        };
        let root = context.root();
        let now = context.now();
        let class = host
            .spec
            .class
            .as_deref()
            .and_then(|class| (&root as &dyn QueryContext).find::<HostClass>(class));
        let limit = class.as_ref().map_or(Duration::from_secs(7200), |class| class.cleaning_limit());
        let reached = match reach::reach(&self.hubs, &hub, target, &root) {
            Ok(reached) => reached,
            Err(unreached) if unreached.reason == "HubGone" && !before.is_dirty => {
                return released(target, object, claim);
            }
            Err(unreached) => {
                plan.actions.extend(unreached.action);
                let message = format!("it can't be cleaned: {}", unreached.message);
                if unreached.reason != "Connecting" {
                    let step =
                        HostStep { calls: Vec::new(), phase: HostPhase::Leaving, message, is_on: None };
                    let since = (before.cluster.clone(), before.is_dirty);
                    let noted = (since.0.as_str(), hub.as_str(), since.1);
                    write(target, object, &step, Some(before), noted, now, &mut plan);
                }
                return plan.waiting_for(unreached.message);
            }
        };
        let facts = facts::leaving(host, &before, class.as_deref(), &root);
        let mut step = reached.provisioner.clean(&reached.facts, &facts, &reached.link);
        let calls = std::mem::take(&mut step.calls);
        let is_cleaned = step.phase == HostPhase::Cleaned;
        if is_cleaned && facts.is_clean && calls.is_empty() {
            return released(target, object, claim);
        }
        let elapsed =
            Moment::parse(&before.since).ok().map(|since| now.seconds - since.seconds).unwrap_or_default();
        let is_late = u64::try_from(elapsed).is_ok_and(|elapsed| elapsed >= limit.as_secs());
        if is_late && !is_cleaned && step.phase != HostPhase::CleaningFailed && before.phase == step.phase {
            step.message = format!("it takes longer than {} s: {}", limit.as_secs(), step.message);
        }
        let is_dirty = before.is_dirty && !is_cleaned;
        let noted = (before.cluster.clone(), is_dirty);
        // That it is clean is on record before the provisioner forgets it.
        let may_call = facts.is_clean || !is_cleaned;
        write(target, object, &step, Some(before), (&noted.0, &hub, noted.1), now, &mut plan);
        if may_call {
            plan.actions.extend(reach::calls(&hub, reached.link.version(), &calls));
        }
        plan.again_after(limit.max(Duration::from_secs(1)));
        plan.waiting_for(step.message)
    }
}

/// The cluster that holds a host, and where it is placed.
fn cluster_of(holder: &Claimant, context: &Context<'_>) -> Option<(Cluster, ClusterPlacement)> {
    let project = holder.project.as_deref()?;
    let found = context.look(project).get(&Cluster::address("", &holder.name))?;
    let cluster = Cluster::deserialize(&Value::Object(found.0.clone())).ok()?;
    if holder.uid.as_deref() != Some(&cluster.metadata.uid) || found.is_deleting() {
        return None;
    }
    let placement = context.root().get(&ClusterPlacement::address("", cluster.identifier()))?;
    let placement = ClusterPlacement::deserialize(&Value::Object(placement.0.clone())).ok()?;
    (placement.spec.retired != Some(true)).then_some((cluster, placement))
}

/// Writes how far a host is into its status.
fn write(
    target: &Target,
    object: &Arc<Object>,
    step: &HostStep,
    before: Option<HostProvisioning>,
    (cluster, hub, is_dirty): (&str, &str, bool),
    now: Moment,
    plan: &mut Plan,
) {
    let since = before.filter(|before| before.phase == step.phase).map(|before| before.since);
    let provisioning = HostProvisioning {
        phase: step.phase,
        since: since.unwrap_or_else(|| now.to_string()),
        cluster: cluster.to_owned(),
        is_dirty,
        message: step.message.chars().take(LONGEST).collect(),
    };
    let state = match step.phase {
        HostPhase::Installed => HostState::Ready,
        HostPhase::Failed | HostPhase::CleaningFailed => HostState::Failed,
        _ => HostState::Progressing,
    };
    let mut new = Object::clone(object);
    let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
    status["provisioning"] = json!(provisioning);
    status["state"] = json!(state);
    status["hub"] = hub.into();
    if let Some(is_on) = step.is_on {
        status["powerState"] = json!(if is_on { HostPowerState::On } else { HostPowerState::Off });
    }
    new.set("status", Some(status));
    plan.change(&target.plane, object, new);
}

/// A host that is clean is free.
fn released(target: &Target, object: &Arc<Object>, claim: &Arc<Object>) -> Plan {
    let mut plan = Plan::nothing();
    let mut free = Object::clone(claim);
    if let Some(spec) = free.0.get_mut("spec").and_then(Value::as_object_mut) {
        ["holder", "delegate", "outsideDriver", "nodeSet", "reason"]
            .iter()
            .for_each(|it| drop(spec.remove(*it)));
    }
    plan.change("", claim, free);
    plan.change(&target.plane, object, without_cluster(object));
    plan
}

/// Of a host that nobody holds for a cluster nothing of one is told.
fn forgotten(target: &Target, object: &Arc<Object>, host: &Host) -> Plan {
    let mut plan = Plan::nothing();
    if host.status.as_ref().is_some_and(|status| status.provisioning.is_some()) {
        plan.change(&target.plane, object, without_cluster(object));
    }
    plan
}

fn without_cluster(object: &Arc<Object>) -> Object {
    let mut new = Object::clone(object);
    if let Some(status) = new.0.get_mut("status").and_then(Value::as_object_mut) {
        ["provisioning", "hub", "state"].iter().for_each(|field| drop(status.remove(*field)));
    }
    new
}

//! The cluster controller: the states of a cluster, one file for each.
//!
//! It reads and writes objects alone. What happens in hubs and in DNS, it knows from the status of the ClusterPlacement and of the
//! hosts, which other controllers keep. A cluster is in the first state that is not over: what has to be done is found anew each
//! time, and what is stored of the state serves its time limit and people.

mod claiming;
mod deleting;
mod facts;
mod installing;
mod placing;
mod provisioning;
mod ready;
mod resizing;
mod resolving;
mod upgrading;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::state::{DEADLINE_EXCEEDED, PROGRESSING};
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use self::facts::Facts;
use crate::kinds::Cluster;
use crate::states::{ClusterPhase, ClusterState};

/// Keeps clusters until nothing of them is left.
pub const FINALIZER: &str = "fulfillment.groundplane.dev/cluster";

/// Reconciles clusters.
pub struct ClusterController;

/// The state that a cluster is in, and what is done there.
pub struct Stand {
    /// The state.
    pub phase: ClusterPhase,
    /// How long a cluster may be in it.
    pub limit: Duration,
    /// What it waits for: a reason in CamelCase and a sentence. Nothing of hubs: tenants read it.
    pub waits: Option<(&'static str, String)>,
    /// Whether something is wrong that the cluster can live with.
    pub is_degraded: bool,
    /// What is written.
    pub plan: Plan,
}

impl Stand {
    fn new(
        phase: ClusterPhase,
        limit: Duration,
        reason: &'static str,
        waits_for: impl Into<String>,
    ) -> Stand {
        let waits = Some((reason, waits_for.into()));
        Stand { phase, limit, waits, is_degraded: false, plan: Plan::nothing() }
    }
}

impl Reconciler for ClusterController {
    fn name(&self) -> &'static str {
        "cluster-controller"
    }

    fn description(&self) -> &'static str {
        "Places clusters on hubs, claims hosts for them, and takes them through their states."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Cluster>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["clusters", "clusters/status"], &["update"]),
            Rule::new(crate::GROUP, &["clusterplacements"], &["create", "update"]),
            Rule::new(crate::GROUP, &["hostclaims"], &["create", "update"]),
            Rule::new(crate::GROUP, &["hosts"], &["patch"]),
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 8, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // How far placements and hosts are is in their status.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Some(facts) = Facts::gather(target, object, context) else { return Plan::nothing() };
        if object.is_deleting() {
            return match object.finalizers().contains(&FINALIZER) {
                true => told(&facts, deleting::step(&facts), context),
                false => Plan::nothing(),
            };
        }
        if !object.finalizers().contains(&FINALIZER) {
            let mut new = Object::clone(object);
            if let Some(template) = &facts.template {
                // Whoever asked through the fulfillment API has it completed already.
                let mut spec = facts.cluster.spec.clone();
                crate::templates::complete(&mut spec, template);
                new.set("spec", Some(json!(spec)));
            }
            let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
            finalizers.push(FINALIZER.to_owned());
            new.set_finalizers(finalizers);
            let mut plan = Plan::nothing();
            plan.change(&target.plane, object, new);
            return plan;
        }
        told(&facts, live(&facts, context), context)
    }
}

/// The first state that is not over.
fn live(facts: &Facts<'_>, context: &Context<'_>) -> Stand {
    if let Some(stand) = placing::step(facts, context) {
        return stand;
    }
    if let Some(stand) = claiming::step(facts, context) {
        return stand;
    }
    if facts.was_ready {
        let changing = resizing::step(facts).or_else(|| upgrading::step(facts));
        return changing.or_else(|| resolving::step(facts)).unwrap_or_else(|| ready::step(facts));
    }
    let next = installing::step(facts).or_else(|| provisioning::step(facts));
    next.or_else(|| resolving::step(facts)).unwrap_or_else(|| ready::step(facts))
}

/// Writes what a state says into the status of the cluster, with its time limit.
fn told(facts: &Facts<'_>, stand: Stand, context: &Context<'_>) -> Plan {
    let Stand { phase, limit, waits, is_degraded, mut plan } = stand;
    if plan.writes.iter().any(|write| {
        matches!(write.subject(), reconcile::plan::Subject::Object(plane, object)
        if plane == facts.target.plane && object.name() == facts.object.name() && object.kind() == "Cluster")
    }) {
        return plan;
    }
    let now = context.now();
    let since = facts.since_of(phase).unwrap_or(now);
    let mut new = Object::clone(facts.object);
    let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
    let state = match phase {
        ClusterPhase::Ready => ClusterState::Ready,
        ClusterPhase::Resizing | ClusterPhase::Upgrading => ClusterState::Ready,
        _ => ClusterState::Progressing,
    };
    status["state"] = json!(state);
    status["phase"] = json!(phase);
    status["phaseSince"] = since.to_string().into();
    set(&mut status, "waitingFor", waits.as_ref().map(|(_, what)| what.clone().into()));
    facts.tell_nodes(&mut status);
    if phase != ClusterPhase::Deleting {
        facts.tell_addresses(&mut status);
    }
    if phase == ClusterPhase::Ready {
        // A template without releases has images by parameter.
        let release = facts.release().map_or("custom", |release| release.name.as_str());
        set(&mut status, "release", Some(release.into()));
    }
    new.set("status", Some(status));
    let told = now.to_string();
    let (reason, message) = waits.clone().unwrap_or(("AsWanted", String::new()));
    let is_usable = state == ClusterState::Ready;
    let finding = |kind: &'static str, holds: bool, reason: &'static str, message: &str| {
        let message = message.to_owned();
        Finding { kind, holds, reason, message }.tell(&mut new, &told);
    };
    let mut finding = finding;
    finding(
        "Ready",
        is_usable,
        if is_usable { "Available" } else { reason },
        if is_usable { "" } else { &message },
    );
    finding("Degraded", is_degraded, reason, if is_degraded { &message } else { "" });
    finding("Failed", false, "NotFailed", "");
    let is_overdue = krm::condition::find(facts.object, PROGRESSING)
        .is_some_and(|found| found["reason"] == DEADLINE_EXCEEDED && found["status"] == "False");
    // Once the limit of a state has passed, the condition says so until the state is another one.
    if !is_overdue || facts.since_of(phase).is_none() {
        let is_moving = phase != ClusterPhase::Ready;
        finding(PROGRESSING, is_moving, reason, if is_moving { &message } else { "" });
    }
    plan.change(&facts.target.plane, facts.object, new);
    let plan = match waits {
        Some((_, what)) => plan.waiting_for(what),
        None => plan,
    };
    match phase {
        ClusterPhase::Ready => plan,
        _ => plan.in_state(format!("{phase:?}"), since, limit),
    }
}

/// Sets a field, or removes it.
fn set(status: &mut Value, field: &str, value: Option<Value>) {
    let Some(map) = status.as_object_mut() else { return };
    match value.filter(|value| value.as_str() != Some("")) {
        Some(value) => drop(map.insert(field.to_owned(), value)),
        None => drop(map.remove(field)),
    }
}

/// Seconds between two moments; none if the second is before the first.
fn elapsed(since: Moment, now: Moment) -> Duration {
    Duration::from_secs(u64::try_from(now.seconds - since.seconds).unwrap_or_default())
}

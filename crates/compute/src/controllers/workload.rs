//! The workload controller: a deployment for each place of each placement, and how the workload is doing.

mod deployments;
mod rollup;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Deletion, Event, Plan, Write};
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use self::deployments::Deployments;
use self::rollup::Rollup;
use crate::conditions::ConditionUpdate;
use crate::entitlement::{Access, access};
use crate::hash::template_hash;
use crate::kinds::workload::RolloutPhase;
use crate::kinds::workload_deployment::OF_WORKLOAD;
use crate::kinds::{Workload, WorkloadDeployment};
use crate::names::FINALIZER;
use crate::places::{self, places};
use crate::{NETWORKING_GROUP, NETWORKS};

/// Reconciles workloads.
pub struct WorkloadController;

impl Reconciler for WorkloadController {
    fn name(&self) -> &'static str {
        "workload-controller"
    }

    fn description(&self) -> &'static str {
        "Makes a deployment for each city of a workload, rolls out its template, and sums up how it is doing."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Workload>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["workloads", "workloads/status"], &["update"]),
            Rule::new(crate::GROUP, &["workloaddeployments"], &["create", "update", "delete"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // How deployments are doing is in their status.
        DependsOn::Everything
    }

    fn settings(&self) -> Settings {
        Settings { settling: Duration::from_millis(20), ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Some(workload) = read(object) else { return Plan::nothing() };
        let existing = context.here().bucket(OF_WORKLOAD, object.uid());
        if object.is_deleting() {
            return end(target, object, &existing);
        }
        let mut plan = Plan::nothing();
        let mut new = Object::clone(object);
        if !object.finalizers().contains(&FINALIZER) {
            let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
            finalizers.push(FINALIZER.to_owned());
            new.set_finalizers(finalizers);
        }
        let places = places(&context.here().bucket(places::AVAILABLE, places::ALL));
        let access = access(context);
        let mut rollup = Rollup::new(object, &workload, &existing, context.now());
        let deployments = Deployments { object, workload: &workload, places: &places, existing: &existing };
        match &access {
            Access::Revoked(why) => {
                existing
                    .iter()
                    .for_each(|deployment| plan.independent.push(delete(&target.plane, deployment)));
                rollup.blocked = Some(ConditionUpdate::no("Available", "ServiceRevoked", why.clone()));
            }
            _ => {
                let missing = missing_networks(object, &workload, context);
                if missing.is_empty() {
                    rollup.unmatched = deployments.write(&target.plane, &mut plan, context);
                } else {
                    let message = format!("Unable to find networks: {}", missing.join(", "));
                    rollup.blocked = Some(ConditionUpdate::no("Available", "NetworkNotFound", message));
                }
                if let Access::Suspended(why) = &access {
                    rollup.blocked = Some(ConditionUpdate::no("Available", "Suspended", why.clone()));
                }
            }
        }
        rollup.canary_waits = deployments.is_canary_waiting();
        rollup.is_changing = !plan.independent.is_empty();
        let status = rollup.status();
        let phase = status["rollout"]["phase"].clone();
        new.set("status", Some(status));
        if let Some(pause) = rollup.deadline() {
            plan.again_after(pause);
        }
        if phase == json!(RolloutPhase::Blocked) {
            roll_back(target, &workload, &mut new, &mut plan);
        }
        plan.change(&target.plane, object, new);
        plan
    }
}

/// Brings the last template back that all instances were ready with, if the workload asks for that.
fn roll_back(target: &Target, workload: &Workload, new: &mut Object, plan: &mut Plan) {
    let is_asked =
        workload.spec.rollout.as_ref().is_some_and(|rollout| rollout.auto_rollback && !rollout.paused);
    let Some(stable) = new.at("status.stableTemplate").cloned().filter(|_| is_asked) else { return };
    let template = new.at("spec.template").cloned().unwrap_or_default();
    if template_hash(&stable) == template_hash(&template) {
        return;
    }
    let message = new.at("status.rollout.message").and_then(Value::as_str).unwrap_or_default();
    let note = format!("The rollout failed, and the last template that worked was brought back: {message}");
    let event =
        Event { is_warning: true, reason: "RolledBack".to_owned(), note, annotations: Default::default() };
    plan.write(Write::Event(target.clone(), event));
    new.set_at("spec.template", stable);
}

/// Networks of the template that don't exist.
fn missing_networks(object: &Object, workload: &Workload, context: &Context<'_>) -> Vec<String> {
    let interfaces = workload.spec.template.spec.network_interfaces.iter();
    let names = interfaces.map(|interface| interface.network.name.clone());
    let is_missing = |name: &String| {
        let at = Address {
            group: NETWORKING_GROUP.to_owned(),
            plural: NETWORKS.to_owned(),
            namespace: object.namespace().to_owned(),
            name: name.clone(),
        };
        context.here().get(&at).is_none()
    };
    names.filter(is_missing).collect()
}

/// A workload that is deleted deletes its deployments, and goes once they are gone.
fn end(target: &Target, object: &Arc<Object>, existing: &[Arc<Object>]) -> Plan {
    let mut plan = Plan::nothing();
    for deployment in existing.iter().filter(|deployment| !deployment.is_deleting()) {
        plan.independent.push(delete(&target.plane, deployment));
    }
    if existing.is_empty() && object.finalizers().contains(&FINALIZER) {
        let mut new = Object::clone(object);
        let left = object.finalizers().into_iter().filter(|name| *name != FINALIZER);
        new.set_finalizers(left.map(str::to_owned).collect());
        plan.change(&target.plane, object, new);
    }
    match existing.len() {
        0 => plan,
        left => plan.waiting_for(format!("{left} deployments are being deleted")),
    }
}

fn delete(plane: &str, deployment: &Object) -> Write {
    let at = Target::of::<WorkloadDeployment>(plane, deployment.namespace(), deployment.name());
    Write::Delete(at, Deletion { uid: Some(deployment.uid().to_owned()), ..Deletion::default() })
}

fn read(object: &Object) -> Option<Workload> {
    serde_json::from_value(Value::Object(object.0.clone())).ok()
}

/// Seconds from one moment to another; 0 if it is later.
fn seconds_between(from: Moment, to: Moment) -> u64 {
    u64::try_from(to.seconds.saturating_sub(from.seconds)).unwrap_or(0)
}

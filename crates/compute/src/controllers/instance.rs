//! The instance controller: quota, referenced data and network of an instance, its gates, and whether it is ready.

mod readiness;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use super::network::{Attached, Networks};
use super::text;
use crate::claims::{INSTANCES, PAYING_FOR, REGISTRATIONS};
use crate::conditions::{self, ConditionUpdate, find};
use crate::kinds::Instance;
use crate::names::{DATA_GATE, DEPLOYMENT_NAME, INSTANCE_INDEX, NETWORK_GATE, QUOTA_GATE};
use crate::template::{networks, required_data};

pub use readiness::{Gates, ready};

/// Reconciles instances.
pub struct InstanceController;

impl Reconciler for InstanceController {
    fn name(&self) -> &'static str {
        "instance-controller"
    }

    fn description(&self) -> &'static str {
        "Lets instances start once quota, network and referenced data are there, and sums up whether they are ready."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Instance>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["instances", "instances/status"], &["update"])]
    }

    fn depends_on(&self) -> DependsOn {
        // What the agent reports, and whether a claim is granted, is in a status.
        DependsOn::Everything
    }

    fn settings(&self) -> Settings {
        Settings { settling: Duration::from_millis(5), ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if object.is_deleting() {
            return plan;
        }
        let now = context.now().to_string();
        let mut new = Object::clone(object);
        let quota = quota(object, context);
        let data = referenced_data(object, context);
        let network = network(object, context);
        let mut left = gates(object);
        left.retain(|gate| match gate.as_str() {
            QUOTA_GATE => !quota.holds(),
            DATA_GATE => data.as_ref().is_some_and(|data| !data.holds()),
            NETWORK_GATE => network != Networks::Ready,
            _ => true,
        });
        if left.len() != gates(object).len() {
            let gates: Vec<Value> = left.iter().map(|name| json!({ "name": name })).collect();
            let mut controller = object.at("spec.controller").cloned().unwrap_or_else(|| json!({}));
            controller["schedulingGates"] = json!(gates);
            if gates.is_empty() {
                controller.as_object_mut().map(|controller| controller.remove("schedulingGates"));
            }
            new.set_at("spec.controller", controller);
        }
        let mut told = vec![quota.clone()];
        told.extend(data.clone());
        if quota.status == "False" && left.iter().any(|gate| gate == QUOTA_GATE) {
            told.push(ConditionUpdate::no("Programmed", "PendingQuota", "Insufficient quota"));
            told.push(ConditionUpdate::no("Available", "PendingQuota", "Insufficient quota"));
        }
        told.iter().for_each(|told| told.tell_of(&mut new, &now));
        let waiting = Gates { left: &left, quota: &quota, data: data.as_ref(), network: &network };
        ready(conditions::of(&new), &waiting).tell_of(&mut new, &now);
        plan.change(&target.plane, object, new);
        match left.is_empty() {
            true => plan,
            false => plan.waiting_for(format!("gates: {}", left.join(", "))),
        }
    }
}

fn gates(object: &Object) -> Vec<String> {
    let gates = object.at("spec.controller.schedulingGates").and_then(Value::as_array);
    gates.into_iter().flatten().filter_map(|gate| gate["name"].as_str().map(str::to_owned)).collect()
}

/// Whether the claim of the instance's ordinal is granted.
fn quota(object: &Object, context: &Context<'_>) -> ConditionUpdate {
    let kind = "QuotaGranted";
    if context.root().bucket(REGISTRATIONS, INSTANCES).is_empty() {
        return ConditionUpdate::yes(kind, "QuotaDisabled", "No quota is kept of instances");
    }
    let owner = object.owners().next().map(|owner| owner.uid.to_owned()).unwrap_or_default();
    let claims = context.here().bucket(PAYING_FOR, &owner);
    let own = claims.iter().find(|claim| claim.label(INSTANCE_INDEX) == object.label(INSTANCE_INDEX));
    let Some(claim) = own else {
        return ConditionUpdate::unknown(kind, "PendingEvaluation", "Waiting for quota evaluation");
    };
    let Some(granted) = find(conditions::of(claim), "Granted") else {
        return ConditionUpdate::unknown(kind, "PendingEvaluation", "Waiting for quota evaluation");
    };
    match (granted.is_true(), granted.reason) {
        (true, _) => ConditionUpdate::yes(kind, "QuotaAvailable", granted.message),
        (false, "PendingEvaluation") => {
            ConditionUpdate::unknown(kind, "QuotaNoBudget", "No quota was granted to the project")
        }
        (false, "ValidationFailed") => ConditionUpdate::no(kind, "ValidationFailed", granted.message),
        (false, _) => ConditionUpdate::no(kind, "QuotaExceeded", denied(claim, granted.message)),
    }
}

/// What a claim lacks, with numbers where they are known.
fn denied(claim: &Object, otherwise: &str) -> String {
    let allocations = claim.at("status.allocations").and_then(Value::as_array).into_iter().flatten();
    let lacking = allocations.filter(|allocation| allocation["reason"] == "QuotaExceeded");
    let said: Vec<String> = lacking
        .filter_map(|allocation| {
            let kind = allocation["resourceType"].as_str()?;
            Some(format!("{kind}: {}", allocation["message"].as_str()?))
        })
        .collect();
    if said.is_empty() { otherwise.to_owned() } else { said.join("; ") }
}

/// Whether the ConfigMaps and Secrets exist that the instance can't start without. Nothing of them is read but that.
fn referenced_data(object: &Object, context: &Context<'_>) -> Option<ConditionUpdate> {
    let kind = "ReferencedDataReady";
    let needed = required_data(object.get("spec")?);
    if needed.is_empty() {
        return None;
    }
    let namespace = object.namespace();
    let missing = needed.iter().find(|needed| {
        let at = Address {
            group: String::new(),
            plural: needed.plural().to_owned(),
            namespace: namespace.to_owned(),
            name: needed.name.clone(),
        };
        context.metadata(&Target::new(context.plane(), at)).is_none()
    });
    Some(match missing {
        None => ConditionUpdate::yes(kind, "DataAvailable", "All referenced ConfigMaps and Secrets exist"),
        // What an instance was started with it keeps.
        Some(_) if !gates(object).iter().any(|gate| gate == DATA_GATE) => ConditionUpdate::yes(
            kind,
            "DataAvailable",
            "All referenced ConfigMaps and Secrets existed at the start",
        ),
        Some(missing) => {
            let message = format!("{} {:?} not found in namespace {namespace:?}", missing.kind, missing.name);
            ConditionUpdate::no(kind, "SourceNotFound", message)
        }
    })
}

fn network(object: &Object, context: &Context<'_>) -> Networks {
    let attached = Attached {
        namespace: object.namespace(),
        deployment: object.label(DEPLOYMENT_NAME).unwrap_or_default(),
        networks: object.get("spec").map(networks).unwrap_or_default(),
    };
    // Once it is attached, what happens to the network is for the agent to tell.
    if !gates(object).iter().any(|gate| gate == NETWORK_GATE) || text(object, "spec.location.name").is_empty()
    {
        return Networks::Ready;
    }
    attached.state(context)
}

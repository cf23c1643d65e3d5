//! The deployment controller: starts, replaces and stops the instances of a workload in one city.

pub mod ordered;
mod rollup;

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use self::ordered::{DesiredState, Slot, Steps};
use self::rollup::Observed;
use super::network::{Attached, Networks};
use super::{owner_reference, text};
use crate::autoscale::{Autoscaled, PERIOD};
use crate::catalog;
use crate::conditions;
use crate::hash::template_hash;
use crate::kinds::instance::OF_DEPLOYMENT;
use crate::kinds::{Instance, InstanceType, WorkloadDeployment};
use crate::names::{
    CITY_CODE, DATA_GATE, DEPLOYMENT_NAME, DEPLOYMENT_UID, FINALIZER, INSTANCE_INDEX, LOCATION, NETWORK_GATE,
    PLACEMENT_NAME, QUOTA_GATE, SERVICE_NAME, TOPOLOGY_CITY_CODE, WORKLOAD_NAME, WORKLOAD_UID,
    canonical_instance_type, instance_name,
};
use crate::places::{self, Place};
use crate::template::{networks, required_data};

/// Reconciles the instances of deployments.
pub struct DeploymentController {
    /// How often autoscaling looks at usage.
    pub period: Duration,
}

impl Default for DeploymentController {
    fn default() -> Self {
        DeploymentController { period: PERIOD }
    }
}

impl Reconciler for DeploymentController {
    fn name(&self) -> &'static str {
        "workload-deployment-controller"
    }

    fn description(&self) -> &'static str {
        "Starts, replaces and stops the instances of workloads in each city, one after another."
    }

    fn scope(&self) -> Scope {
        Scope::of::<WorkloadDeployment>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["workloaddeployments", "workloaddeployments/status"], &["update"]),
            Rule::new(crate::GROUP, &["instances"], &["create", "delete"]),
            Rule::new(crate::NETWORKING_GROUP, &["networkbindings"], &["create"]),
            Rule::new(crate::NETWORKING_GROUP, &["subnetclaims"], &["create", "update"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // Whether instances are ready is in their status.
        DependsOn::Everything
    }

    fn settings(&self) -> Settings {
        // Many instances report at about the same time.
        Settings { settling: Duration::from_millis(20), ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Some(deployment) = read(object) else { return Plan::nothing() };
        let instances = context.here().bucket(OF_DEPLOYMENT, object.uid());
        if object.is_deleting() {
            return end(target, object, &instances);
        }
        let mut plan = Plan::nothing();
        let here = Deployment::new(object, &deployment, context);
        let steps = here.steps(&instances);
        here.carry_out(&steps, &instances, &mut plan);
        let networks = here.networks(&mut plan, context);
        let mut new = Object::clone(object);
        if !object.finalizers().contains(&FINALIZER) {
            let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
            finalizers.push(FINALIZER.to_owned());
            new.set_finalizers(finalizers);
        }
        let refused = context.refused().first().map(|refused| refused.status.message.clone());
        let observed = Observed {
            instances: &instances,
            wanted: &here.wanted,
            place: here.place.as_ref(),
            networks: &networks,
            refused: refused.as_deref(),
        };
        let mut status = observed.status(object, steps.started, &context.now().to_string());
        if deployment.spec.scale_settings.max_replicas.is_some() {
            let scaled = Autoscaled {
                deployment: object,
                settings: &deployment.spec.scale_settings,
                instances: &instances,
                size: size(&deployment, context),
                desired: here.wanted.desired,
                period: self.period,
                now: context.now(),
            };
            if let Some((replicas, found)) = scaled.look() {
                status["autoscaling"] = found;
                new.set_at("spec.replicas", replicas.into());
            }
            plan.again_after(self.period);
        }
        new.set("status", Some(status));
        plan.change(&target.plane, object, new);
        if let Networks::Provisioning(what) = &networks {
            return plan.waiting_for(what.clone());
        }
        plan
    }
}

/// A deployment with what decides about its instances.
struct Deployment<'a> {
    object: &'a Object,
    template: Value,
    canary_template: Option<Value>,
    place: Option<Place>,
    wanted: DesiredState,
    plane: String,
}

impl<'a> Deployment<'a> {
    fn new(
        object: &'a Arc<Object>,
        deployment: &WorkloadDeployment,
        context: &Context<'_>,
    ) -> Deployment<'a> {
        let template = object.at("spec.template").cloned().unwrap_or_default();
        let rollout = deployment.spec.rollout.clone().unwrap_or_default();
        let places = places::places(&context.here().bucket(places::AVAILABLE, places::ALL));
        let place = match &deployment.spec.location_ref {
            Some(location) => places.into_iter().find(|place| place.location == location.name),
            None => places.into_iter().find(|place| Some(&place.city) == deployment.spec.city_code.as_ref()),
        };
        let started = object.at("status.startedReplicas").and_then(Value::as_u64).unwrap_or(0);
        let wanted = DesiredState {
            desired: deployment.desired(),
            started: u32::try_from(started).unwrap_or(0),
            hash: template_hash(&template),
            canary: rollout.canary_template.as_ref().map(template_hash),
            surge: rollout.surge,
            is_paused: rollout.paused,
            policy: deployment.spec.scale_settings.instance_management_policy,
        };
        let canary_template = rollout.canary_template;
        Deployment { object, template, canary_template, place, wanted, plane: context.plane().to_owned() }
    }

    /// What is done next. Without a place nothing is started; what runs goes on.
    fn steps(&self, instances: &[Arc<Object>]) -> Steps {
        let slots: Vec<Slot> = instances.iter().map(|instance| slot(instance)).collect();
        let mut steps = ordered::steps(&slots, &self.wanted);
        if self.place.is_none() {
            let is_excess =
                |index: &usize| slots[*index].ordinal.is_none_or(|ordinal| ordinal >= self.wanted.desired);
            steps.create.clear();
            steps.delete.retain(is_excess);
            steps.started = self.wanted.started;
        }
        steps
    }

    fn carry_out(&self, steps: &Steps, instances: &[Arc<Object>], plan: &mut Plan) {
        for index in &steps.delete {
            plan.independent.push(delete(&self.plane, &instances[*index]));
        }
        let Some(place) = &self.place else { return };
        for ordinal in &steps.create {
            plan.independent.push(Write::Create(self.plane.clone(), self.instance(*ordinal, place)));
        }
    }

    /// Provisions the networks, and says how far they are.
    fn networks(&self, plan: &mut Plan, context: &Context<'_>) -> Networks {
        let attached = Attached {
            namespace: self.object.namespace(),
            deployment: self.object.name(),
            networks: networks(&self.template["spec"]),
        };
        if let Some(place) = &self.place {
            attached.provision(plan, self.object, &place.location, context);
        }
        attached.state(context)
    }

    /// The instance with an ordinal.
    fn instance(&self, ordinal: u32, place: &Place) -> Object {
        let is_canary = self.wanted.canary.is_some() && ordinal + 1 == self.wanted.desired;
        let template = self.canary_template.as_ref().filter(|_| is_canary).unwrap_or(&self.template);
        let object = self.object;
        let mut labels = template["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        let own = [
            (WORKLOAD_UID, text(object, "spec.workloadRef.uid").to_owned()),
            (WORKLOAD_NAME, text(object, "spec.workloadRef.name").to_owned()),
            (DEPLOYMENT_UID, object.uid().to_owned()),
            (DEPLOYMENT_NAME, object.name().to_owned()),
            (PLACEMENT_NAME, text(object, "spec.placementName").to_owned()),
            (CITY_CODE, place.city.clone()),
            (TOPOLOGY_CITY_CODE, place.city.clone()),
            (LOCATION, place.location.clone()),
            (INSTANCE_INDEX, ordinal.to_string()),
            (SERVICE_NAME, crate::GROUP.to_owned()),
        ];
        labels.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value.into())));
        let mut gates = vec![json!({"name": NETWORK_GATE}), json!({"name": QUOTA_GATE})];
        if !required_data(&template["spec"]).is_empty() {
            gates.push(json!({"name": DATA_GATE}));
        }
        let mut spec = template["spec"].clone();
        spec["location"] = json!({"name": place.location});
        spec["controller"] = json!({"templateHash": self.wanted.hash_of(ordinal), "schedulingGates": gates});
        let mut made = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), Instance::KIND);
        made.set_meta("name", Some(instance_name(object.name(), ordinal).into()));
        made.set_meta("namespace", Some(object.namespace().into()));
        made.set_meta("labels", Some(labels.into()));
        let annotations = template["metadata"]["annotations"].clone();
        made.set_meta("annotations", Some(annotations).filter(|found| !found.is_null()));
        made.set_meta("ownerReferences", Some(json!([owner_reference(object)])));
        made.set_finalizers(vec![crate::names::AGENT_FINALIZER.to_owned()]);
        made.set("spec", Some(spec));
        made
    }
}

/// What an instance of a deployment has.
fn size(deployment: &WorkloadDeployment, context: &Context<'_>) -> Option<catalog::Size> {
    let name = &deployment.spec.template.spec.runtime.resources.instance_type;
    let entry = context.root().get(&InstanceType::address("", &canonical_instance_type(name)));
    catalog::size_in(name, entry.as_deref())
}

/// A deployment that is deleted stops all its instances, and goes once they are gone.
fn end(target: &Target, object: &Arc<Object>, instances: &[Arc<Object>]) -> Plan {
    let mut plan = Plan::nothing();
    for instance in instances.iter().filter(|instance| !instance.is_deleting()) {
        plan.independent.push(delete(&target.plane, instance));
    }
    if instances.is_empty() && object.finalizers().contains(&FINALIZER) {
        let mut new = Object::clone(object);
        let left = object.finalizers().into_iter().filter(|name| *name != FINALIZER);
        new.set_finalizers(left.map(str::to_owned).collect());
        plan.change(&target.plane, object, new);
    }
    match instances.len() {
        0 => plan,
        left => plan.waiting_for(format!("{left} instances are being stopped")),
    }
}

fn delete(plane: &str, instance: &Object) -> Write {
    let at = Target::of::<Instance>(plane, instance.namespace(), instance.name());
    Write::Delete(at, Deletion { uid: Some(instance.uid().to_owned()), ..Deletion::default() })
}

/// An instance as the decision about it sees it.
fn slot(instance: &Object) -> Slot {
    // A new one may have its quota, and nobody has looked yet: only one that was denied does not hold up others.
    let gates = instance.at("spec.controller.schedulingGates").and_then(Value::as_array);
    let is_gated = gates.into_iter().flatten().any(|gate| gate["name"] == QUOTA_GATE);
    let quota = conditions::find(conditions::of(instance), "QuotaGranted");
    let waits_for_quota = is_gated && quota.is_some_and(|quota| quota.status == "False");
    Slot {
        ordinal: instance.label(INSTANCE_INDEX).and_then(|text| text.parse().ok()),
        hash: text(instance, "spec.controller.templateHash").to_owned(),
        is_ready: conditions::holds(instance, "Ready"),
        is_deleting: instance.is_deleting(),
        waits_for_quota,
    }
}

fn read(object: &Object) -> Option<WorkloadDeployment> {
    serde_json::from_value(Value::Object(object.0.clone())).ok()
}

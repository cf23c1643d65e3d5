//! The deployments of a workload: one for each place, with the template that the place is to have by now.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::kind::{QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use serde_json::{Value, json};

use super::delete;
use crate::controllers::{owner_reference, text};
use crate::hash::template_hash;
use crate::kinds::placement::Placement;
use crate::kinds::{Workload, WorkloadDeployment};
use crate::names::{
    CITY_CODE, FINALIZER, LOCATION, PLACEMENT_NAME, SERVICE_NAME, TOPOLOGY_CITY_CODE, WORKLOAD_NAME,
    WORKLOAD_UID, deployment_name, short_deployment_name,
};
use crate::places::{Place, Spot, spots};
use crate::template::in_city;

/// What decides about the deployments of a workload.
pub struct Deployments<'a> {
    /// The workload.
    pub object: &'a Arc<Object>,
    /// The same as its type.
    pub workload: &'a Workload,
    /// The locations that are available.
    pub places: &'a [Place],
    /// The deployments that are there.
    pub existing: &'a [Arc<Object>],
}

impl Deployments<'_> {
    /// Makes, changes and deletes deployments. Returns what placements name that is not available, by placement.
    pub fn write(&self, plane: &str, plan: &mut Plan, context: &Context<'_>) -> Vec<(String, Vec<String>)> {
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        let mut unmatched = Vec::new();
        for placement in &self.workload.spec.placements {
            let (spots, missing) = spots(placement, self.places);
            for name in &missing {
                // Where something runs already, it goes on though the place is not offered any more.
                let kept = self.existing.iter().filter(|found| {
                    text(found, "spec.placementName") == placement.name
                        && (text(found, "spec.cityCode") == name
                            || text(found, "spec.locationRef.name") == name)
                });
                wanted.extend(kept.map(|found| found.name().to_owned()));
            }
            if !missing.is_empty() || spots.is_empty() {
                unmatched.push((placement.name.clone(), missing));
            }
            for spot in &spots {
                let name = self.name_of(placement, spot, context);
                wanted.insert(name.clone());
                match self.existing.iter().find(|found| found.name() == name) {
                    None => {
                        let made = self.made(&name, placement, spot);
                        plan.independent.push(Write::Create(plane.to_owned(), made));
                    }
                    Some(found) if !found.is_deleting() => {
                        let changed = self.changed(found, placement, spot);
                        if changed != **found {
                            plan.independent.push(Write::Update(plane.to_owned(), changed));
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        for found in
            self.existing.iter().filter(|found| !wanted.contains(found.name()) && !found.is_deleting())
        {
            plan.independent.push(delete(plane, found));
        }
        unmatched
    }

    /// Whether one instance has the new template, and the others wait until it is promoted.
    pub fn is_canary_waiting(&self) -> bool {
        let hash = self.hash();
        let rollout = self.workload.spec.rollout.as_ref();
        let waits =
            rollout.is_some_and(|rollout| rollout.canary && rollout.promoted.as_deref() != Some(&*hash));
        waits && self.existing.iter().any(|found| self.is_behind(found))
    }

    fn hash(&self) -> String {
        self.object.at("spec.template").map(template_hash).unwrap_or_default()
    }

    /// Whether a deployment has an earlier template.
    fn is_behind(&self, deployment: &Object) -> bool {
        let template = self.object.at("spec.template").cloned().unwrap_or_default();
        let own = in_city(&template, text(deployment, "spec.cityCode"));
        deployment.at("spec.template").map(template_hash) != Some(template_hash(&own))
    }

    /// Two workloads can come to the same name: the second to come has a shorter one.
    fn name_of(&self, placement: &Placement, spot: &Spot, context: &Context<'_>) -> String {
        let (workload, uid) = (self.object.name(), self.object.uid());
        let short = || short_deployment_name(workload, uid, &placement.name, &spot.key);
        let Some(name) = deployment_name(workload, &placement.name, &spot.key) else { return short() };
        let at = WorkloadDeployment::address(self.object.namespace(), &name);
        match context.here().get(&at) {
            Some(found) if text(&found, "spec.workloadRef.uid") != uid => short(),
            _ => name,
        }
    }

    fn made(&self, name: &str, placement: &Placement, spot: &Spot) -> Object {
        let mut made = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), WorkloadDeployment::KIND);
        made.set_meta("name", Some(name.into()));
        made.set_meta("namespace", Some(self.object.namespace().into()));
        made.set_meta("ownerReferences", Some(json!([owner_reference(self.object)])));
        made.set_finalizers(vec![FINALIZER.to_owned()]);
        let template = self.object.at("spec.template").cloned().unwrap_or_default();
        made.set("spec", Some(self.spec(placement, spot, in_city(&template, &spot.city))));
        self.label(&mut made, placement, spot);
        made
    }

    /// A deployment as it should be now. What others own of it stays as it is.
    fn changed(&self, found: &Arc<Object>, placement: &Placement, spot: &Spot) -> Object {
        let mut changed = Object::clone(found);
        let template = self.object.at("spec.template").cloned().unwrap_or_default();
        let newest = in_city(&template, &spot.city);
        let old = found.at("spec.template").cloned().unwrap_or_default();
        let rollout = self.workload.spec.rollout.clone().unwrap_or_default();
        let is_behind = template_hash(&newest) != template_hash(&old);
        let is_canary = rollout.canary && rollout.promoted.as_deref() != Some(&*self.hash());
        let stays = is_behind && (rollout.paused || is_canary);
        let mut spec = self.spec(placement, spot, if stays { old } else { newest.clone() });
        let first = self.existing.iter().map(|deployment| deployment.name()).min();
        if stays && is_canary && !rollout.paused && first == Some(found.name()) {
            spec["rollout"]["canaryTemplate"] = newest;
        }
        if let Some(replicas) =
            found.at("spec.replicas").filter(|_| placement.scale_settings.max_replicas.is_some())
        {
            spec["replicas"] = replicas.clone();
        }
        changed.set("spec", Some(spec));
        self.label(&mut changed, placement, spot);
        changed
    }

    fn spec(&self, placement: &Placement, spot: &Spot, template: Value) -> Value {
        let rollout = self.workload.spec.rollout.clone().unwrap_or_default();
        let mut spec = json!({
            "workloadRef": {"name": self.object.name(), "uid": self.object.uid()},
            "placementName": placement.name,
            "cityCode": spot.city,
            "locationRef": {"name": spot.location},
            "template": template,
            "scaleSettings": placement.scale_settings,
        });
        if rollout.paused || rollout.surge > 0 || rollout.canary {
            spec["rollout"] = json!({"paused": rollout.paused, "surge": rollout.surge});
        }
        spec
    }

    /// Labels are added to those that others have set.
    fn label(&self, deployment: &mut Object, placement: &Placement, spot: &Spot) {
        let labels = [
            (WORKLOAD_UID, self.object.uid()),
            (WORKLOAD_NAME, self.object.name()),
            (PLACEMENT_NAME, &placement.name),
            (CITY_CODE, &spot.city),
            (TOPOLOGY_CITY_CODE, &spot.city),
            (LOCATION, &spot.location),
            (SERVICE_NAME, crate::GROUP),
        ];
        for (key, value) in labels {
            deployment.set_label(key, Some(value));
        }
    }
}

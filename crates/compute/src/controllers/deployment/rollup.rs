//! The status of a deployment: counts, and one reason for what keeps it from being available.

use std::sync::Arc;

use krm::Object;
use serde_json::{Value, json};

use super::ordered::DesiredState;
use crate::conditions::{self, ConditionUpdate, find};
use crate::controllers::network::Networks;
use crate::controllers::text;
use crate::names::{DEPLOYMENT_NAME, INSTANCE_INDEX};
use crate::places::Place;
use crate::shown::is_hard;

/// What is known of a deployment.
pub struct Observed<'a> {
    /// Its instances.
    pub instances: &'a [Arc<Object>],
    /// What is wanted.
    pub wanted: &'a DesiredState,
    /// Where it is; nothing if the location is not available.
    pub place: Option<&'a Place>,
    /// How far its networks are.
    pub networks: &'a Networks,
    /// Why the server refused an instance, if it did.
    pub refused: Option<&'a str>,
}

impl Observed<'_> {
    /// The status of the deployment.
    pub fn status(&self, deployment: &Object, started: u32, now: &str) -> Value {
        let generation = deployment.generation();
        let mut conditions = conditions::of(deployment).to_vec();
        self.available(deployment).tell(&mut conditions, generation, now);
        self.replicas_ready().tell(&mut conditions, generation, now);
        conditions.retain(|condition| condition["type"] != "ReferencedDataReady");
        if let Some(data) = self.referenced_data() {
            let mut kept = conditions::of(deployment).to_vec();
            data.tell(&mut kept, generation, now);
            conditions.extend(kept.into_iter().filter(|condition| condition["type"] == data.kind));
        }
        let count = |is_meant: &dyn Fn(&Object) -> bool| {
            self.instances.iter().filter(|instance| is_meant(instance)).count()
        };
        let mut status = json!({
            "observedGeneration": generation,
            "conditions": conditions,
            "replicas": self.instances.len(),
            "updatedReplicas": count(&|instance| self.is_updated(instance)),
            "currentReplicas": count(&|instance| self.is_updated(instance) && conditions::holds(instance, "Programmed")),
            "desiredReplicas": self.wanted.desired,
            "readyReplicas": count(&is_ready),
            "templateHash": self.wanted.hash,
            "startedReplicas": started,
            "selector": format!("{DEPLOYMENT_NAME}={}", deployment.name()),
        });
        if let Some(place) = self.place {
            status["location"] = json!({"name": place.location});
        }
        if let Some((instance, reason, message)) = self.failure() {
            status["failure"] = json!({"instance": instance, "reason": reason, "message": message});
        }
        // What others report stays.
        for field in ["autoscaling", "addresses"] {
            if let Some(value) = deployment.get("status").and_then(|status| status.get(field)) {
                status[field] = value.clone();
            }
        }
        status
    }

    /// Whether an instance runs what it should.
    fn is_updated(&self, instance: &Object) -> bool {
        let ordinal = instance.label(INSTANCE_INDEX).and_then(|text| text.parse().ok()).unwrap_or(u32::MAX);
        text(instance, "status.controller.observedTemplateHash") == self.wanted.hash_of(ordinal)
    }

    /// The first instance of the latest template that failed for a reason that does not go away.
    fn failure(&self) -> Option<(&str, &str, &str)> {
        let latest = self.instances.iter().filter(|instance| {
            let ordinal = instance.label(INSTANCE_INDEX).and_then(|text| text.parse().ok());
            let hash = ordinal.map_or(self.wanted.hash.as_str(), |ordinal| self.wanted.hash_of(ordinal));
            text(instance, "spec.controller.templateHash") == hash && !instance.is_deleting()
        });
        latest.into_iter().find_map(|instance| {
            let ready = find(conditions::of(instance), "Ready").filter(|ready| !ready.is_true())?;
            is_hard(ready.reason).then_some((instance.name(), ready.reason, ready.message))
        })
    }

    fn waiting_for_quota(&self) -> usize {
        let denied = |instance: &&Arc<Object>| {
            find(conditions::of(instance), "QuotaGranted").is_some_and(|quota| quota.status == "False")
        };
        self.instances.iter().filter(denied).count()
    }

    /// `ReferencedDataReady` of the instance that is worst off, if any has it.
    fn referenced_data(&self) -> Option<ConditionUpdate> {
        let found = self
            .instances
            .iter()
            .filter_map(|instance| find(conditions::of(instance), "ReferencedDataReady"));
        let worst = found.into_iter().min_by_key(|found| found.is_true())?;
        Some(match worst.is_true() {
            true => ConditionUpdate::yes("ReferencedDataReady", worst.reason, worst.message),
            false => ConditionUpdate::no("ReferencedDataReady", worst.reason, worst.message),
        })
    }

    fn replicas_ready(&self) -> ConditionUpdate {
        let (kind, desired) = ("ReplicasReady", self.wanted.desired);
        let denied = self.waiting_for_quota();
        if denied > 0 {
            let message = format!("{denied} of {desired} desired replicas are pending quota");
            return ConditionUpdate::no(kind, "QuotaExceeded", message);
        }
        if let Some(data) = self.referenced_data().filter(|data| !data.holds()) {
            return ConditionUpdate::no(kind, "AwaitingPropagation", data.message);
        }
        let ready = self.instances.iter().filter(|instance| is_ready(instance)).count();
        ConditionUpdate::yes(kind, "ReplicasAvailable", format!("{ready}/{desired} replicas available"))
    }

    /// One ready instance is enough. Without one, the reason of the highest priority is told.
    fn available(&self, deployment: &Object) -> ConditionUpdate {
        let kind = "Available";
        let ready = self.instances.iter().filter(|instance| is_ready(instance)).count();
        if ready > 0 {
            let message = format!("{ready}/{} instances are ready", self.instances.len());
            return ConditionUpdate::yes(kind, "StableInstanceFound", message);
        }
        let mut candidates =
            vec![(1, ConditionUpdate::no(kind, "InstancesProvisioning", "Instances are being provisioned"))];
        match self.networks {
            Networks::Ready => {}
            Networks::Provisioning(what) => {
                candidates.push((2, ConditionUpdate::no(kind, "NetworkProvisioning", what.clone())))
            }
            Networks::Missing(names) => {
                let message = format!("Unable to find networks: {}", names.join(", "));
                candidates.push((6, ConditionUpdate::no(kind, "NetworkNotFound", message)));
            }
            Networks::Failed(why) => {
                candidates.push((7, ConditionUpdate::no(kind, "NetworkFailedToCreate", why.clone())))
            }
        }
        if self.place.is_none() {
            let place = match deployment.at("spec.locationRef.name").and_then(Value::as_str) {
                Some(location) => format!("Location {location} is not available to the project"),
                None => format!(
                    "No location in {} is available to the project",
                    text(deployment, "spec.cityCode")
                ),
            };
            candidates.push((8, ConditionUpdate::no(kind, "NoMatchingLocation", place)));
        }
        let denied = self.waiting_for_quota();
        if denied > 0 {
            let message = format!("{denied} of {} desired instances pending quota", self.wanted.desired);
            candidates.push((3, ConditionUpdate::no(kind, "QuotaNotGranted", message)));
        }
        if let Some(data) = self.referenced_data().filter(|data| !data.holds()) {
            let (priority, reason) = match is_hard(&data.reason) {
                true => (5, data.reason.clone()),
                false => (4, "ReferencedDataNotReady".to_owned()),
            };
            candidates.push((priority, ConditionUpdate::no(kind, &reason, data.message)));
        }
        // The cause is on the instance; repeating it here saves a second lookup.
        if let Some((instance, reason, message)) =
            self.failure().filter(|failure| failure.1 != "QuotaExceeded")
        {
            candidates.push((5, ConditionUpdate::no(kind, reason, format!("{instance}: {message}"))));
        }
        if let Some(why) = self.refused {
            candidates.push((6, ConditionUpdate::no(kind, "InstancesRefused", why)));
        }
        let mut worst = 0;
        let mut told = ConditionUpdate::no(kind, "InstancesProvisioning", "No instances available yet");
        for (priority, candidate) in candidates {
            if priority > worst {
                (worst, told) = (priority, candidate);
            }
        }
        told
    }
}

fn is_ready(instance: &Object) -> bool {
    conditions::holds(instance, "Ready")
}

//! The status of a workload: sums over its deployments, one reason for what is wrong, and how far its rollout is.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::time::Moment;
use serde_json::{Value, json};

use super::seconds_between;
use crate::conditions::{self, ConditionUpdate, find};
use crate::controllers::text;
use crate::hash::template_hash;
use crate::kinds::Workload;
use crate::kinds::workload::RolloutPhase;
use crate::rollout::has_template;
use crate::shown::{DeploymentPhase, deployment};

const AVAILABLE: &str = "Available";
const COUNTS: [&str; 5] =
    ["replicas", "currentReplicas", "updatedReplicas", "desiredReplicas", "readyReplicas"];

/// What is known of a workload.
pub struct Rollup<'a> {
    object: &'a Object,
    workload: &'a Workload,
    deployments: Vec<&'a Object>,
    now: Moment,
    /// What places of placements are not available.
    pub unmatched: Vec<(String, Vec<String>)>,
    /// What keeps the workload from running at all.
    pub blocked: Option<ConditionUpdate>,
    /// Whether one instance has the new template and the others wait.
    pub canary_waits: bool,
    /// Whether deployments are being changed: what they report is about what they were.
    pub is_changing: bool,
}

impl<'a> Rollup<'a> {
    /// What is known of a workload with these deployments.
    pub fn new(
        object: &'a Object,
        workload: &'a Workload,
        existing: &'a [Arc<Object>],
        now: Moment,
    ) -> Rollup<'a> {
        let mut deployments: Vec<&Object> = existing.iter().map(|deployment| &**deployment).collect();
        deployments.sort_by_key(|deployment| (text(deployment, "spec.placementName"), deployment.name()));
        Rollup {
            object,
            workload,
            deployments,
            now,
            unmatched: Vec::new(),
            blocked: None,
            canary_waits: false,
            is_changing: false,
        }
    }

    /// The status of the workload.
    pub fn status(&self) -> Value {
        let now = self.now.to_string();
        let generation = self.object.generation();
        let template = self.object.at("spec.template").cloned().unwrap_or_default();
        let hash = template_hash(&template);
        let mut conditions = conditions::of(self.object).to_vec();
        self.available().tell(&mut conditions, generation, &now);
        let mut status = json!({
            "observedGeneration": generation,
            "conditions": conditions,
            "templateHash": hash,
            "deployments": self.deployments.len(),
            "placements": self.placements(&now),
        });
        for field in COUNTS {
            status[field] = sum(self.deployments.iter().copied(), field).into();
        }
        let rollout = self.rollout(&hash, &now);
        if self.workload.spec.rollout.as_ref().is_some_and(|rollout| rollout.auto_rollback) {
            let stable = match rollout["phase"] == json!(RolloutPhase::Done) {
                true => Some(&template),
                false => self.object.at("status.stableTemplate"),
            };
            if let Some(stable) = stable {
                status["stableTemplate"] = stable.clone();
            }
        }
        status["rollout"] = rollout;
        status
    }

    /// When the rollout fails if nothing happens until then.
    pub fn deadline(&self) -> Option<Duration> {
        let phase = self.object.at("status.rollout.phase").and_then(Value::as_str);
        (phase == Some("Updating")).then(|| self.left()).flatten()
    }

    fn left(&self) -> Option<Duration> {
        let since = self.object.at("status.rollout.progressedAt").and_then(Value::as_str)?;
        let passed = seconds_between(Moment::parse(since).ok()?, self.now);
        let limit =
            self.workload.spec.rollout.as_ref().map_or(600, |rollout| rollout.progress_deadline_seconds);
        u64::from(limit).checked_sub(passed).filter(|left| *left > 0).map(Duration::from_secs)
    }

    fn available(&self) -> ConditionUpdate {
        if let Some(blocked) = &self.blocked {
            let is_serving =
                self.deployments.iter().any(|deployment| conditions::holds(deployment, AVAILABLE));
            if blocked.reason == "ServiceRevoked" || blocked.reason == "Suspended" || !is_serving {
                return blocked.clone();
            }
        }
        if self.deployments.iter().any(|deployment| conditions::holds(deployment, AVAILABLE)) {
            return ConditionUpdate::yes(
                AVAILABLE,
                "AvailablePlacementFound",
                "At least one available placement was found",
            );
        }
        let mut told =
            ConditionUpdate::no(AVAILABLE, "NoAvailablePlacements", "No placement is available yet");
        let mut worst = 0;
        for deployment in &self.deployments {
            let Some(found) = find(conditions::of(deployment), AVAILABLE) else { continue };
            let priority = priority(found.reason);
            if priority > worst {
                worst = priority;
                told = ConditionUpdate::no(AVAILABLE, found.reason, found.message);
            }
        }
        if let Some((placement, missing)) = self.unmatched.first().filter(|_| worst < 6) {
            let message = match missing.is_empty() {
                true => {
                    format!("No location that placement {placement:?} selects is available to the project")
                }
                false => format!(
                    "Placement {placement:?}: no location in {} is available to the project",
                    missing.join(", ")
                ),
            };
            return ConditionUpdate::no(AVAILABLE, "NoMatchingLocations", message);
        }
        told
    }

    fn placements(&self, now: &str) -> Vec<Value> {
        let mut names: BTreeSet<&str> =
            self.workload.spec.placements.iter().map(|placement| placement.name.as_str()).collect();
        names.extend(self.deployments.iter().map(|deployment| text(deployment, "spec.placementName")));
        let before = self.object.at("status.placements").and_then(Value::as_array);
        let placement = |name: &str| {
            let own: Vec<&Object> = self
                .deployments
                .iter()
                .copied()
                .filter(|deployment| text(deployment, "spec.placementName") == name)
                .collect();
            let told = match own.iter().any(|deployment| conditions::holds(deployment, AVAILABLE)) {
                true => ConditionUpdate::yes(
                    AVAILABLE,
                    "AvailableDeploymentFound",
                    "At least one deployment is available",
                ),
                false if own.is_empty() && self.unmatched.iter().any(|(found, _)| found == name) => {
                    ConditionUpdate::no(
                        AVAILABLE,
                        "NoMatchingLocations",
                        "No location of the placement is available",
                    )
                }
                false => {
                    ConditionUpdate::no(AVAILABLE, "NoAvailableDeployments", "No deployment is available")
                }
            };
            let old = before.into_iter().flatten().find(|placement| placement["name"] == name);
            let mut conditions =
                old.and_then(|old| old["conditions"].as_array().cloned()).unwrap_or_default();
            told.tell(&mut conditions, self.object.generation(), now);
            let mut status = json!({ "name": name, "conditions": conditions });
            for field in COUNTS {
                status[field] = sum(own.iter().copied(), field).into();
            }
            let locations: BTreeSet<&str> =
                own.iter().map(|deployment| text(deployment, "spec.locationRef.name")).collect();
            status["locations"] = locations.into_iter().filter(|name| !name.is_empty()).collect();
            status
        };
        names.into_iter().map(placement).collect()
    }

    /// How far the rollout of the template is.
    fn rollout(&self, hash: &str, now: &str) -> Value {
        let before = self.object.at("status.rollout").filter(|before| before["templateHash"] == hash);
        let ready = sum(self.deployments.iter().copied(), "currentReplicas");
        let has_grown = before.is_none_or(|before| before["ready"].as_i64().unwrap_or(0) < ready);
        let since = |field: &str| before.and_then(|before| before[field].as_str()).unwrap_or(now).to_owned();
        let progressed_at = if has_grown { now.to_owned() } else { since("progressedAt") };
        let (phase, why) = self.phase(before.is_some() && !has_grown);
        let mut rollout = json!({
            "phase": phase,
            "templateHash": hash,
            "startedAt": since("startedAt"),
            "progressedAt": progressed_at,
            "ready": ready,
        });
        if let Some((reason, message)) = why {
            rollout["reason"] = reason.into();
            rollout["message"] = message.into();
        }
        rollout
    }

    fn phase(&self, is_waiting: bool) -> (RolloutPhase, Option<(String, String)>) {
        if let Some(blocked) = &self.blocked {
            return (RolloutPhase::Blocked, Some((blocked.reason.clone(), blocked.message.clone())));
        }
        // What deployments report is about the template that they are changed from.
        if self.is_changing {
            return (RolloutPhase::Updating, None);
        }
        let states: Vec<(DeploymentPhase, Option<(String, String)>)> =
            self.deployments.iter().map(|found| deployment(&Value::Object(found.0.clone()))).collect();
        if let Some((_, why)) = states.iter().find(|(phase, _)| *phase == DeploymentPhase::Blocked) {
            return (RolloutPhase::Blocked, why.clone());
        }
        let template = self.object.at("spec.template").cloned().unwrap_or_default();
        let has_newest = |found: &&Object| has_template(&template, found);
        let are_done = !states.is_empty() && states.iter().all(|(phase, _)| *phase == DeploymentPhase::Done);
        let is_behind = !self.deployments.iter().all(has_newest);
        let is_paused = self.workload.spec.rollout.as_ref().is_some_and(|rollout| rollout.paused);
        if is_paused && (is_behind || !are_done) {
            return (RolloutPhase::Paused, None);
        }
        if self.canary_waits {
            return (RolloutPhase::Canary, None);
        }
        if are_done && !is_behind && self.has_all_deployments() {
            return (RolloutPhase::Done, None);
        }
        if is_waiting && self.object.at("status.rollout.phase").is_some() && self.left().is_none() {
            let told = self.available();
            let message = format!("No progress within the deadline: {}", told.message);
            return (RolloutPhase::Blocked, Some(("ProgressDeadlineExceeded".to_owned(), message)));
        }
        (RolloutPhase::Updating, None)
    }

    fn has_all_deployments(&self) -> bool {
        let placements = self.workload.spec.placements.iter();
        placements.into_iter().all(|placement| {
            let own =
                self.deployments.iter().filter(|found| text(found, "spec.placementName") == placement.name);
            let wanted = (placement.city_codes.len() + placement.locations.len()).max(1);
            own.count() >= wanted || self.unmatched.iter().any(|(name, _)| *name == placement.name)
        })
    }
}

fn sum<'a>(deployments: impl Iterator<Item = &'a Object>, field: &str) -> i64 {
    deployments.filter_map(|deployment| deployment.at("status")?.get(field)?.as_i64()).sum()
}

/// How bad a reason is: of several deployments, the worst is told.
fn priority(reason: &str) -> u8 {
    match reason {
        "InstancesProvisioning" => 1,
        "NetworkProvisioning" => 2,
        "QuotaNotGranted" | "PendingQuota" => 3,
        "ReferencedDataNotReady" | "AwaitingPropagation" | "Resolving" => 4,
        "SourceNotFound" | "SourceTooLarge" | "SourceUnauthorized" | "ImageUnavailable"
        | "InstanceCrashing" | "ConfigurationError" => 5,
        "NetworkNotFound" | "NoMatchingLocations" | "NoMatchingLocation" | "InstancesRefused" => 6,
        "NetworkFailedToCreate" | "RuntimeClassNotServed" => 7,
        _ => 1,
    }
}

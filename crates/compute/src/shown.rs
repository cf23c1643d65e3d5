//! Texts for people: the state of instances, deployments and workloads in plain words. Servers and clients share them.

use serde_json::Value;

use crate::conditions::find;

/// Reasons for which an instance does not run, with how lists and descriptions say it.
const FAILURES: [(&str, &str, &str); 3] = [
    ("ImageUnavailable", "image unavailable", "image unavailable"),
    ("InstanceCrashing", "crashing", "instance crashing"),
    ("ConfigurationError", "configuration error", "configuration error"),
];

/// The state of an instance in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceText {
    /// As lists say it: `Pending (quota exceeded)`.
    pub list: String,
    /// As descriptions say it: `Not available — quota exceeded`.
    pub describe: String,
    /// What is known besides, if anything.
    pub detail: Option<String>,
}

impl InstanceText {
    fn new(list: &str, describe: &str, detail: &str) -> InstanceText {
        let detail = Some(detail.to_owned()).filter(|detail| !detail.is_empty());
        InstanceText { list: list.to_owned(), describe: describe.to_owned(), detail }
    }

    /// Whether the instance counts as failed.
    pub fn is_failed(&self) -> bool {
        self.list.starts_with("Failed")
    }

    /// Whether the instance counts as available.
    pub fn is_available(&self) -> bool {
        self.list == "Available"
    }
}

/// The state of an instance with these conditions.
pub fn instance(conditions: &[Value]) -> InstanceText {
    let condition = |kind: &str| find(conditions, kind);
    let ready = condition("Ready");
    if ready.is_some_and(|ready| ready.is_true()) {
        return InstanceText::new("Available", "Available", "");
    }
    if let Some(quota) = condition("QuotaGranted") {
        match (quota.status, quota.reason) {
            ("False", "QuotaExceeded") => {
                return InstanceText::new(
                    "Pending (quota exceeded)",
                    "Not available — quota exceeded",
                    quota.message,
                );
            }
            ("False", "ValidationFailed") => {
                return InstanceText::new(
                    "Pending (quota validation failed)",
                    "Not available — quota validation failed",
                    quota.message,
                );
            }
            ("Unknown", "PendingEvaluation") => {
                return InstanceText::new(
                    "Pending (quota evaluation)",
                    "Pending — quota evaluation",
                    quota.message,
                );
            }
            _ => {}
        }
    }
    // Whoever reports the failure, it counts: an instance whose image can't be pulled is not starting.
    for kind in ["Programmed", "Available", "Ready"] {
        let Some(found) = condition(kind).filter(|found| !found.is_true()) else { continue };
        if let Some((_, list, describe)) = FAILURES.iter().find(|(reason, ..)| *reason == found.reason) {
            return InstanceText::new(
                &format!("Failed ({list})"),
                &format!("Not available — {describe}"),
                found.message,
            );
        }
    }
    let programmed = condition("Programmed").filter(|found| !found.is_true());
    if programmed.is_some_and(|found| matches!(found.reason, "PendingProgramming" | "ProgrammingInProgress"))
    {
        return InstanceText::new("Starting", "Starting", "");
    }
    match ready.filter(|ready| !ready.reason.is_empty()) {
        Some(ready) => InstanceText::new(
            &format!("Pending ({})", ready.reason),
            &format!("Pending — {}", ready.reason),
            ready.message,
        ),
        None => InstanceText::new("Pending", "Pending", ""),
    }
}

/// The health of a workload, as lists and descriptions begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// All placements have what they want.
    Available,
    /// Some instances are missing.
    Degraded,
    /// No instance is ready.
    Unavailable,
    /// Nothing is known yet.
    Unknown,
}

impl Health {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Health::Available => "Available",
            Health::Degraded => "Degraded",
            Health::Unavailable => "Unavailable",
            Health::Unknown => "Unknown",
        }
    }
}

/// The health of a workload, by its status, with a sentence.
pub fn health(status: &Value) -> (Health, String) {
    let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(available) = find(conditions, "Available") else {
        return (Health::Unknown, "Unknown".to_owned());
    };
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let missing = number("desiredReplicas") - number("readyReplicas");
    match (available.is_true(), missing) {
        (true, ..=0) => (Health::Available, "Available — all placements at desired replicas".to_owned()),
        (true, missing) => {
            let instances = if missing == 1 { "instance" } else { "instances" };
            (Health::Degraded, format!("Degraded — {missing} {instances} below desired count"))
        }
        (false, _) if available.reason.is_empty() => {
            (Health::Unavailable, "Unavailable — no healthy instances".to_owned())
        }
        (false, _) => (Health::Unavailable, format!("Unavailable — {}", available.reason)),
    }
}

/// How far a deployment is with its template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeploymentPhase {
    /// Nothing of the new template runs.
    Pending,
    /// Some of it does.
    Updating,
    /// A failure keeps it from going on.
    Blocked,
    /// All instances are ready and up to date.
    Done,
}

/// How far a WorkloadDeployment is, and what blocks it. Until its controller has seen the last change, it is pending.
pub fn deployment(deployment: &Value) -> (DeploymentPhase, Option<(String, String)>) {
    let status = &deployment["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    if status["observedGeneration"].as_i64() != deployment["metadata"]["generation"].as_i64() {
        return (DeploymentPhase::Pending, None);
    }
    let failure = &status["failure"];
    if let Some(reason) = failure["reason"].as_str() {
        let message = failure["message"].as_str().unwrap_or_default();
        return (DeploymentPhase::Blocked, Some((reason.to_owned(), message.to_owned())));
    }
    let (desired, replicas) = (number("desiredReplicas"), number("replicas"));
    let (current, ready) = (number("currentReplicas"), number("readyReplicas"));
    if ready >= desired && current >= desired && replicas <= desired {
        return (DeploymentPhase::Done, None);
    }
    let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocked = ["Available", "ReplicasReady"].iter().find_map(|kind| {
        let found = find(conditions, kind).filter(|found| found.status == "False")?;
        is_hard(found.reason).then(|| (found.reason.to_owned(), found.message.to_owned()))
    });
    match blocked {
        Some(blocked) => (DeploymentPhase::Blocked, Some(blocked)),
        None if current == 0 => (DeploymentPhase::Pending, None),
        None => (DeploymentPhase::Updating, None),
    }
}

/// Whether a reason does not go away by waiting: somebody has to do something.
pub fn is_hard(reason: &str) -> bool {
    matches!(
        reason,
        "ImageUnavailable"
            | "InstanceCrashing"
            | "ConfigurationError"
            | "SourceNotFound"
            | "SourceTooLarge"
            | "SourceUnauthorized"
            | "NetworkNotFound"
            | "NetworkFailedToCreate"
            | "NoMatchingLocation"
            | "NoMatchingLocations"
            | "QuotaNotGranted"
            | "QuotaExceeded"
            | "ServiceRevoked"
            | "InstancesRefused"
            | "MachineNotReady"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_workload_is_degraded_while_instances_are_missing() {
        let status = |available: &str, desired: i64, ready: i64| {
            json!({"conditions": [{"type": "Available", "status": available, "reason": "QuotaNotGranted"}],
                "desiredReplicas": desired, "readyReplicas": ready})
        };
        assert_eq!(health(&status("True", 4, 4)).1, "Available — all placements at desired replicas");
        assert_eq!(health(&status("True", 4, 2)).1, "Degraded — 2 instances below desired count");
        assert_eq!(health(&status("False", 4, 0)).1, "Unavailable — QuotaNotGranted");
        assert_eq!(health(&json!({})), (Health::Unknown, "Unknown".to_owned()));
    }

    #[test]
    fn a_deployment_is_not_done_before_its_controller_saw_the_change() {
        let mut deployment = json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1,
            "desiredReplicas": 2, "replicas": 2, "currentReplicas": 2, "readyReplicas": 2}});
        assert_eq!(self::deployment(&deployment).0, DeploymentPhase::Pending);
        deployment["status"]["observedGeneration"] = json!(2);
        assert_eq!(self::deployment(&deployment).0, DeploymentPhase::Done);
        deployment["status"]["failure"] = json!({"reason": "ImageUnavailable", "message": "no"});
        assert_eq!(self::deployment(&deployment).0, DeploymentPhase::Blocked);
    }
}

//! `Ready` of an instance: one reason for what keeps it from serving.

use serde_json::Value;

use crate::conditions::{ConditionUpdate, find};
use crate::controllers::network::Networks;
use crate::names::{DATA_GATE, NETWORK_GATE, QUOTA_GATE};

const READY: &str = "Ready";

/// What an instance waits for.
pub struct Gates<'a> {
    /// Names of the gates that are left.
    pub left: &'a [String],
    /// Whether quota is granted.
    pub quota: &'a ConditionUpdate,
    /// Whether referenced data is there.
    pub data: Option<&'a ConditionUpdate>,
    /// How far the network is.
    pub network: &'a Networks,
}

/// `Ready` of an instance with these conditions and gates.
pub fn ready(conditions: &[Value], gates: &Gates<'_>) -> ConditionUpdate {
    if !gates.left.is_empty() {
        return gated(gates);
    }
    let programmed = find(conditions, "Programmed");
    let available = find(conditions, "Available");
    let Some(programmed) = programmed.filter(|found| found.reason != "Pending") else {
        return ConditionUpdate::no(READY, "PendingProgramming", "Instance has not been programmed");
    };
    let status = |status: &str| if status == "Unknown" { "Unknown" } else { "False" };
    if !programmed.is_true() {
        // A cause beats progress, whichever condition has it.
        let is_cause = |reason: &str| crate::shown::is_hard(reason);
        let found = [Some(programmed), available.filter(|found| !found.is_true())].into_iter().flatten();
        let best = found.max_by_key(|found| (is_cause(found.reason), found.reason == programmed.reason));
        let best = best.unwrap_or(programmed);
        let (reason, message) = (best.reason.to_owned(), best.message.to_owned());
        return ConditionUpdate { kind: READY, status: status(best.status), reason, message };
    }
    match available {
        Some(found) if found.is_true() => ConditionUpdate::yes(READY, "Available", "Instance is ready"),
        Some(found) if found.reason != "Pending" => ConditionUpdate {
            kind: READY,
            status: status(found.status),
            reason: found.reason.to_owned(),
            message: found.message.to_owned(),
        },
        _ => ConditionUpdate::no(READY, "Pending", "Instance is not available"),
    }
}

/// The gate that is told is the one that matters most.
fn gated(gates: &Gates<'_>) -> ConditionUpdate {
    let has = |name: &str| gates.left.iter().any(|gate| gate == name);
    let names = gates.left.join(", ");
    let waiting =
        ConditionUpdate::no(READY, "SchedulingGatesPresent", format!("Scheduling gates present: {names}"));
    let mut candidates = vec![(0, waiting)];
    if has(QUOTA_GATE) && gates.quota.status == "False" {
        candidates.push((3, ConditionUpdate::no(READY, "PendingQuota", gates.quota.message.clone())));
    }
    if let Some(data) = gates.data.filter(|data| has(DATA_GATE) && !data.holds()) {
        candidates.push((5, ConditionUpdate::no(READY, &data.reason, data.message.clone())));
    }
    if has(NETWORK_GATE) {
        match gates.network {
            Networks::Failed(why) => {
                candidates.push((7, ConditionUpdate::no(READY, "NetworkFailedToCreate", why.clone())))
            }
            Networks::Missing(missing) => {
                let message = format!("Unable to find networks: {}", missing.join(", "));
                candidates.push((6, ConditionUpdate::no(READY, "NetworkNotFound", message)));
            }
            Networks::Ready | Networks::Provisioning(_) => {}
        }
    }
    candidates.sort_by_key(|(priority, _)| *priority);
    candidates.pop().map(|(_, told)| told).unwrap_or_else(|| ConditionUpdate::no(READY, "Pending", ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ready_of(programmed: (&str, &str), available: (&str, &str)) -> (String, String) {
        let conditions = [
            json!({"type": "Programmed", "status": programmed.0, "reason": programmed.1, "message": "p"}),
            json!({"type": "Available", "status": available.0, "reason": available.1, "message": "a"}),
        ];
        let quota = ConditionUpdate::yes("QuotaGranted", "QuotaAvailable", "");
        let gates = Gates { left: &[], quota: &quota, data: None, network: &Networks::Ready };
        let told = ready(&conditions, &gates);
        (told.status.to_owned(), told.reason)
    }

    #[test]
    fn the_cause_is_told_wherever_it_is_reported() {
        let told = |status: &str, reason: &str| (status.to_owned(), reason.to_owned());
        assert_eq!(ready_of(("True", "Programmed"), ("True", "Available")), told("True", "Available"));
        assert_eq!(
            ready_of(("Unknown", "ProgrammingInProgress"), ("Unknown", "ImageUnavailable")),
            told("Unknown", "ImageUnavailable")
        );
        assert_eq!(
            ready_of(("False", "ImageUnavailable"), ("Unknown", "Provisioning")),
            told("False", "ImageUnavailable")
        );
        assert_eq!(
            ready_of(("Unknown", "ProgrammingInProgress"), ("Unknown", "Provisioning")),
            told("Unknown", "ProgrammingInProgress")
        );
        assert_eq!(
            ready_of(("Unknown", "Pending"), ("Unknown", "Pending")),
            told("False", "PendingProgramming")
        );
        assert_eq!(ready_of(("True", "Programmed"), ("False", "Stopped")), told("False", "Stopped"));
    }

    #[test]
    fn of_several_gates_the_worst_is_told() {
        let quota = ConditionUpdate::no("QuotaGranted", "QuotaExceeded", "no room");
        let data = ConditionUpdate::no("ReferencedDataReady", "SourceNotFound", "gone");
        let left: Vec<String> = ["Network", "Quota", "ReferencedData"].map(str::to_owned).into();
        let network = Networks::Provisioning(String::new());
        let gates = Gates { left: &left, quota: &quota, data: Some(&data), network: &network };
        assert_eq!(ready(&[], &gates).reason, "SourceNotFound");
        let gates = Gates { data: None, ..gates };
        assert_eq!(ready(&[], &gates).reason, "PendingQuota");
        assert_eq!(ready(&[], &Gates { left: &left[..1], ..gates }).reason, "SchedulingGatesPresent");
    }
}

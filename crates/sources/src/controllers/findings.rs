//! The finding controller: shows on a host what its sources found and did not write.

use std::sync::Arc;

use fulfillment::kinds::Host;
use krm::Object;
use krm::condition::{self, Finding};
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::Value;

use crate::kinds::SourceFinding;
use crate::kinds::source_finding::{Decision, FindingReason};
use crate::labels;

/// The condition of a host that its source no longer lists.
const LISTED: &str = "SourceListed";
/// The condition of a host that another source claims.
const CONFLICT: &str = "SourceConflict";
/// The condition of a host of which its source says something else than what is stored.
const DRIFTED: &str = "Drifted";
/// The condition of the fulfillment API for a host that works in part.
const DEGRADED: &str = "Degraded";
const MISSING: &str = "MissingFromSource";

/// Reconciles the conditions of hosts with the findings of sources.
pub struct FindingController;

impl Reconciler for FindingController {
    fn name(&self) -> &'static str {
        "source-finding-controller"
    }

    fn description(&self) -> &'static str {
        "Shows on hosts that their source lost them, that sources are in conflict, and what has drifted."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Host>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(fulfillment::GROUP, &["hosts/status"], &["update"])]
    }

    fn plan(&self, target: &Target, host: &Arc<Object>, context: &Context<'_>) -> Plan {
        let world = context.root();
        let findings = world.having(crate::GROUP, "sourcefindings", "spec.host", host.name());
        let findings: Vec<SourceFinding> = findings
            .iter()
            .filter_map(|finding| SourceFinding::deserialize(&Value::Object(finding.0.clone())).ok())
            .collect();
        let (mut new, now) = (Object::clone(host), context.now().to_string());
        tell(&mut new, LISTED, lost(host), &now);
        tell(&mut new, CONFLICT, conflict(host, &findings), &now);
        tell(&mut new, DRIFTED, drifted(&findings), &now);
        degrade(&mut new, host, &now);
        let mut plan = Plan::nothing();
        plan.change(&target.plane, host, new);
        plan
    }
}

fn tell(object: &mut Object, kind: &str, finding: Option<Finding>, now: &str) {
    match finding {
        Some(finding) => finding.tell(object, now),
        None => condition::withdraw(object, kind),
    }
}

fn lost(host: &Object) -> Option<Finding> {
    let since = host.annotation(labels::MISSING_SINCE)?;
    let source = host.label(labels::SOURCE).unwrap_or("?");
    Some(Finding::fails(LISTED, MISSING, format!("Source {source} has not listed it since {since}")))
}

fn conflict(host: &Object, findings: &[SourceFinding]) -> Option<Finding> {
    let finding = findings.iter().find(|finding| finding.spec.reason == FindingReason::SourceConflict)?;
    let spec = &finding.spec;
    let owner = match &spec.owner {
        Some(owner) => format!("source {owner} owns the host"),
        None => "the host was made by hand".to_owned(),
    };
    let fields = spec.fields.iter().take(4).map(|field| {
        format!(
            "{}: source {} says {:?}, stored is {:?}",
            field.field, spec.source, field.found, field.expected
        )
    });
    let fields: Vec<String> = fields.collect();
    let why = format!(
        "Source {} claims it, but {owner}. {}. To move it: groundplane source accept {} {}",
        spec.source,
        fields.join("; "),
        spec.source,
        host.name()
    );
    Some(Finding::holds(CONFLICT, "SourceConflict", why))
}

fn drifted(findings: &[SourceFinding]) -> Option<Finding> {
    let mut open = findings.iter().filter(|finding| {
        finding.spec.reason != FindingReason::SourceConflict
            && finding.spec.decision != Some(Decision::Expected)
    });
    let spec = &open.next()?.spec;
    let fields = spec.fields.iter().take(4).map(|field| {
        let by = field.set_by.as_ref().map_or(String::new(), |by| format!(", set by {by}"));
        format!("{}: found {:?}, expected {:?}{by}", field.field, field.found, field.expected)
    });
    let fields: Vec<String> = fields.collect();
    let reason = match spec.reason {
        FindingReason::IdentityChanged => "IdentityChanged",
        FindingReason::Assigned => "ClassOfAssignedHost",
        _ => "SetByOthers",
    };
    Some(Finding::holds(DRIFTED, reason, format!("Source {} finds: {}", spec.source, fields.join("; "))))
}

/// A host that works for a cluster and is lost to its source is degraded, which clients of the fulfillment API see.
fn degrade(new: &mut Object, host: &Object, now: &str) {
    let is_assigned =
        host.at("status.cluster").and_then(Value::as_str).is_some_and(|cluster| !cluster.is_empty());
    let is_ours = condition::find(new, DEGRADED).is_some_and(|condition| condition["reason"] == MISSING);
    match host.annotation(labels::MISSING_SINCE) {
        Some(since) if is_assigned => {
            Finding::holds(DEGRADED, MISSING, format!("Its source has not listed it since {since}"))
                .tell(new, now);
        }
        _ if is_ours => condition::withdraw(new, DEGRADED),
        _ => {}
    }
}

//! Whether a host fits: free, healthy, reachable, cabled as its class asks, and neither stale nor drifted.

use std::collections::BTreeMap;
use std::fmt;

use krm::condition::Condition;

use crate::kinds::host::{HELD_BACK_LABEL, MISSING_LABEL};
use crate::kinds::{Host, HostClaim, HostClass};
use crate::states::{HostPhase, HostState};

/// Conditions of a host that rule it out while they are `True`, as sources of hosts set them.
const AGAINST: [(&str, &str); 2] = [("Drifted", "drifted"), ("SourceConflict", "claimed by several sources")];

/// Why a host does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// Somebody holds it.
    Held(String),
    /// It is being cleaned, or could not be.
    NotClean(String),
    /// Somebody took it out of use.
    Quarantined(String),
    /// It is being deleted.
    Deleted,
    /// It is of another class.
    OtherClass(String),
    /// It has failed.
    Failed(String),
    /// Something that is needed to install it is not known.
    Incomplete(&'static str),
    /// A condition of it rules it out.
    Condition(&'static str, String),
    /// It has too few cables.
    Cabling(String),
    /// It lacks a label.
    Label(String),
}

impl Unfit {
    /// What hosts of this reason are called together.
    pub fn group(&self) -> &'static str {
        match self {
            Unfit::Held(_) => "held",
            Unfit::NotClean(_) => "not clean",
            Unfit::Quarantined(_) => "quarantined",
            Unfit::Deleted => "deleted",
            Unfit::OtherClass(_) => "of another class",
            Unfit::Failed(_) => "failed",
            Unfit::Incomplete(_) => "incomplete",
            Unfit::Condition(group, _) => group,
            Unfit::Cabling(_) => "not cabled",
            Unfit::Label(_) => "without the labels",
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Held(holder) => write!(f, "{holder} holds it"),
            Unfit::NotClean(why) => write!(f, "it is not clean: {why}"),
            Unfit::Quarantined(reason) => write!(f, "it is quarantined: {reason}"),
            Unfit::Deleted => write!(f, "it is being deleted"),
            Unfit::OtherClass(class) => write!(f, "it is of class {class}"),
            Unfit::Failed(why) => write!(f, "it has failed: {why}"),
            Unfit::Incomplete(what) => write!(f, "it has no {what}"),
            Unfit::Condition(group, why) => write!(f, "it is {group}: {why}"),
            Unfit::Cabling(why) => write!(f, "{why}"),
            Unfit::Label(label) => write!(f, "it lacks the label {label}"),
        }
    }
}

/// What rules a host out; nothing if it fits.
pub fn unfit(
    host: &Host,
    claim: Option<&HostClaim>,
    class: Option<&HostClass>,
    selector: &BTreeMap<String, String>,
) -> Option<Unfit> {
    let status = host.status.as_ref();
    if host.metadata.deletion_timestamp.is_some() {
        return Some(Unfit::Deleted);
    }
    if let Some(provisioning) = status.and_then(|status| status.provisioning.as_ref()) {
        let why = match provisioning.phase {
            HostPhase::CleaningFailed => provisioning.message.clone(),
            phase => format!("{phase:?}"),
        };
        return Some(Unfit::NotClean(why));
    }
    if let Some(holder) = claim.and_then(|claim| claim.spec.holder.as_ref()) {
        return Some(Unfit::Held(holder.to_string()));
    }
    if let Some(quarantine) = &host.spec.quarantine {
        return Some(Unfit::Quarantined(quarantine.reason.clone()));
    }
    let name = class.map(|class| class.metadata.name.as_str());
    if let Some(other) = host.spec.class.as_deref().filter(|other| name.is_some_and(|name| name != *other)) {
        return Some(Unfit::OtherClass(other.to_owned()));
    }
    let conditions = status.map(|status| status.conditions.as_slice()).unwrap_or_default();
    if status.is_some_and(|status| status.state == Some(HostState::Failed)) {
        return Some(Unfit::Failed(message_of(conditions, "Failed")));
    }
    for (kind, group) in AGAINST {
        if conditions.iter().any(|condition| condition.kind == kind && condition.status == "True") {
            return Some(Unfit::Condition(group, message_of(conditions, kind)));
        }
    }
    let labels = &host.metadata.labels;
    if labels.contains_key(MISSING_LABEL) {
        return Some(Unfit::Condition("stale", "its source no longer lists it".to_owned()));
    }
    if let Some(why) = labels.get(HELD_BACK_LABEL) {
        return Some(Unfit::Condition("held back by its source", why.clone()));
    }
    let is_given = |text: Option<&str>| text.is_some_and(|text| !text.is_empty());
    if !is_given(host.spec.bmc.as_ref().and_then(|bmc| bmc.url.as_deref())) {
        return Some(Unfit::Incomplete("BMC address (spec.bmc.url)"));
    }
    if !is_given(host.spec.boot_mac.as_deref()) {
        return Some(Unfit::Incomplete("MAC address to boot from (spec.bootMac)"));
    }
    if let Some(why) = class.and_then(|class| cabling(host, class)) {
        return Some(Unfit::Cabling(why));
    }
    let lacking = selector.iter().find(|(key, value)| labels.get(*key) != Some(value));
    lacking.map(|(key, value)| Unfit::Label(format!("{key}={value}")))
}

/// What is missing of the cables that a class asks for.
fn cabling(host: &Host, class: &HostClass) -> Option<String> {
    let required = class.requirements.as_ref()?;
    let placement = host.status.as_ref().and_then(|status| status.placement.as_ref());
    let ports = placement.map_or(0, |it| it.ports.iter().filter(|port| port.connected_to.is_some()).count());
    let feeds = placement.map_or(0, |placement| placement.feeds.len());
    let lacks = |has: usize, needed: Option<i32>| {
        needed.and_then(|needed| usize::try_from(needed).ok()).filter(|needed| has < *needed)
    };
    if let Some(needed) = lacks(ports, required.connected_ports) {
        return Some(format!("{ports} of its data ports have a cable, and its class needs {needed}"));
    }
    let needed = lacks(feeds, required.power_feeds)?;
    Some(format!("it is connected to {feeds} power feeds, and its class needs {needed}"))
}

fn message_of(conditions: &[Condition], kind: &str) -> String {
    let found = conditions.iter().find(|condition| condition.kind == kind);
    found.map(|condition| condition.message.clone()).unwrap_or_default()
}

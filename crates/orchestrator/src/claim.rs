//! The claim of a node task on the host of its node.

use fulfillment::kinds::HostClaim;
use fulfillment::kinds::host_claim::Claimant;
use krm::Object;
use krm::kind::{QueryContext, Resource};
use reconcile::context::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::Task;
use crate::kinds::task::HeldClaim;
use crate::work::NodeWork;

/// A task as the holder of a claim.
pub fn claimant(task: &Task) -> Claimant {
    Claimant {
        api_group: crate::GROUP.to_owned(),
        kind: Task::KIND.to_owned(),
        project: None,
        namespace: Some(task.metadata.namespace.clone()),
        name: task.metadata.name.clone(),
        uid: Some(task.metadata.uid.clone()),
    }
}

/// How a task stands to the host of its node.
pub enum Standing {
    /// The task holds it.
    Held(HeldClaim),
    /// Somebody else holds it.
    Taken {
        /// Name of the host.
        host: String,
        /// Who holds it.
        by: String,
    },
    /// Nobody holds it: the claim to write.
    Free {
        /// Name of the host.
        host: String,
        /// The claim as it is stored, if it is.
        old: Option<Object>,
        /// The claim to write.
        new: Object,
    },
    /// There is no host for the node.
    NoHost,
}

/// How a task stands to the host of a node.
pub fn standing(task: &Task, work: &NodeWork, context: &Context<'_>) -> Standing {
    let Some(host) = host_of(work, context) else { return Standing::NoHost };
    let stored = context.root().get(&HostClaim::address("", &host));
    let read = stored.as_ref().and_then(|claim| HostClaim::deserialize(&Value::Object(claim.0.clone())).ok());
    let me = claimant(task);
    match (&stored, read.as_ref().and_then(|claim| claim.spec.holder.clone())) {
        (Some(_), Some(holder)) if holder == me => {
            let epoch = read.as_ref().map_or(0, HostClaim::epoch);
            Standing::Held(HeldClaim { host, epoch })
        }
        (_, Some(holder)) => Standing::Taken { host, by: holder.to_string() },
        (stored, None) => {
            let mut new = stored.as_ref().map_or_else(
                || {
                    let mut new =
                        Object::new(&format!("{}/{}", HostClaim::GROUP, HostClaim::VERSION), HostClaim::KIND);
                    new.set_meta("name", Some(host.as_str().into()));
                    new
                },
                |stored| Object::clone(stored),
            );
            let reason = format!("task {} {}", task.metadata.name, task.spec.action);
            new.set("spec", Some(json!({"hostRef": {"name": host}, "holder": me, "reason": reason})));
            Standing::Free { host, old: stored.as_ref().map(|stored| Object::clone(stored)), new }
        }
    }
}

/// The claim without its holder, to be written when a task ends; `None` if the task does not hold it.
pub fn released(task: &Task, host: &str, context: &Context<'_>) -> Option<(Object, Object)> {
    let stored = context.root().get(&HostClaim::address("", host))?;
    let read = HostClaim::deserialize(&Value::Object(stored.0.clone())).ok()?;
    if read.spec.holder != Some(claimant(task)) {
        return None;
    }
    let mut new = Object::clone(&stored);
    new.set("spec", Some(json!({"hostRef": {"name": host}})));
    Some((Object::clone(&stored), new))
}

/// The Host of a node: the one of its name, else the one that is displayed so, else the one that boots from its MAC address.
pub fn host_of(work: &NodeWork, context: &Context<'_>) -> Option<String> {
    use fulfillment::kinds::Host;
    let name = fulfillment::identity::name_of(&work.name);
    if context.root().version(&Host::address("", &name)).is_some() {
        return Some(name);
    }
    let having = |field: &str, value: &str| {
        let found = context.root().names_having(Host::GROUP, Host::PLURAL, field, value);
        (found.len() == 1).then(|| found.into_iter().next()).flatten()
    };
    having("displayName", &work.name)
        .or_else(|| work.boot_mac.as_deref().and_then(|mac| having("spec.bootMac", mac)))
}

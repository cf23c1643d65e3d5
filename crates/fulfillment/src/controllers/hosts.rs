//! The host controller: joins hosts to the inventory, and shows who holds them.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::{Value, json};

use super::matching::{self, Match};
use super::placement;
use crate::kinds::host::{ClaimSummary, INVENTORY_LABEL, MatchedNode};
use crate::kinds::{Cluster, Host, HostClaim};

/// Reconciles hosts.
pub struct HostController;

impl Reconciler for HostController {
    fn name(&self) -> &'static str {
        "host-controller"
    }

    fn description(&self) -> &'static str {
        "Joins hosts to the nodes of the inventory, and sets their placement and who holds them."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Host>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["hosts/status"], &["update"])]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(host) = Host::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let (mut new, now) = (Object::clone(object), context.now().to_string());
        if let Some(resolution) = context.resolve(target, object) {
            resolution.tell(&mut new, &now);
        }
        let world = context.root();
        let found = match host.metadata.labels.get(INVENTORY_LABEL).map(String::as_str) {
            Some("off") => Match::Nothing("Its source does not join hosts to the inventory".to_owned()),
            _ => matching::find(&host, &world),
        };
        found.finding().tell(&mut new, &now);
        let (node, placement) = match &found {
            Match::Found(node, found_by) => {
                let matched = MatchedNode { name: node.name().to_owned(), found_by: *found_by };
                (json!(matched), json!(placement::of(node, &world)))
            }
            Match::Ambiguous(..) | Match::Nothing(_) => (Value::Null, Value::Null),
        };
        let claim = world.get(&HostClaim::address("", object.name()));
        let claim = claim.and_then(|claim| HostClaim::deserialize(&Value::Object(claim.0.clone())).ok());
        let cluster = claim.as_ref().and_then(|claim| cluster_of(claim, context));
        let claim = claim.and_then(|claim| summary(&claim)).map_or(Value::Null, |summary| json!(summary));
        let held = claim.is_object();
        if held || object.at("status.claim").is_some() {
            // A host that nobody has claimed here keeps what others say of it.
            let (project, id) = cluster.unzip();
            set(&mut new, "cluster", id.map_or(Value::Null, Value::from));
            set(&mut new, "project", project.map_or(Value::Null, Value::from));
        }
        set(&mut new, "node", node);
        set(&mut new, "placement", placement);
        set(&mut new, "claim", claim);
        plan.change(&target.plane, object, new);
        plan
    }
}

/// Project and identifier of the cluster that holds a host.
fn cluster_of(claim: &HostClaim, context: &Context<'_>) -> Option<(String, String)> {
    let holder = claim.spec.holder.as_ref().filter(|holder| holder.is_cluster())?;
    let project = holder.project.clone()?;
    let cluster = context.look(&project).get(&Cluster::address("", &holder.name))?;
    let id = cluster.get("id").and_then(Value::as_str).unwrap_or(cluster.uid()).to_owned();
    Some((project, id))
}

fn summary(claim: &HostClaim) -> Option<ClaimSummary> {
    Some(ClaimSummary {
        holder: claim.spec.holder.as_ref()?.to_string(),
        delegate: claim.spec.delegate.as_ref().map(ToString::to_string),
        outside_driver: claim.spec.outside_driver.clone(),
        epoch: claim.epoch(),
    })
}

/// Sets a field of the status, or removes it.
pub(super) fn set(object: &mut Object, field: &str, value: Value) {
    let status = object.0.entry("status").or_insert_with(|| json!({}));
    let Some(status) = status.as_object_mut() else { return };
    match value {
        Value::Null => drop(status.remove(field)),
        value => drop(status.insert(field.to_owned(), value)),
    }
}

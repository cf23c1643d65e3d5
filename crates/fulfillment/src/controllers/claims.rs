//! The claim controller: releases hosts whose holder is gone.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Planes};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::Value;

use crate::kinds::HostClaim;
use crate::kinds::host_claim::Claimant;

/// Reconciles claims on hosts.
pub struct ClaimController;

impl Reconciler for ClaimController {
    fn name(&self) -> &'static str {
        "host-claim-controller"
    }

    fn description(&self) -> &'static str {
        "Releases hosts whose holder is gone, has those of deleted clusters cleaned first, and ends delegations to tasks that are gone."
    }

    fn scope(&self) -> Scope {
        Scope::of::<HostClaim>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["hostclaims"], &["update"])]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(claim) = HostClaim::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let is_gone =
            |claimant: &Option<Claimant>| claimant.as_ref().is_some_and(|who| !exists(who, context));
        let mut new = Object::clone(object);
        let Some(spec) = new.0.get_mut("spec").and_then(Value::as_object_mut) else { return plan };
        let is_cluster = claim.spec.holder.as_ref().is_some_and(Claimant::is_cluster);
        if is_gone(&claim.spec.holder) && is_cluster {
            // Whatever was on it has to be cleaned first.
            spec.insert("holder".to_owned(), serde_json::json!(Claimant::cleaner()));
            spec.insert("reason".to_owned(), "its cluster is gone".into());
            ["delegate", "nodeSet"].iter().for_each(|field| drop(spec.remove(*field)));
        } else if is_gone(&claim.spec.holder) {
            ["holder", "delegate", "outsideDriver", "nodeSet", "reason"]
                .iter()
                .for_each(|field| drop(spec.remove(*field)));
        } else if is_gone(&claim.spec.delegate) {
            spec.remove("delegate");
        }
        plan.change(&target.plane, object, new);
        plan
    }
}

/// Whether a claimant is there. Users and controllers are taken for granted, as is what is of a kind that is not served here.
fn exists(who: &Claimant, context: &Context<'_>) -> bool {
    let plane = who.project.clone().unwrap_or_default();
    let served = context.world().kinds(&plane).kind(&who.api_group, &who.kind);
    let Some(kind) = served.filter(|_| !who.api_group.is_empty()) else { return true };
    let at = Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: who.namespace.clone().unwrap_or_default(),
        name: who.name.clone(),
    };
    let found = context.metadata(&Target::new(plane, at));
    found.is_some_and(|found| who.uid.as_deref().is_none_or(|uid| uid == found.uid()))
}

//! The catalog controller: whether entries of the catalog can be used.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use crate::kinds::InstanceType;

/// Reconciles types of instances.
pub struct CatalogController;

impl Reconciler for CatalogController {
    fn name(&self) -> &'static str {
        "compute-catalog-controller"
    }

    fn description(&self) -> &'static str {
        "Sets the status of types of instances."
    }

    fn scope(&self) -> Scope {
        Scope::of::<InstanceType>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["instancetypes/status"], &["update"])]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let now = context.now().to_string();
        let phase = object.at("spec.lifecycle.phase").and_then(Value::as_str).unwrap_or("Active");
        let mut new = Object::clone(object);
        let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
        if phase != "Active" && status.get("deprecatedAt").is_none() {
            status["deprecatedAt"] = now.as_str().into();
        }
        new.set("status", Some(status));
        let finding = match phase {
            "Disabled" => Finding::fails("Ready", "Disabled", "The type is no longer offered"),
            "Deprecated" => Finding::holds("Ready", "Deprecated", "The type is to be replaced"),
            _ => Finding::holds("Ready", "Ready", ""),
        };
        finding.tell(&mut new, &now);
        let mut plan = Plan::nothing();
        plan.change(&target.plane, object, new);
        plan
    }
}

//! The design controller: compiles a design when one of its documents changes, and writes the result to its status.

use std::sync::Arc;
use std::time::Duration;

use design::object::{ITEMS, KINDS};
use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kept;
use crate::kinds::{Design, DesignRevision, GROUP};
use crate::verdict::{self, Summary};

/// A design waits this long for further changes of its documents before it is compiled.
const SETTLING: Duration = Duration::from_millis(200);

/// Reconciles designs.
pub struct DesignController;

impl DesignController {
    /// Its name.
    pub const NAME: &'static str = "design-controller";
}

impl Reconciler for DesignController {
    fn name(&self) -> &'static str {
        DesignController::NAME
    }

    fn description(&self) -> &'static str {
        "Compiles designs when their documents change, and sets their status."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Design>(Planes::Root)
    }

    /// The documents. User-defined kinds, which a design may name, are not known beforehand.
    fn reads(&self) -> Scope {
        let plurals = KINDS.iter().map(|(_, plural)| *plural).chain([ITEMS.1, DesignRevision::PLURAL]);
        Scope::Resources(plurals.map(|plural| (GROUP.into(), plural.into())).collect(), Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(GROUP, &["designs/status"], &["update"])]
    }

    fn settings(&self) -> Settings {
        // Compiling a large site takes a while.
        Settings { settling: SETTLING, is_heavy: true, ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if let Some(status) = compute_status(object, &context.here(), &context.now().to_string()) {
            let mut new = Object::clone(object);
            new.set("status", Some(status));
            plan.change(&target.plane, object, new);
        }
        plan
    }
}

/// The computed status of a design.
fn compute_status(object: &Object, look: &dyn QueryContext, now: &str) -> Option<Value> {
    let design = Design::deserialize(&Value::Object(object.0.clone())).ok()?;
    let result = kept::current(&design, look);
    let verdict = Summary::of(&result);
    let mut status = serde_json::to_value(&verdict).ok()?;
    status["conditions"] = verdict::written(&verdict::conditions(&result, &verdict), object, now);
    status["sources"] = json!(kept::sources(&design, look));
    status["observedGeneration"] = json!(object.generation());
    let revisions = look.having(GROUP, DesignRevision::PLURAL, "spec.design", &design.metadata.name);
    let numbers = revisions
        .iter()
        .filter(|revision| revision.namespace() == design.metadata.namespace)
        .filter_map(|revision| revision.at("spec.number").and_then(Value::as_i64));
    if let Some(latest) = numbers.max() {
        status["latestRevision"] = json!(latest);
    }
    Some(status)
}

//! The greeting controller: says whether the text of a greeting exists.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Planes, Resource};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;

use super::greeting::Greeting;

/// Reconciles greetings.
pub struct GreetingController;

impl Reconciler for GreetingController {
    fn name(&self) -> &'static str {
        "greeting-controller"
    }

    fn description(&self) -> &'static str {
        "Sets the status of greetings."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Greeting>(Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(Greeting::GROUP, &["greetings/status"], &["update"])]
    }

    fn plan(&self, target: &Target, greeting: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut new = Object::clone(greeting);
        if let Some(resolution) = context.resolve(target, greeting) {
            resolution.tell(&mut new, &context.now().to_string());
        }
        let mut plan = Plan::nothing();
        plan.change(&target.plane, greeting, new);
        plan
    }
}

//! The availability controller: whether a service can be used at a location.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;

use super::{CONFIGURATIONS, holds, location, read, supports, text};
use crate::kinds::{Service, ServiceAvailability};

/// Reconciles availabilities.
pub struct AvailabilityController;

impl Reconciler for AvailabilityController {
    fn name(&self) -> &'static str {
        "service-availability-controller"
    }

    fn description(&self) -> &'static str {
        "Says whether a service can be used at a location."
    }

    fn scope(&self) -> Scope {
        Scope::of::<ServiceAvailability>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["serviceavailabilities/status"], &["update"])]
    }

    fn depends_on(&self) -> DependsOn {
        // Whether a location is ready is in its status.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut new = Object::clone(object);
        finding(object, context).tell(&mut new, &context.now().to_string());
        let mut plan = Plan::nothing();
        plan.change(&target.plane, object, new);
        plan
    }
}

fn finding(availability: &Object, context: &Context<'_>) -> Finding {
    let (service, place) =
        (text(availability, "spec.serviceRef.name"), text(availability, "spec.locationRef.name"));
    let root = context.root();
    let fails = |reason: &'static str, message: String| Finding::fails("Available", reason, message);
    let offered = root.get(&Service::address("", service)).and_then(|found| read::<Service>(&found));
    if !offered.is_some_and(|found| found.spec.phase.is_offered()) {
        return fails("ServiceNotPublished", format!("Service {service} is not published"));
    }
    let Some(found) = root.get(&location(place)) else {
        return fails("LocationNotFound", format!("Location {place} not found"));
    };
    let (group, plural, field) = CONFIGURATIONS;
    let class = text(&found, "spec.locationClassName");
    if !supports(&root.having(group, plural, field, service), class) {
        return fails(
            "ClassNotSupported",
            format!("Service {service} does not support locations of class {class}"),
        );
    }
    if !holds(&found, "Ready") {
        return fails("LocationNotReady", format!("Location {place} is not ready"));
    }
    Finding::holds("Available", "Available", "")
}

//! The location binding controller: shows each project the locations that it can use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::{CONFIGURATIONS, address, holds, location, read, supports, text};
use crate::kinds::{ServiceAvailability, ServiceEntitlement};

/// Reconciles the location bindings of projects: one project at a time.
pub struct LocationBindingController;

impl Reconciler for LocationBindingController {
    fn name(&self) -> &'static str {
        "location-binding-controller"
    }

    fn description(&self) -> &'static str {
        "Shows each project the locations where a service that it is entitled to is available."
    }

    fn scope(&self) -> Scope {
        Scope::resource(crate::TENANCY_GROUP, crate::PROJECTS, Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::NETWORKING_GROUP, &["locationbindings"], &["create", "update", "delete"]),
            Rule::new(crate::NETWORKING_GROUP, &["locationbindings/status"], &["update"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // Entitlements are active, locations ready and services available by their status.
        DependsOn::Everything
    }

    fn plan(&self, _: &Target, project: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if project.is_deleting() {
            return plan;
        }
        let plane = project.name();
        let wanted = locations_of(plane, context);
        let there = context.look(plane).all(crate::NETWORKING_GROUP, crate::LOCATION_BINDINGS);
        for binding in there.iter().filter(|binding| !wanted.contains_key(binding.name())) {
            let at = address(crate::NETWORKING_GROUP, crate::LOCATION_BINDINGS, binding.name());
            let deletion = Deletion { uid: Some(binding.uid().to_owned()), ..Deletion::default() };
            plan.write(Write::Delete(Target::new(plane, at), deletion));
        }
        for (name, (location, services)) in &wanted {
            match there.iter().find(|binding| binding.name() == name) {
                None => plan.write(Write::Create(plane.to_owned(), made(location))),
                Some(binding) => {
                    let mut new = Object::clone(binding);
                    new.set("spec", Some(spec_of(location)));
                    let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
                    status["services"] = json!(services);
                    for (field, plural) in
                        [("instanceTypes", "instancetypes"), ("runtimeClasses", "runtimeclasses")]
                    {
                        let offered = offered_at(name, plural, context);
                        match offered.is_empty() {
                            true => drop(status.as_object_mut().and_then(|status| status.remove(field))),
                            false => status[field] = json!(offered),
                        }
                    }
                    new.set("status", Some(status));
                    Finding::holds("Available", "Available", "").tell(&mut new, &context.now().to_string());
                    plan.change(plane, binding, new);
                }
            }
        }
        plan
    }
}

/// The locations that a project can use, each with the services that it can use there.
fn locations_of(project: &str, context: &Context<'_>) -> BTreeMap<String, (Arc<Object>, BTreeSet<String>)> {
    let mut found: BTreeMap<String, (Arc<Object>, BTreeSet<String>)> = BTreeMap::new();
    let entitlements = context.look(project).all(ServiceEntitlement::GROUP, ServiceEntitlement::PLURAL);
    let root = context.root();
    let active = entitlements.iter().filter_map(|object| read::<ServiceEntitlement>(object));
    for service in active.filter(ServiceEntitlement::is_active).map(|active| active.spec.service_ref.name) {
        let (group, plural, field) = CONFIGURATIONS;
        let configurations = root.having(group, plural, field, &service);
        // All of them, and not by field: a change of a status alone is noticed by kind.
        let availabilities = root.all(ServiceAvailability::GROUP, ServiceAvailability::PLURAL);
        let is_of_service = |found: &&Arc<Object>| text(found, "spec.serviceRef.name") == service;
        for availability in
            availabilities.iter().filter(is_of_service).filter(|found| holds(found, "Available"))
        {
            let name = text(availability, "spec.locationRef.name");
            let Some(place) = root.get(&location(name)).filter(|place| holds(place, "Ready")) else {
                continue;
            };
            if supports(&configurations, text(&place, "spec.locationClassName")) {
                found
                    .entry(name.to_owned())
                    .or_insert_with(|| (place, BTreeSet::new()))
                    .1
                    .insert(service.clone());
            }
        }
    }
    found
}

/// Names of the entries of a catalog of compute that a location offers: those that name it, or no location at all.
fn offered_at(location: &str, plural: &str, context: &Context<'_>) -> Vec<String> {
    let entries = context.root().all(crate::COMPUTE_GROUP, plural);
    let is_offered = |entry: &&Arc<Object>| {
        let locations = entry.at("spec.locations").and_then(Value::as_array);
        let is_here =
            locations.is_none_or(|all| all.is_empty() || all.iter().any(|found| found["name"] == location));
        is_here && text(entry, "spec.lifecycle.phase") != "Disabled"
    };
    entries.iter().filter(is_offered).map(|entry| entry.name().to_owned()).collect()
}

fn made(location: &Object) -> Object {
    let version = format!("{}/{}", crate::NETWORKING_GROUP, crate::NETWORKING_VERSION);
    let mut binding = Object::new(&version, "LocationBinding");
    binding.set_meta("name", Some(location.name().into()));
    binding.set("spec", Some(spec_of(location)));
    binding
}

/// What a project may know of a location: not who provides it, nor at which sites it is.
fn spec_of(location: &Object) -> Value {
    let mut spec = json!({
        "locationRef": {"name": location.name()},
        "locationClassName": text(location, "spec.locationClassName"),
        "topology": location.at("spec.topology").cloned().unwrap_or_else(|| json!({})),
    });
    if let Some(name) = location.at("spec.displayName") {
        spec["displayName"] = name.clone();
    }
    spec
}

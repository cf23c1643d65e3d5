//! The inventory controller: maintains conditions, phases and topology labels.
//!
//! An object is planned when it changes and when something that its last plan has read changes, so a change costs time in
//! proportion to its dependents.

mod conformance;
mod doubts;
mod events;
mod labels;

use std::sync::Arc;

use krm::Object;
use krm::condition::{self, Finding};
use krm::kind::{Address, Planes, Resolution, Resource};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::Value;

use crate::kinds::Circuit;
use crate::kinds::node::Phase;
use crate::{graph, kinds, power, topology};
use labels::Labels;

/// Reconciles all kinds of the inventory.
pub struct InventoryController;

impl InventoryController {
    /// Its name.
    pub const NAME: &'static str = "inventory-controller";
}

/// Labels and status of all kinds of the inventory.
const ROLE: [Rule; 2] = [
    Rule::new(
        kinds::GROUP,
        &[
            "cables",
            "cables/status",
            "circuits",
            "circuits/status",
            "clusters",
            "clusters/status",
            "links",
            "links/status",
            "networkdevices",
            "networkdevices/status",
            "nodes",
            "nodes/status",
            "ports",
            "ports/status",
            "providers",
            "providers/status",
            "racks",
            "racks/status",
            "regions",
            "regions/status",
            "sites",
            "sites/status",
            "virtualmachines",
            "virtualmachines/status",
        ],
        &["update"],
    ),
    Rule::new(
        graph::GROUP,
        &["edges/status", "edgetypes/status", "nodes/status", "nodetypes/status"],
        &["update"],
    ),
];

impl Reconciler for InventoryController {
    fn name(&self) -> &'static str {
        InventoryController::NAME
    }

    fn description(&self) -> &'static str {
        "Sets conditions, phases and topology labels of the inventory."
    }

    /// The name under which the inventory's controllers are known in audit and history.
    fn user(&self) -> String {
        "system:control@inventory.miloapis.com".to_owned()
    }

    fn reporter(&self) -> &'static str {
        "inventory.miloapis.com/inventory-controller"
    }

    fn scope(&self) -> Scope {
        Scope::Groups(vec![kinds::GROUP, graph::GROUP], Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        ROLE.to_vec()
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Some(mut resolution) = context.resolve(target, object) else { return plan };
        let (mut new, now) = (Object::clone(object), context.now().to_string());
        if target.at.group == graph::GROUP {
            conformance::check(object, &context.here(), resolution).tell(&mut new, &now);
            plan.change(&target.plane, object, new);
            return plan;
        }
        say_that_ends_are_sites(object, &mut resolution);
        match target.at.plural.as_str() {
            "circuits" => {
                let service =
                    referred("spec.serviceRef", target, object, context).map(|service| service.finding());
                tell(&mut new, SERVICE_RESOLVED, service, &now);
            }
            "virtualmachines" if resolution.is_ready() => {
                // A condition of its own is not what clients of the original expect: they take `Ready` for all there is.
                let project = referred("spec.projectRef", target, object, context);
                if let Some(missing) = project.filter(|project| !project.exists) {
                    resolution.ready.message += &format!("; {} not found", missing.name);
                }
            }
            _ => {}
        }
        resolution.tell(&mut new, &now);
        for (kind, finding) in doubts::of(object, &context.here()) {
            tell(&mut new, kind, finding, &now);
        }
        match target.at.plural.as_str() {
            "racks" => {
                for (kind, finding) in power::condition::of(object, &context.here()) {
                    tell(&mut new, kind, finding, &now);
                }
            }
            "nodes" => set_phase(&mut new, resolution.is_ready()),
            _ => {}
        }
        if resolution.is_ready() {
            label(&mut new, &labels::of(object, &context.here()));
        }
        plan.change(&target.plane, object, new);
        if resolution.ready.is_news_of(object) {
            plan.write(Write::Event(target.clone(), events::of(object, &resolution.ready)));
        }
        plan
    }
}

/// A circuit between sites says so, as clients of the original expect.
fn say_that_ends_are_sites(object: &Object, resolution: &mut Resolution) {
    let is_site = |end: &str| object.at(end).is_some_and(|kind| kind == "Site");
    if object.kind() == Circuit::KIND && is_site("spec.aEnd.kind") && is_site("spec.zEnd.kind") {
        let found = resolution.conditions.iter_mut().filter(|finding| finding.holds);
        found.for_each(|finding| finding.message = "All Site endpoints resolved".to_owned());
    }
}

/// Tells a condition that applies only sometimes, and takes it back when it doesn't.
fn tell(object: &mut Object, kind: &str, finding: Option<Finding>, now: &str) {
    match finding {
        Some(finding) => finding.tell(object, now),
        None => condition::withdraw(object, kind),
    }
}

/// The phase of a node.
fn set_phase(node: &mut Object, is_ready: bool) {
    let is_assigned = node.at("spec.assignment.clusterRef.name").is_some();
    let phase = match (is_ready, is_assigned) {
        (false, _) => Phase::Unavailable,
        (true, true) => Phase::Assigned,
        (true, false) => Phase::Unassigned,
    };
    if let Some(status) = node.0.get_mut("status") {
        status["phase"] = phase.to_string().into();
    }
}

/// The condition of a circuit whose service is of a kind that is served here.
const SERVICE_RESOLVED: &str = "ServiceResolved";

/// An object of another group that an object refers to.
struct Referred {
    /// Kind and name.
    name: String,
    exists: bool,
}

impl Referred {
    fn finding(self) -> Finding {
        match self.exists {
            true => Finding::holds(SERVICE_RESOLVED, "Accepted", format!("{} found", self.name)),
            false => Finding::fails(SERVICE_RESOLVED, "ServiceNotFound", format!("{} not found", self.name)),
        }
    }
}

/// Whether the object of another group exists that a field refers to. Nothing if its kind is not served here.
fn referred(path: &str, target: &Target, object: &Object, context: &Context<'_>) -> Option<Referred> {
    let reference = object.at(path)?;
    let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
    let served = context.kind(text("apiGroup"), text("kind"))?;
    let at = Address {
        group: served.group.clone(),
        plural: served.names.plural.clone(),
        namespace: text("namespace").to_owned(),
        name: text("name").to_owned(),
    };
    let exists = context.metadata(&Target::new(target.plane.clone(), at)).is_some();
    Some(Referred { name: format!("{}/{}", text("kind"), text("name")), exists })
}

/// Sets the topology labels and leaves all other labels unchanged.
fn label(object: &mut Object, wanted: &Labels) {
    let mut labels = object.meta("labels").and_then(Value::as_object).cloned().unwrap_or_default();
    let before = labels.clone();
    for key in topology::ALL {
        match wanted.get(key) {
            Some(Some(value)) => drop(labels.insert(key.to_owned(), value.as_str().into())),
            Some(None) => drop(labels.remove(key)),
            None => {}
        }
    }
    if labels != before {
        object.set_meta("labels", (!labels.is_empty()).then(|| labels.into()));
    }
}

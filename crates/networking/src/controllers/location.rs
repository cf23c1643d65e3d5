//! The location controller: joins locations to the sites of the inventory by their city code.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use crate::kinds::Location;
use crate::kinds::location::CITY_CODE;

/// Group of the sites that locations are joined to.
const INVENTORY: &str = "inventory.miloapis.com";
const SITES: &str = "sites";

/// Reconciles locations.
pub struct LocationController;

impl Reconciler for LocationController {
    fn name(&self) -> &'static str {
        "location-controller"
    }

    fn description(&self) -> &'static str {
        "Joins locations to the sites of the inventory by city code, and sets their status."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Location>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["locations/status"], &["update"])]
    }

    fn depends_on(&self) -> DependsOn {
        // Whether a site is ready is in its status.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let code =
            object.at("spec.topology").and_then(|topology| topology.get(CITY_CODE)).and_then(Value::as_str);
        let code = code.unwrap_or_default();
        // All of them, though the label would find those of the city: a change of a status alone is noticed by kind.
        let mut sites = context.root().all(INVENTORY, SITES);
        sites.retain(|site| site.label(CITY_CODE) == Some(code));
        let names: Vec<&str> = sites.iter().map(|site| site.name()).collect();
        let ready: Vec<&str> = sites.iter().filter(|site| is_ready(site)).map(|site| site.name()).collect();
        let is_in_cloud = object.at("spec.provider").is_some();
        let finding = match (is_in_cloud, ready.first(), names.first()) {
            (true, ..) if object.at("spec.provider.local").is_some() => {
                Finding::holds("Ready", "LocalMachine", "The location runs on the machine of the server")
            }
            (true, ..) => {
                Finding::holds("Ready", "ProviderConfigured", "The location runs on a cloud provider")
            }
            (_, Some(_), _) => Finding::holds("Ready", "SiteReady", format!("At {}", ready.join(", "))),
            (_, None, Some(_)) => Finding::fails(
                "Ready",
                "SiteNotReady",
                format!("No site of {code} is ready: {}", names.join(", ")),
            ),
            (_, None, None) => {
                Finding::fails("Ready", "NoSite", format!("No Site has the label {CITY_CODE}={code}"))
            }
        };
        let mut new = Object::clone(object);
        let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
        match names.is_empty() {
            true => drop(status.as_object_mut().and_then(|status| status.remove("sites"))),
            false => status["sites"] = json!(names),
        }
        new.set("status", Some(status));
        finding.tell(&mut new, &context.now().to_string());
        let mut plan = Plan::nothing();
        plan.change(&target.plane, object, new);
        plan
    }
}

fn is_ready(site: &Object) -> bool {
    let conditions = site.at("status.conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|found| found["type"] == "Ready" && found["status"] == "True")
}

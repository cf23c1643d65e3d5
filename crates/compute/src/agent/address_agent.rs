//! The address agent: opens an address for each port of a workload in a city, and reports it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use krm::Object;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::action;
use super::addresses::{Addresses, Front, Opened};
use crate::kinds::WorkloadDeployment;
use crate::names::{CITY_CODE, WORKLOAD_UID};
use crate::template::list;

const OPEN: &str = "open";
const CLOSE: &str = "close";
/// Pause before an address that could not be opened is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// Opens addresses of workloads on this machine.
pub struct AddressAgent {
    addresses: Arc<Addresses>,
    bell: Mutex<Option<Bell>>,
}

impl AddressAgent {
    /// An agent for these addresses.
    pub fn new(addresses: Arc<Addresses>) -> AddressAgent {
        AddressAgent { addresses, bell: Mutex::default() }
    }
}

impl Reconciler for AddressAgent {
    fn name(&self) -> &'static str {
        "workload-address-agent"
    }

    fn description(&self) -> &'static str {
        "Opens an address on this machine for each workload and city, and reports it."
    }

    fn scope(&self) -> Scope {
        Scope::of::<WorkloadDeployment>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["workloaddeployments/status"], &["update"])]
    }

    fn attach(&self, bell: Bell) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        if object.is_deleting() {
            return self.plan_absent(target, context);
        }
        let mut plan = Plan::nothing();
        let ports = ports(object);
        let front = front(target, object);
        let opened = self.addresses.opened(&front, target, &ports);
        let Some(opened) = opened.or_else(|| ports.is_empty().then(Vec::new)) else {
            let parameters = json!({
                "project": front.project, "workload": front.workload, "city": front.city, "ports": ports,
            });
            plan.actions.push(action(OPEN, parameters));
            plan.again_after(AGAIN);
            return plan;
        };
        if ports.is_empty() && self.addresses.is_held_by(target) {
            plan.actions.push(action(CLOSE, Value::Null));
        }
        let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
        let shown: Vec<Value> = opened.iter().map(shown).collect();
        if status.get("addresses").is_none() && shown.is_empty() {
            return plan;
        }
        status["addresses"] = shown.into();
        let mut new = Object::clone(object);
        new.set("status", Some(status));
        plan.change(&target.plane, object, new);
        plan
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if self.addresses.is_held_by(target) {
            plan.actions.push(action(CLOSE, Value::Null));
        }
        plan
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            if action.name == CLOSE {
                self.addresses.release(&execution.target);
                return Outcome::Done(Value::Null);
            }
            let text = |field: &str| action.parameters[field].as_str().unwrap_or_default().to_owned();
            let front = Front { project: text("project"), workload: text("workload"), city: text("city") };
            let ports = serde_json::from_value(action.parameters["ports"].clone()).unwrap_or_default();
            if let Err(error) = self.addresses.open(&front, &execution.target, ports).await {
                return Outcome::Failed(format!("an address can't be opened: {error}"));
            }
            let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(bell) = bell {
                bell(&execution.target);
            }
            Outcome::Done(Value::Null)
        })
    }
}

fn front(target: &Target, deployment: &Object) -> Front {
    let label = |key: &str| deployment.label(key).unwrap_or_default().to_owned();
    Front { project: target.plane.clone(), workload: label(WORKLOAD_UID), city: label(CITY_CODE) }
}

/// The TCP ports of a deployment's template.
fn ports(deployment: &Object) -> Vec<(String, u16)> {
    let containers =
        deployment.at("spec.template.spec.runtime.sandbox.containers").cloned().unwrap_or_default();
    list(&containers)
        .flat_map(|container| list(&container["ports"]))
        .filter(|port| port["protocol"].as_str().is_none_or(|protocol| protocol == "TCP"))
        .filter_map(|port| {
            let number = u16::try_from(port["port"].as_u64()?).ok()?;
            Some((port["name"].as_str()?.to_owned(), number))
        })
        .collect()
}

fn shown(opened: &Opened) -> Value {
    let Opened { name, port, address } = opened;
    let scheme = match (name.as_str(), port) {
        (name, _) if name.starts_with("https") => "https",
        (name, _) if name.starts_with("http") => "http",
        (_, 443 | 8443) => "https",
        (_, 80 | 8080) => "http",
        _ => "tcp",
    };
    json!({"name": name, "port": port, "address": address.to_string(), "url": format!("{scheme}://{address}")})
}

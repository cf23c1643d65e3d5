//! The agent: makes instances run through a container runtime, and reports what became of them.
//!
//! It decides from the object and from what the runtime reported last, which it keeps in memory. A report of the runtime has
//! the object planned again. After a restart nothing is known: the runtime is asked to run what it runs already, which
//! changes nothing.

mod address_agent;
pub mod addresses;
mod memory;
mod policy;
mod pull_secrets;
mod spec;
mod status;

use std::sync::Arc;
use std::time::Duration;

use containers::{InstanceId, InstanceSpec, Runtime};
use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, DependsOn, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use self::addresses::Addresses;
use self::memory::{Memory, Observation};
use self::status::Report;
use crate::autoscale::PERIOD;
use crate::entitlement::{Access, access};
use crate::kinds::{Instance, WorkloadDeployment};
use crate::names::{AGENT_FINALIZER, DEPLOYMENT_NAME};

const ENSURE: &str = "ensure";
const STOP: &str = "stop";
const REMOVE: &str = "remove";
const MEASURE: &str = "measure";
/// Pause before something that the runtime refused is asked for again.
const AGAIN: Duration = Duration::from_secs(5);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(30);

pub use address_agent::AddressAgent;
pub use status::report;

/// Runs instances on a runtime.
pub struct Agent {
    memory: Arc<Memory>,
    period: Duration,
    /// The project whose workloads may name images on the disk of this machine.
    disk_images_of: Option<String>,
}

impl Agent {
    /// An agent on a runtime.
    pub fn new(runtime: Arc<dyn Runtime>) -> Agent {
        Agent { memory: Arc::new(Memory::new(runtime, None)), period: PERIOD, disk_images_of: None }
    }

    /// An agent whose instances serve at addresses of the machine, and lose them before they are stopped.
    pub fn serving(runtime: Arc<dyn Runtime>, addresses: Arc<Addresses>) -> Agent {
        Agent {
            memory: Arc::new(Memory::new(runtime, Some(addresses))),
            period: PERIOD,
            disk_images_of: None,
        }
    }

    /// The same, but workloads of a project may name images on the disk of this machine.
    pub fn with_disk_images_for(self, project: &str) -> Agent {
        Agent { disk_images_of: Some(project.to_owned()), ..self }
    }

    /// The same, but it measures usage this often.
    pub fn measuring_every(self, period: Duration) -> Agent {
        Agent { period, ..self }
    }
}

impl Reconciler for Agent {
    fn name(&self) -> &'static str {
        "instance-agent"
    }

    fn description(&self) -> &'static str {
        "Runs instances on this machine, and reports their state."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Instance>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["instances", "instances/status"], &["update"])]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 8, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // Whether the project is suspended is in the status of its entitlement.
        DependsOn::Everything
    }

    fn attach(&self, bell: Bell) {
        self.memory.clone().follow(bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        self.memory.place(object.uid(), target);
        let known = self.memory.known(object.uid());
        for id in self.memory.others(target, object.uid()) {
            plan.actions.push(action(REMOVE, json!({ "id": id })));
        }
        if object.is_deleting() {
            return self.end(plan, target, object, known);
        }
        let gates = object.at("spec.controller.schedulingGates").and_then(Value::as_array);
        if gates.is_some_and(|gates| !gates.is_empty()) {
            return plan;
        }
        let suspended = match access(context) {
            Access::Suspended(why) => Some(why),
            Access::Allowed | Access::Revoked(_) => None,
        };
        let report = match (suspended, known) {
            (Some(why), known) => {
                if matches!(&known, Observation::State(state) if state.phase != containers::Phase::Stopped) {
                    plan.actions.push(action(STOP, json!({ "id": object.uid() })));
                }
                Report::suspended(&why)
            }
            // It was stopped while the project was suspended; under its id it stays so.
            (None, Observation::State(state)) if state.phase == containers::Phase::Stopped => {
                plan.actions.push(action(REMOVE, json!({ "id": object.uid() })));
                Report::starting()
            }
            (None, Observation::State(state)) => {
                let mut report = report(&state);
                if state.ready && is_autoscaled(object, context) {
                    plan.actions.push(action(MEASURE, json!({ "id": object.uid() })));
                    plan.again_after(self.period);
                    report.usage = self.memory.usage(object.uid());
                }
                report
            }
            (None, Observation::Ending) => return plan,
            (None, known) => match spec::of(target, object, context)
                .and_then(|spec| self.with_images_from_allowed_places(spec, target))
            {
                Err(why) => Report::misconfigured(&why),
                Ok(spec) => {
                    let parameters = serde_json::to_value(&spec).unwrap_or_default();
                    plan.actions.push(action(ENSURE, parameters));
                    match known {
                        Observation::Refused(error) => {
                            plan.again_after(AGAIN);
                            Report::refused(&error)
                        }
                        _ => Report::starting(),
                    }
                }
            },
        };
        let mut new = Object::clone(object);
        report.write(&mut new, &context.now().to_string());
        plan.change(&target.plane, object, new);
        plan
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        // What runs and has no object any more: its project is gone, or it was removed while nobody looked.
        let mut plan = Plan::nothing();
        for id in self.memory.others(target, "") {
            plan.actions.push(action(REMOVE, json!({ "id": id })));
        }
        plan
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let id = || action.parameters["id"].as_str().unwrap_or_default().to_owned();
            match action.name.as_str() {
                ENSURE => match serde_json::from_value::<InstanceSpec>(action.parameters.clone()) {
                    Ok(spec) => self.memory.ensure(spec, &execution.target).await,
                    // The error may have a value in it.
                    Err(_) => {
                        return Outcome::Failed("the specification of an instance can't be read".to_owned());
                    }
                },
                MEASURE => self.memory.measure(&id(), self.period / 2).await,
                STOP => self.memory.clone().stop(id(), &execution.target),
                _ => self.memory.clone().remove(id(), &execution.target),
            }
            Outcome::Done(Value::Null)
        })
    }
}

impl Agent {
    /// Whoever names a path makes this machine read it: that is for those to whom it belongs.
    fn with_images_from_allowed_places(
        &self,
        spec: InstanceSpec,
        target: &Target,
    ) -> Result<InstanceSpec, String> {
        let is_on_disk = |image: &str| image.starts_with("oci:") || image.starts_with("oci-archive:");
        let is_allowed = self.disk_images_of.as_ref() == Some(&target.plane);
        match spec.containers.iter().find(|container| !is_allowed && is_on_disk(&container.image)) {
            Some(found) => Err(format!(
                "image {:?} is on a disk: push it to a registry; only the local project of a machine may use its disk",
                found.image
            )),
            None => Ok(spec),
        }
    }

    /// An instance that is deleted goes once nothing of it runs.
    fn end(&self, mut plan: Plan, target: &Target, object: &Arc<Object>, known: Observation) -> Plan {
        if !object.finalizers().contains(&AGENT_FINALIZER) {
            return plan;
        }
        match known {
            Observation::Removed => {
                let mut new = Object::clone(object);
                let left = object.finalizers().into_iter().filter(|name| *name != AGENT_FINALIZER);
                new.set_finalizers(left.map(str::to_owned).collect());
                plan.change(&target.plane, object, new);
                plan
            }
            Observation::Ending => plan.waiting_for("its containers are being stopped"),
            _ => {
                plan.actions.push(action(REMOVE, json!({ "id": object.uid() })));
                plan.waiting_for("its containers are being stopped")
            }
        }
    }
}

/// Whether the deployment of an instance is scaled by its usage.
fn is_autoscaled(instance: &Object, context: &Context<'_>) -> bool {
    let name = instance.label(DEPLOYMENT_NAME).unwrap_or_default();
    let deployment = context.here().get(&WorkloadDeployment::address(instance.namespace(), name));
    deployment.is_some_and(|found| found.at("spec.scaleSettings.maxReplicas").is_some())
}

/// Actions are not recorded: what came of them is asked of the runtime.
fn action(name: &str, parameters: Value) -> Action {
    Action { name: name.to_owned(), parameters, is_external: false }
}

fn id_of(text: &str) -> Option<InstanceId> {
    InstanceId::new(text).ok()
}

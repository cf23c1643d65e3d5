//! Double action: a machine is power-cycled, and a restart must not cycle it again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use krm::Object;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};
use simulation::{Reconcilers, Servers, Simulation, User};

use super::objects::{ROLE, calm, create, map, rough, scope, text, with};

const MACHINES: [&str; 2] = ["machine-a", "machine-b"];
/// How long a machine takes.
const CYCLE: Duration = Duration::from_secs(2);

/// The machines, which know the operations that they were asked for.
#[derive(Default)]
struct Machines {
    cycles: Mutex<BTreeMap<String, u32>>,
    operations: Mutex<BTreeSet<String>>,
}

/// Power-cycles each machine once.
struct Cycling {
    machines: Arc<Machines>,
    /// Those that are done. It goes with the process.
    done: Mutex<BTreeSet<String>>,
    /// Whether the operation is recorded before it is begun, and looked up.
    is_careful: bool,
}

impl Reconciler for Cycling {
    fn name(&self) -> &'static str {
        "cycling"
    }

    fn scope(&self) -> Scope {
        scope()
    }

    fn role(&self) -> Vec<Rule> {
        vec![ROLE]
    }

    fn plan(&self, target: &Target, machine: &Arc<Object>, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if !machine.name().starts_with("machine-") || text(machine, "state") == "cycled" {
            return plan;
        }
        if self.done.lock().unwrap().contains(machine.name()) {
            plan.change(&target.plane, machine, with(machine, "state", "cycled"));
            return plan;
        }
        let mut operation = text(machine, "operation").to_owned();
        if self.is_careful && operation.is_empty() {
            operation = format!("{}-{}", machine.name(), machine.resource_version());
            plan.change(&target.plane, machine, with(machine, "operation", &operation));
        }
        let parameters = json!({"operation": operation});
        plan.actions.push(Action { name: "cycle".to_owned(), parameters, is_external: true });
        plan
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let name = &execution.target.at.name;
            let operation = action.parameters["operation"].as_str().unwrap_or_default();
            if operation.is_empty() || self.machines.operations.lock().unwrap().insert(operation.to_owned()) {
                *self.machines.cycles.lock().unwrap().entry(name.clone()).or_default() += 1;
            }
            tokio::time::sleep(CYCLE).await;
            self.done.lock().unwrap().insert(name.clone());
            Outcome::Pending(Value::Null, Duration::ZERO)
        })
    }
}

fn reconcilers(is_careful: bool) -> Reconcilers<'static> {
    Reconcilers::new(move |simulation| {
        vec![Arc::new(Cycling { machines: simulation.outside(), done: Mutex::default(), is_careful })]
    })
}

async fn machines_come(_: &Simulation, servers: &Servers) -> Result<(), String> {
    create(&servers.user(), &MACHINES.map(|name| map(name, &[]))).await
}

async fn each_is_cycled_once(simulation: &Simulation, user: &User) -> Result<(), String> {
    let cycles = simulation.outside::<Machines>().cycles.lock().unwrap().clone();
    let maps = user.list("", "", "configmaps");
    let cycled = maps.iter().filter(|machine| text(machine, "state") == "cycled").count();
    match cycled == MACHINES.len() && MACHINES.iter().all(|name| cycles.get(*name) == Some(&1)) {
        true => Ok(()),
        false => Err(format!("cycles: {cycles:?}, of {cycled} machines it is known")),
    }
}

#[test]
fn a_double_action_is_found() {
    let careless = reconcilers(false);
    // Nothing is wrong with it as long as nobody stops it.
    careless.run(&calm(1), machines_come, each_is_cycled_once).unwrap_or_else(|failure| panic!("{failure}"));
    let failure = careless.walk(|| calm(1), machines_come, each_is_cycled_once).unwrap_err();
    assert!(failure.stop.is_some() && failure.why.contains(": 2"), "{failure}");
}

#[test]
fn an_action_that_was_recorded_is_done_once_wherever_it_stops() {
    let careful = reconcilers(true);
    let walked = careful.walk(|| calm(1), machines_come, each_is_cycled_once);
    // The lease, the namespace, and for each machine its creation, its operation, where that goes on, and its end.
    assert_eq!(walked.unwrap_or_else(|failure| panic!("{failure}")).steps, 10);
    careful.search(0..30, rough, machines_come, each_is_cycled_once).unwrap_or_else(|it| panic!("{it}"));
}

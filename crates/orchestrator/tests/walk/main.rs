//! A deployment that is stopped at every step it takes: it goes on, and nothing is driven twice or without a claim.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulfillment::kinds::HostClaim;
use fulfillment::kinds::host_claim::Claimant;
use krm::Object;
use krm::kind::Resource;
use orchestrator::controllers::{NodeTaskController, TaskController};
use orchestrator::driver::{Call, Progress, Working};
use orchestrator::drivers::simulated::Simulated;
use orchestrator::kinds::Task;
use orchestrator::oob::Oob;
use reconcile::reconciler::Execution;
use reconcile::target::Target;
use serde_json::{Value, json};
use simulation::{Chances, Reconcilers, Servers, Simulation, User};

const NODES: [&str; 2] = ["n1", "n2"];
const SITE: &str = "site";

/// The machines, which outlive the process.
#[derive(Default)]
struct Machines {
    /// How often each was power-cycled.
    cycles: Mutex<BTreeMap<String, u32>>,
    /// Operations that were seen.
    operations: Mutex<BTreeSet<String>>,
    /// Calls that came without a claim.
    unclaimed: Mutex<Vec<String>>,
}

/// A BMC that power-cycles whenever it is asked, and knows the operations that it was asked for, as a driver that looks first
/// does.
struct Bmcs(Arc<Machines>);

impl Oob for Bmcs {
    fn work<'a>(
        &'a self,
        call: &'a Call,
        host: &'a str,
        under: Option<&'a (Claimant, i64)>,
        _: &'a Execution,
    ) -> Working<'a> {
        Box::pin(async move {
            if under.is_none() {
                self.0.unclaimed.lock().unwrap().push(host.to_owned());
            }
            if self.0.operations.lock().unwrap().insert(call.operation.clone()) {
                *self.0.cycles.lock().unwrap().entry(host.to_owned()).or_default() += 1;
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
            Progress::done("power-cycled")
        })
    }
}

fn object(api: &str, kind: &str, namespace: &str, name: &str, spec: Value) -> Object {
    let mut object = Object::new(api, kind);
    if !namespace.is_empty() {
        object.set_meta("namespace", Some(namespace.into()));
    }
    object.set_meta("name", Some(name.into()));
    if !spec.is_null() {
        object.set("spec", Some(spec));
    }
    object
}

fn design() -> Vec<Object> {
    let api = "design.groundplane.dev/v1alpha1";
    let node = |number: usize, name: &str| {
        json!({"kind": "BaremetalNode", "name": name, "spec": {
            "hardware_profile": "hw", "primary_network": "oam", "platform": {"image": "jammy"},
            "addressing": [{"network": "oam", "address": format!("10.0.0.{}", number + 10)}],
            "storage": {"physical_devices": {"sda": {"partitions": [
                {"name": "root", "size": "30g", "filesystem": {"mountpoint": "/"}}]}}},
        }})
    };
    let mut documents = vec![
        json!({"kind": "HardwareProfile", "name": "hw", "spec": {"vendor": "Dell"}}),
        json!({"kind": "Network", "name": "oam", "spec": {"cidr": "10.0.0.0/24"}}),
    ];
    documents.extend(NODES.iter().enumerate().map(|(number, name)| node(number, name)));
    let revision = json!({"design": SITE, "number": 1, "message": "first", "documents": documents});
    vec![
        object("v1", "Namespace", "", SITE, Value::Null),
        object(api, "DesignRevision", SITE, "site-1", revision),
        object(api, "Design", SITE, SITE, json!({"revision": 1})),
    ]
}

fn task(name: &str, action: &str) -> Object {
    let spec = json!({"action": action, "design": SITE, "parallel": 2});
    object("orchestration.groundplane.dev/v1alpha1", "Task", SITE, name, spec)
}

fn reconcilers() -> Reconcilers<'static> {
    let kinds = orchestrator::all()
        .into_iter()
        .chain(design_resources::all())
        .chain(fulfillment::all())
        .chain(inventory::all());
    Reconcilers::new(|simulation| {
        let oob: Arc<dyn Oob> = Arc::new(Bmcs(simulation.outside()));
        let site: Arc<dyn Oob> = Arc::new(Simulated);
        vec![Arc::new(TaskController::new(site)), Arc::new(NodeTaskController::new(oob))]
    })
    .with_kinds(kinds)
}

async fn site_comes(servers: &Servers) -> Result<User, String> {
    let user = servers.user();
    for one in design() {
        user.create(&one).await?;
    }
    for name in NODES {
        let host = object("fulfillment.groundplane.dev/v1alpha1", "Host", "", name, json!({}));
        user.create(&host).await?;
    }
    let settings = json!({"type": "Simulated", "simulated": {"seconds": 20, "drivesBmcs": true}});
    user.create(&object("orchestration.groundplane.dev/v1alpha1", "Provisioner", "", "default", settings))
        .await?;
    Ok(user)
}

async fn reboots(_: &Simulation, servers: &Servers) -> Result<(), String> {
    let user = site_comes(servers).await?;
    user.create(&task("reboot", "reboot_nodes")).await
}

async fn prepares_and_deploys(_: &Simulation, servers: &Servers) -> Result<(), String> {
    let user = site_comes(servers).await?;
    user.create(&task("prepare", "prepare_nodes")).await?;
    // Both at once: the second waits for the hosts that the first holds.
    user.create(&task("deploy", "deploy_nodes")).await
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn all_ended(user: &User, expected: usize) -> Result<(), String> {
    let tasks = user.list("", Task::GROUP, Task::PLURAL);
    if tasks.len() != expected {
        return Err(format!("{} tasks", tasks.len()));
    }
    for task in &tasks {
        if (text(task, "status.phase"), text(task, "status.result")) != ("Complete", "Success") {
            return Err(format!("{}: {}", task.name(), task.get("status").cloned().unwrap_or_default()));
        }
    }
    for name in NODES {
        let claim = user.get(&Target::of::<HostClaim>("", "", name)).ok_or("no claim")?;
        if claim.at("spec.holder").is_some() {
            return Err(format!("{name} is still held"));
        }
    }
    Ok(())
}

async fn each_is_cycled_once(simulation: &Simulation, user: &User) -> Result<(), String> {
    all_ended(user, 1 + NODES.len())?;
    let machines = simulation.outside::<Machines>();
    let cycles = machines.cycles.lock().unwrap().clone();
    if !machines.unclaimed.lock().unwrap().is_empty() {
        return Err("a BMC was driven without a claim".to_owned());
    }
    match NODES.iter().all(|name| cycles.get(*name) == Some(&1)) {
        true => Ok(()),
        false => Err(format!("cycles: {cycles:?}")),
    }
}

async fn all_are_deployed(simulation: &Simulation, user: &User) -> Result<(), String> {
    all_ended(user, 2 * (1 + NODES.len()))?;
    match simulation.outside::<Machines>().unclaimed.lock().unwrap().is_empty() {
        true => Ok(()),
        false => Err("a BMC was driven without a claim".to_owned()),
    }
}

#[test]
fn a_reboot_that_is_stopped_anywhere_reboots_each_node_once() {
    let walked = reconcilers().walk(|| Simulation::seeded(1), reboots, each_is_cycled_once);
    let walked = walked.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(walked.steps >= 15, "{walked:?}");
}

#[test]
fn a_deployment_ends_whatever_goes_wrong_with_the_store() {
    let rough = |seed| Simulation::seeded(seed).with_faults(|point, dice| Chances::mixed().draw(point, dice));
    let all = reconcilers();
    all.search(0..2, rough, prepares_and_deploys, all_are_deployed)
        .unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_deployment_can_be_stopped_anywhere() {
    // Every fifteenth place of a longer run: all places of a short one are walked above.
    let all = reconcilers();
    let whole = Simulation::seeded(3);
    all.run(&whole, prepares_and_deploys, all_are_deployed).unwrap_or_else(|failure| panic!("{failure}"));
    for step in (1..=whole.steps()).step_by(15) {
        let stopped = Simulation::seeded(3).stopped(simulation::Stop::After(step));
        all.run(&stopped, prepares_and_deploys, all_are_deployed)
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

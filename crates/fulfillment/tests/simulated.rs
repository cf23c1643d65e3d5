//! Power in simulated time: a server that stops anywhere, and machines that outlive it.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmc::power::{PowerAction, PowerState};
use bmc::{Address, Answer, Bmc, Environment, Outcome};
use fulfillment::bmcs::{Connection, Drivers, Opened};
use fulfillment::controllers::{ClaimController, OperationController, PowerController};
use krm::Object;
use reconcile::reconciler::Reconciler;
use serde_json::{Value, json};
use simulation::{Chances, Reconcilers, Servers, Simulation, User};

/// How long a machine takes to change its power.
const TAKES: Duration = Duration::from_secs(9);

/// The machines, by the name of their BMC.
#[derive(Default)]
struct Machines(Mutex<BTreeMap<String, Machine>>);

#[derive(Debug, Default, Clone)]
struct Machine {
    is_on: bool,
    /// How often it went off, and on.
    went: (u32, u32),
    /// Drivers that change it now.
    drivers: u32,
    /// Whether there ever were two.
    was_shared: bool,
}

impl Machines {
    fn with<T>(&self, name: &str, change: impl FnOnce(&mut Machine) -> T) -> T {
        change(self.0.lock().unwrap().entry(name.to_owned()).or_default())
    }
}

/// Opens drivers of the machines.
struct Simulated(Arc<Machines>);

impl Drivers for Simulated {
    fn open(&self, connection: &Connection, _: &Environment) -> bmc::Result<Opened> {
        let driver = Driver { address: connection.address.clone(), machines: self.0.clone() };
        Ok(Opened::of(Arc::new(driver)))
    }
}

struct Driver {
    address: Address,
    machines: Arc<Machines>,
}

/// One driver fewer, however it ends.
struct Driving<'a>(&'a Driver);

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        self.0.machines.with(self.0.address.host(), |machine| machine.drivers -= 1);
    }
}

impl Bmc for Driver {
    fn address(&self) -> &Address {
        &self.address
    }

    fn power(&self) -> Answer<'_, PowerState> {
        let is_on = self.machines.with(self.address.host(), |machine| machine.is_on);
        Box::pin(async move { Ok(if is_on { PowerState::On } else { PowerState::Off }) })
    }

    fn set_power(&self, action: PowerAction) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let name = self.address.host();
            let wanted = action.leads_to() == PowerState::On;
            self.machines.with(name, |machine| {
                machine.drivers += 1;
                machine.was_shared |= machine.drivers > 1;
            });
            let _driving = Driving(self);
            if self.machines.with(name, |machine| machine.is_on == wanted) {
                return Ok(Outcome::Unchanged);
            }
            tokio::time::sleep(TAKES).await;
            self.machines.with(name, |machine| {
                machine.is_on = wanted;
                let (off, on) = &mut machine.went;
                *(if wanted { on } else { off }) += 1;
            });
            Ok(Outcome::Changed)
        })
    }
}

fn reconcilers() -> Reconcilers<'static> {
    let new = |simulation: &Simulation| -> Vec<Arc<dyn Reconciler>> {
        let drivers = Arc::new(Simulated(simulation.outside()));
        vec![
            Arc::new(ClaimController),
            Arc::new(PowerController::new(drivers.clone())),
            Arc::new(OperationController::new(drivers)),
        ]
    };
    let kinds = fulfillment::all().into_iter().chain(inventory::all());
    // Power states of two hosts are read every minute, for ever: there is always half a minute without.
    Reconcilers::new(new).with_kinds(kinds).with_horizon(Duration::from_secs(25))
}

fn object(kind: &str, name: &str, spec: &Value) -> Object {
    Object::from_value(json!({
        "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec,
    }))
    .unwrap()
}

fn host(name: &str, power: &str) -> Object {
    let bmc = json!({"url": format!("redfish://{name}"), "user": "admin", "password": "secret"});
    object("Host", name, &json!({"bmc": bmc, "powerState": format!("HOST_POWER_STATE_{power}")}))
}

/// Two hosts, of which one is cycled once it is on.
async fn hosts_come(simulation: &Simulation, servers: &Servers) -> Result<(), String> {
    let user = servers.user();
    user.create(&host("h1", "ON")).await?;
    user.create(&host("h2", "OFF")).await?;
    let machines = simulation.outside::<Machines>();
    while !machines.with("h1", |machine| machine.is_on || machine.went.0 > 0) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let cycle = json!({"hostRef": {"name": "h1"}, "action": "PowerCycle", "timeoutSeconds": 86400});
    user.create(&object("HostOperation", "cycle", &cycle)).await
}

async fn all_is_as_it_should_be(simulation: &Simulation, user: &User) -> Result<(), String> {
    let machines = simulation.outside::<Machines>();
    let (one, two) = (machines.with("h1", |it| it.clone()), machines.with("h2", |it| it.clone()));
    let group = fulfillment::GROUP;
    let operations = user.list("", group, "hostoperations");
    let claims = user.list("", group, "hostclaims");
    let held: Vec<&str> =
        claims.iter().filter(|claim| claim.at("spec.holder").is_some()).map(|claim| claim.name()).collect();
    let phase = operations.first().and_then(|operation| operation.at("status.phase").cloned());
    let is_right = one.is_on
        && one.went == (1, 2)
        && !two.is_on
        && two.went == (0, 0)
        && !one.was_shared
        && held.is_empty()
        && phase == Some("Succeeded".into());
    match is_right {
        true => Ok(()),
        false => Err(format!("{one:?}, {two:?}, {phase:?}, held: {held:?}")),
    }
}

#[test]
fn a_host_is_cycled_exactly_once_wherever_the_server_stops() {
    let reconcilers = reconcilers();
    let walked = reconcilers.walk(|| Simulation::seeded(1), hosts_come, all_is_as_it_should_be);
    let walked = walked.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(walked.steps > 8, "{}", walked.steps);
}

#[test]
fn faults_of_the_store_lead_to_no_second_driver_and_no_second_cycle() {
    let rough = |seed| Simulation::seeded(seed).with_faults(|point, dice| Chances::mixed().draw(point, dice));
    let found = reconcilers().search(0..20, rough, hosts_come, all_is_as_it_should_be);
    found.unwrap_or_else(|failure| panic!("{failure}"));
}

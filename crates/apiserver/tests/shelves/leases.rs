//! One server at a time runs a controller: whoever has lost the lease writes nothing, however late it notices.

use std::sync::Arc;
use std::time::Duration;

use apiserver::controllers::host;
use krm::Object;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::json;
use store::{Acquired, Fence};
use tokio::sync::Semaphore;

use super::objects::{CONFIG_MAPS, config_map, found, make};
use super::server::{Pair, Server, until};

const LEASE: &str = "controller/stamps";
const SHORT: Duration = Duration::from_secs(1);
/// Less than a write is tried again for: a lost lease is told at once.
const PATIENCE: Duration = Duration::from_secs(15);

/// Writes its name on everything called `subject`, once it is let.
struct Stamps {
    name: &'static str,
    stamp: &'static str,
    gate: Arc<Semaphore>,
}

impl Reconciler for Stamps {
    fn name(&self) -> &'static str {
        self.name
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["update"])]
    }

    /// Planning blocks on the gate.
    fn settings(&self) -> Settings {
        Settings { is_heavy: true, ..Settings::new(self.name) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if object.name() == "subject" {
            match tokio::runtime::Handle::current().block_on(self.gate.acquire()) {
                Ok(permit) => permit.forget(),
                Err(_) => return plan,
            }
            let mut new = Object::clone(object);
            new.set("data", Some(json!({"stamp": self.stamp})));
            plan.change(&target.plane, object, new);
        }
        plan
    }
}

/// Opens all gates at the end: the runtime waits for plans that block.
struct Gates([Arc<Semaphore>; 2]);

impl Drop for Gates {
    fn drop(&mut self) {
        self.0.iter().for_each(|gate| gate.close());
    }
}

#[tokio::test]
async fn a_controller_that_lost_its_lease_writes_nothing() {
    let server = Server::embedded().await;
    the_late_one_writes_nothing(&server, &server).await;
}

#[tokio::test]
async fn a_controller_that_lost_its_lease_to_another_server_writes_nothing() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    the_late_one_writes_nothing(first, second).await;
}

async fn the_late_one_writes_nothing(first: &Server, second: &Server) {
    let http = first.client();
    let subject = format!("{CONFIG_MAPS}/subject");
    make(&http, CONFIG_MAPS, &config_map("subject", &[])).await;
    let gates = Gates([Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0))]);
    let gates = &gates.0;

    // The first has the lease and is about to write, but sleeps until somebody else has taken over.
    let fence = take(first, "first").await;
    let stamps = Stamps { name: "first-stamps", stamp: "first", gate: gates[0].clone() };
    tokio::spawn(host::run_fenced(Arc::new(stamps), first.api.clone(), fence));
    let fence = take(second, "second").await;
    let renewing = second.api.clone();
    let held = fence.clone();
    tokio::spawn(async move {
        while renewing.store().renew(&held).await.is_ok_and(|held| held) {
            tokio::time::sleep(SHORT / 4).await;
        }
    });
    gates[0].add_permits(1);
    until("the late one's write is refused", || async {
        let states = first.api.controllers().states();
        states.iter().any(|state| state.name == "first-stamps" && state.counts.failed > 0)
    })
    .await;
    assert_eq!(found(&http, &subject).await.unwrap().get("data"), None);

    let stamps = Stamps { name: "second-stamps", stamp: "second", gate: gates[1].clone() };
    gates[1].add_permits(1000);
    tokio::spawn(host::run_fenced(Arc::new(stamps), second.api.clone(), fence));
    until("whoever has the lease writes", || async {
        found(&http, &subject).await.unwrap()["data"]["stamp"] == "second"
    })
    .await;
}

/// Leases are renewed all the time and are no objects: whoever waits for all that was written waits for no event of them.
#[tokio::test]
async fn a_lease_that_was_taken_keeps_discovery_from_nobody() {
    let server = Server::embedded().await;
    discovery_goes_on(&server).await;
    if let Some(pair) = Pair::on_etcd().await {
        discovery_goes_on(&pair.servers[0]).await;
    }
}

async fn discovery_goes_on(server: &Server) {
    take(server, "somebody").await;
    let found = tokio::time::timeout(PATIENCE, server.client().get("/api/v1")).await;
    assert_eq!(found.expect("discovery waits for what never comes").unwrap().code, 200);
}

/// Takes the lease, once it is free.
async fn take(server: &Server, holder: &str) -> Fence {
    loop {
        match server.api.store().acquire(LEASE, holder, SHORT).await.unwrap() {
            Acquired::Taken(fence) => return fence,
            Acquired::HeldBy { for_at_most, .. } => tokio::time::sleep(for_at_most).await,
        }
    }
}

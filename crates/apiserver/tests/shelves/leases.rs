//! One server at a time runs a controller: whoever has lost the lease writes nothing, however late it notices.

use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next, run};
use krm::Object;
use krm::status::Status;
use serde_json::json;
use store::{Acquired, Entry, Fence, Key};
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
    gate: Arc<Semaphore>,
    refused: Arc<Semaphore>,
}

impl Controller for Stamps {
    const NAME: &'static str = "stamps";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        if after.is_some() && key.as_bytes().ends_with(b"/subject") {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, client: &Client, _: &Key) -> Result<Next, Status> {
        let mut wanted = Object::new("v1", "ConfigMap");
        wanted.set_meta("namespace", Some("default".into()));
        wanted.set_meta("name", Some("subject".into()));
        let Some(mut subject) = client.get_like(&wanted).await else { return Ok(Next::Done) };
        self.gate.acquire().await.unwrap().forget();
        subject.set("data", Some(json!({"stamp": self.name})));
        let written = client.update(subject).await;
        if written.is_err() {
            self.refused.add_permits(1);
        }
        written.map(|_| Next::Done)
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
    let gates = [Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0))];
    let refused = Arc::new(Semaphore::new(0));

    // The first has the lease and is about to write, but sleeps until somebody else has taken over.
    let fence = take(first, "first").await;
    let stamps = Stamps { name: "first", gate: gates[0].clone(), refused: refused.clone() };
    tokio::spawn(run(Arc::new(stamps), Client::system(&first.api, "stamps").fenced(fence)));
    let fence = take(second, "second").await;
    let renewing = second.api.clone();
    let held = fence.clone();
    tokio::spawn(async move {
        while renewing.store().renew(&held).await.is_ok_and(|held| held) {
            tokio::time::sleep(SHORT / 4).await;
        }
    });
    gates[0].add_permits(1);
    let late = tokio::time::timeout(PATIENCE, refused.acquire()).await;
    late.expect("the late one's write is refused").unwrap().forget();
    assert_eq!(found(&http, &subject).await.unwrap().get("data"), None);

    let stamps = Stamps { name: "second", gate: gates[1].clone(), refused: Arc::new(Semaphore::new(0)) };
    gates[1].add_permits(1000);
    tokio::spawn(run(Arc::new(stamps), Client::system(&second.api, "stamps").fenced(fence)));
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

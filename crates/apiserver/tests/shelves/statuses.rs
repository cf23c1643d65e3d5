//! A controller that asked for changes of statuses misses none, whatever it finds the objects by: in the server and beside it.

use std::sync::Arc;

use apiserver::controllers::host;
use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use remote::{Catalog, Host, Informers};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::kinds::GROUP;
use super::lamps::{Lamp, OVER_SHELF};
use super::objects::{CONFIG_MAPS, SHELVES, config_map, found, make, shelf};
use super::server::{Server, until};
use super::three_hosts::remote_client;

const LAMPS: &str = "/apis/example.groundplane.dev/v1beta1/lamps";

/// Writes into a ConfigMap for how long the lamps over a shelf were on, which their statuses say.
struct Hours;

impl Reconciler for Hours {
    fn name(&self) -> &'static str {
        "hours"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn reads(&self) -> Scope {
        Scope::resource(GROUP, "lamps", Planes::Root)
    }

    fn depends_on(&self) -> DependsOn {
        DependsOn::Everything
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["update"])]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if object.name() == "hours" {
            let hours = |lamp: &Arc<Object>| lamp.at("status.hours").and_then(Value::as_u64).unwrap_or(0);
            let all: u64 = context.here().bucket(OVER_SHELF, "s").iter().map(hours).sum();
            let mut new = Object::clone(object);
            new.set("data", Some(json!({"hours": all.to_string()})));
            plan.change(&target.plane, object, new);
        }
        plan
    }
}

async fn is_followed(server: &Server) {
    let client = server.client();
    make(&client, SHELVES, &shelf("s", 100)).await;
    let lamp = json!({"apiVersion": "example.groundplane.dev/v1beta1", "kind": "Lamp", "metadata": {"name": "l"},
        "spec": {"shelfRef": {"name": "s"}, "light": {"percent": 5}}});
    make(&client, LAMPS, &lamp).await;
    make(&client, CONFIG_MAPS, &config_map("hours", &[])).await;
    for (hours, text) in [(0, "0"), (3, "3"), (8, "8")] {
        if hours > 0 {
            let status = json!({"status": {"hours": hours}});
            assert_eq!(client.merge(&format!("{LAMPS}/l/status"), &status).await.unwrap().code, 200);
        }
        until("the hours are written down", || async {
            let map = found(&client, &format!("{CONFIG_MAPS}/hours")).await.unwrap();
            map["data"]["hours"] == text
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_a_plan_has_read_through_a_bucket_queues_it_in_the_server() {
    let server = Server::embedded().await;
    tokio::spawn(host::run(Arc::new(Hours), server.api.clone(), Some("here".to_owned())));
    is_followed(&server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_a_plan_has_read_through_a_bucket_queues_it_beside_the_server() {
    let server = Server::embedded().await;
    let stop = CancellationToken::new();
    let catalog = Arc::new(Catalog::new(vec![Lamp::kind()]));
    let informers = Informers::new(remote_client(&server.kubeconfig).await, catalog, stop.clone());
    let host = Host::new(&informers, Arc::new(Hours), "beside").unwrap();
    let _ended = stop.clone().drop_guard();
    tokio::spawn(async move { host.run(&stop).await });
    is_followed(&server).await;
}

//! Time limits per state, on a server: an object that stays in a state for too long says so, and so do events, metrics and
//! the list of controllers.

use std::sync::Arc;
use std::time::Duration;

use apiserver::controllers::host;
use krm::Object;
use krm::kind::Planes;
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};
use testbed::server::Client;

use super::kinds::GROUP;
use super::objects::{SHELVES, found, make, shelf};
use super::server::{Server, until};

const LAMPS: &str = "/apis/example.groundplane.dev/v1beta1/lamps";
const LIMIT: Duration = Duration::from_secs(1);

/// Waits for lamps to get warm, which takes none of those that give light more than a second.
struct Warming;

impl Reconciler for Warming {
    fn name(&self) -> &'static str {
        "warming"
    }

    fn scope(&self) -> Scope {
        Scope::resource(GROUP, "lamps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(GROUP, &["lamps/status"], &["update"])]
    }

    fn plan(&self, _: &Target, lamp: &Arc<Object>, _: &Context<'_>) -> Plan {
        let is_on = lamp.at("spec.light.percent").and_then(Value::as_u64) != Some(0);
        let since = Moment::parse(lamp.meta_text("creationTimestamp"));
        match since.ok().filter(|_| is_on) {
            Some(since) => Plan::nothing().in_state("Warming", since, LIMIT),
            None => Plan::nothing(),
        }
    }
}

fn progressing(lamp: &Value) -> Value {
    let conditions = lamp["status"]["conditions"].as_array().into_iter().flatten();
    let mut own = conditions.filter(|condition| condition["type"] == "Progressing");
    own.next().cloned().unwrap_or_default()
}

async fn is_in_metrics(client: &Client, line: &str) -> bool {
    client.get("/metrics").await.unwrap().text().lines().any(|found| found == line)
}

#[tokio::test]
async fn an_object_that_stays_in_a_state_for_too_long_says_so_until_it_moves_on() {
    let server = Server::embedded().await;
    let client = server.client();
    tokio::spawn(host::run(Arc::new(Warming), server.api.clone(), Some("here".to_owned())));
    make(&client, SHELVES, &shelf("s", 100)).await;
    let lamp = |name: &str, percent: u32| {
        json!({"apiVersion": "example.groundplane.dev/v1beta1", "kind": "Lamp", "metadata": {"name": name},
            "spec": {"shelfRef": {"name": "s"}, "light": {"percent": percent}}})
    };
    make(&client, LAMPS, &lamp("off", 0)).await;
    make(&client, LAMPS, &lamp("cold", 50)).await;
    let cold = format!("{LAMPS}/cold");
    // Nothing touches the lamp meanwhile: it is planned again because the limit has passed.
    until("the lamp says that it takes too long", || async {
        progressing(&found(&client, &cold).await.unwrap())["reason"] == "DeadlineExceeded"
    })
    .await;
    let told = progressing(&found(&client, &cold).await.unwrap());
    assert_eq!(told["status"], "False");
    assert_eq!(told["message"], "the object is in the state Warming for longer than 1s");
    assert_eq!(progressing(&found(&client, &format!("{LAMPS}/off")).await.unwrap()), Value::Null);
    until("an Event tells of it", || async {
        let events = client.get("/api/v1/namespaces/default/events").await.unwrap().json();
        events["items"].as_array().unwrap().iter().any(|event| {
            event["reason"] == "DeadlineExceeded"
                && event["type"] == "Warning"
                && event["involvedObject"]["name"] == "cold"
        })
    })
    .await;
    assert!(is_in_metrics(&client, "controller_overdue{name=\"warming\"} 1").await);
    let list = client.get("/apis/groundplane.dev/v1alpha1/controllers").await.unwrap().json();
    let own = list["items"].as_array().unwrap().iter().find(|item| item["metadata"]["name"] == "warming");
    let waiting = &own.unwrap()["status"]["waiting"];
    assert_eq!((&waiting[0]["name"], waiting[0]["waitingFor"] == told["message"]), (&json!("cold"), true));

    let out = json!({"spec": {"light": {"percent": 0}}});
    assert_eq!(client.merge(&cold, &out).await.unwrap().code, 200);
    until("the lamp moves on", || async {
        progressing(&found(&client, &cold).await.unwrap())["status"] == "True"
    })
    .await;
    until("nothing is overdue", || is_in_metrics(&client, "controller_overdue{name=\"warming\"} 0")).await;
}

//! External actions: recorded before they are begun, looked up after a restart, never done twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::controllers::host;
use krm::Object;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use super::objects::{CONFIG_MAPS, config_map, found, make};
use super::server::{Server, until};

/// Machines outside: how often each operation was begun, and whether the begun ones answer.
#[derive(Default)]
struct Outside {
    begun: BTreeMap<String, u32>,
    is_cut_off: bool,
    looked_up: u32,
}

/// Powers on every ConfigMap, which takes a while, and notes the result in its data.
struct Power(Arc<Mutex<Outside>>);

impl Reconciler for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["update"])]
    }

    fn settings(&self) -> Settings {
        Settings { deadline: Duration::from_millis(300), ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if object.at("data.power").is_some() {
            return plan;
        }
        match context.result("power-on") {
            Some(result) => {
                let mut new = Object::clone(object);
                new.set("data", Some(json!({"power": result})));
                plan.change(&target.plane, object, new);
            }
            None => plan.actions.push(Action {
                name: "power-on".to_owned(),
                parameters: Value::Null,
                is_external: true,
            }),
        }
        plan
    }

    fn execute<'a>(&'a self, _: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let is_cut_off = {
                let mut outside = self.0.lock().unwrap();
                if execution.was_begun && outside.begun.contains_key(&execution.operation) {
                    outside.looked_up += 1;
                } else {
                    *outside.begun.entry(execution.operation.clone()).or_default() += 1;
                }
                outside.is_cut_off
            };
            if is_cut_off {
                // It was begun, and the answer never comes.
                std::future::pending::<()>().await;
            }
            match &execution.handle {
                None => Outcome::Pending(json!({"job": 7}), Duration::from_millis(10)),
                Some(handle) => Outcome::Done(format!("on by job {}", handle["job"]).into()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_external_action_is_begun_once_whatever_happens_to_who_begins_it() {
    let server = Server::embedded().await;
    let outside = Arc::new(Mutex::new(Outside { is_cut_off: true, ..Outside::default() }));
    let http = server.client();
    make(&http, CONFIG_MAPS, &config_map("machine", &[])).await;
    tokio::spawn(host::run(Arc::new(Power(outside.clone())), server.api.clone(), Some("first".to_owned())));
    until("it was begun, timed out and was looked up", || async { outside.lock().unwrap().looked_up > 0 })
        .await;
    outside.lock().unwrap().is_cut_off = false;
    let path = format!("{CONFIG_MAPS}/machine");
    until("the outcome is on the object", || async {
        found(&http, &path).await.unwrap()["data"]["power"] == "on by job 7"
    })
    .await;
    let begun = outside.lock().unwrap().begun.clone();
    assert_eq!(begun.values().collect::<Vec<_>>(), [&1], "{begun:?}");
    until("the record is gone", || async {
        let snapshot = server.api.store().current().await.unwrap();
        snapshot.list(b"/internal.groundplane.dev/").count() == 0
    })
    .await;
}

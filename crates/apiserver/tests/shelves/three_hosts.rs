//! One reconciler on its three hosts: in the server, beside it over HTTPS, and in a simulation. All come to the same end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ::client::{Access, Client as Remote, Overrides};
use apiserver::controllers::host;
use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Action, Event, Plan, Write};
use reconcile::reconciler::{Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use remote::{Catalog, Host, Informers};
use serde_json::{Value, json};
use simulation::{Reconcilers, Servers, Simulation, User};
use testbed::server::Client;
use tokio_util::sync::CancellationToken;

use super::objects::{CONFIG_MAPS, found, make};
use super::server::{Server, until};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const ITEMS: usize = 6;

/// Prints each item, a ConfigMap with the label `print`, from the template that it names: it waits for the template, has a
/// press outside print it once, keeps the printed copy as an object that the item owns, and notes on the item what it printed.
struct Printer {
    /// How often the press was asked to print.
    printed: Arc<AtomicU32>,
}

fn at(name: &str) -> Address {
    let [group, plural, namespace, name] = ["", "configmaps", "default", name].map(str::to_owned);
    Address { group, plural, namespace, name }
}

fn text<'a>(map: &'a Object, key: &str) -> &'a str {
    map.at(&format!("data.{key}")).and_then(Value::as_str).unwrap_or_default()
}

fn map(name: &str, labels: Value, data: Value) -> Object {
    Object::from_value(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": labels}, "data": data}))
    .unwrap()
}

impl Reconciler for Printer {
    fn name(&self) -> &'static str {
        "printer"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["create", "update", "patch"])]
    }

    fn plan(&self, target: &Target, item: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if item.label("print") != Some("yes") {
            return plan;
        }
        let here = context.here();
        let Some(template) = here.get(&at(text(item, "template"))) else {
            return plan.waiting_for("its template");
        };
        let wanted = format!("{} {}", text(&template, "greeting"), item.name());
        let copy = format!("{}-copy", item.name());
        if context.result("print").is_none() && text(item, "printed").is_empty() {
            plan.actions.push(Action { name: "print".into(), parameters: Value::Null, is_external: true });
            return plan;
        }
        match here.get(&at(&copy)) {
            Some(old) if text(&old, "text") == wanted => {}
            Some(old) => {
                let mut new = Object::clone(&old);
                new.set("data", Some(json!({"text": wanted})));
                plan.change(&target.plane, &old, new);
            }
            None => {
                let mut new = map(&copy, json!({"copy": "yes"}), json!({"text": wanted}));
                let owner =
                    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": item.name(), "uid": item.uid()});
                new.set_meta("ownerReferences", Some(json!([owner])));
                plan.write(Write::Create(target.plane.clone(), new));
            }
        }
        if text(item, "printed") != wanted {
            let mut new = Object::clone(item);
            let mut data = item.get("data").cloned().unwrap_or_default();
            data["printed"] = wanted.clone().into();
            // How many copies carry the label, this one left out: only that there is one is the same in every order.
            data["others"] = (here.labelled("", "configmaps", "copy", "no").len().to_string()).into();
            new.set("data", Some(data));
            plan.change(&target.plane, item, new);
            let annotations = BTreeMap::new();
            let event = Event { is_warning: false, reason: "Printed".into(), note: wanted, annotations };
            plan.write(Write::Event(target.clone(), event));
        }
        plan
    }

    fn execute<'a>(&'a self, _: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            if !execution.was_begun {
                self.printed.fetch_add(1, Ordering::SeqCst);
            }
            Outcome::Done(json!("paper"))
        })
    }
}

/// Items before and after their template, and a template that changes.
fn items() -> Vec<Object> {
    (0..ITEMS)
        .map(|item| map(&format!("item-{item}"), json!({"print": "yes"}), json!({"template": "t"})))
        .collect()
}

fn template(greeting: &str) -> Object {
    map("t", json!({"kind": "template"}), json!({"greeting": greeting}))
}

/// What has to be the same on every host: data, labels and owners of all maps, and how often what was told.
fn end(maps: &[Value], events: &[Value], printed: u32) -> Value {
    let maps: BTreeMap<String, Value> = maps
        .iter()
        .filter(|map| map["metadata"]["name"] != "kube-root-ca.crt")
        .map(|map| {
            let owners = map["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
            let owners: Vec<Value> = owners.iter().map(|owner| owner["name"].clone()).collect();
            let shown = json!({"data": map["data"], "labels": map["metadata"]["labels"], "owners": owners});
            (map["metadata"]["name"].as_str().unwrap().to_owned(), shown)
        })
        .collect();
    let events: BTreeMap<String, Value> = events
        .iter()
        .map(|event| {
            let about = event["involvedObject"]["name"].as_str().unwrap().to_owned();
            (about, json!([event["reason"], event["message"], event["series"]["count"]]))
        })
        .collect();
    json!({"maps": maps, "events": events, "printed": printed})
}

fn is_finished(maps: &[Value], greeting: &str) -> bool {
    let is_printed = |number: usize| {
        let text = format!("{greeting} item-{number}");
        let has = |name: String, key: &str| {
            maps.iter().any(|map| map["metadata"]["name"] == *name && map["data"][key] == *text)
        };
        has(format!("item-{number}"), "printed") && has(format!("item-{number}-copy"), "text")
    };
    (0..ITEMS).all(is_printed)
}

async fn list(client: &Client, path: &str) -> Vec<Value> {
    client.get(path).await.unwrap().json()["items"].as_array().unwrap().clone()
}

/// The body of the test on a real server, however the reconciler runs.
async fn on_server(client: &Client, printed: &AtomicU32) -> Value {
    let json = |object: Object| Value::Object(object.0);
    let all = items();
    let (first, second) = all.split_at(ITEMS / 2);
    for item in first {
        make(client, CONFIG_MAPS, &json(item.clone())).await;
    }
    make(client, CONFIG_MAPS, &json(template("hello"))).await;
    for item in second {
        make(client, CONFIG_MAPS, &json(item.clone())).await;
    }
    let comes_to = async |greeting: &str| {
        until("all is printed", || async { is_finished(&list(client, CONFIG_MAPS).await, greeting) }).await;
    };
    comes_to("hello").await;
    let mut changed = found(client, &format!("{CONFIG_MAPS}/t")).await.unwrap();
    changed["data"]["greeting"] = "good day".into();
    assert_eq!(client.put(&format!("{CONFIG_MAPS}/t"), &changed).await.unwrap().code, 200);
    comes_to("good day").await;
    end(&list(client, CONFIG_MAPS).await, &list(client, EVENTS).await, printed.load(Ordering::SeqCst))
}

async fn in_the_server() -> Value {
    let server = Server::embedded().await;
    let printed = Arc::new(AtomicU32::new(0));
    let reconciler = Arc::new(Printer { printed: printed.clone() });
    tokio::spawn(host::run(reconciler, server.api.clone(), Some("server".to_owned())));
    on_server(&server.client(), &printed).await
}

/// A client of the public API, with the administrator's rights.
pub async fn remote_client(kubeconfig: &Path) -> Remote {
    let overrides = Overrides { kubeconfig: Some(kubeconfig.to_owned()), ..Overrides::default() };
    Remote::new(Access::load(&overrides).await.unwrap()).unwrap()
}

async fn beside_the_server() -> Value {
    let server = Server::embedded().await;
    let (printed, stop) = (Arc::new(AtomicU32::new(0)), CancellationToken::new());
    let client = remote_client(&server.kubeconfig).await;
    let informers = Informers::new(client, Arc::new(Catalog::new(Vec::new())), stop.clone());
    let reconciler = Arc::new(Printer { printed: printed.clone() });
    let host = Host::new(&informers, reconciler, "beside").unwrap();
    let running = tokio::spawn({
        let (host, stop) = (host.clone(), stop.clone());
        async move { host.run(&stop).await }
    });
    let end = on_server(&server.client(), &printed).await;
    until("every object is settled", || async { host.progress().failing.is_empty() }).await;
    let commits = host.progress().sample.writes.commits;
    assert!(commits <= 6 * ITEMS as u64, "{commits} commits for {ITEMS} items");
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), running).await.unwrap().unwrap();
    // The lease is given back: it is the one that a server would take.
    let taken = server.api.store().acquire("controller/printer", "server", Duration::from_secs(1)).await;
    assert!(matches!(taken, Ok(store::Acquired::Taken(_))), "{taken:?}");
    end
}

fn in_a_simulation() -> Value {
    let printed = Arc::new(AtomicU32::new(0));
    let counted = printed.clone();
    let reconcilers = Reconcilers::new(move |_| vec![Arc::new(Printer { printed: counted.clone() })]);
    let scenario = async |_: &Simulation, servers: &Servers| {
        let user = servers.user();
        let space = Object::from_value(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}),
        );
        user.create(&space.unwrap()).await?;
        for object in items().into_iter().take(ITEMS / 2).chain([template("hello")]) {
            user.create(&object).await?;
        }
        for object in items().into_iter().skip(ITEMS / 2) {
            user.create(&object).await?;
        }
        servers.idle().await;
        let change = |map: &mut Object| map.set("data", Some(json!({"greeting": "good day"})));
        user.change(&Target::new("", at("t")), change).await
    };
    let found = std::sync::Mutex::new(Value::Null);
    let invariant = async |_: &Simulation, user: &User| {
        let of = |plural: &str| -> Vec<Value> {
            user.list("", "", plural).iter().map(|object| Value::Object(object.0.clone())).collect()
        };
        *found.lock().unwrap() = end(&of("configmaps"), &of("events"), printed.load(Ordering::SeqCst));
        Ok(())
    };
    let simulation = Simulation::seeded(1);
    reconcilers.run(&simulation, scenario, invariant).unwrap_or_else(|failure| panic!("{failure}"));
    found.into_inner().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_reconciler_comes_to_the_same_end_on_its_three_hosts() {
    let simulated = std::thread::spawn(in_a_simulation);
    let inside = in_the_server().await;
    let beside = beside_the_server().await;
    let simulated = simulated.join().unwrap();
    assert_eq!(inside["printed"], ITEMS, "each was printed once");
    assert_eq!(inside["events"]["item-0"], json!(["Printed", "good day item-0", 2]));
    assert_eq!(inside, beside, "in the server and beside it");
    assert_eq!(inside, simulated, "in the server and in the simulation");
}

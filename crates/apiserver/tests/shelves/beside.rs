//! A reconciler beside the server under trouble: others change what it has planned on, and it lacks rights.

use std::sync::Arc;
use std::time::Duration;

use ::client::ControllerLease;
use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::lease::{Acquired, Keeper};
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use remote::role::{self, Principal};
use remote::{Catalog, Host, Informers};
use serde_json::{Value, json};
use testbed::server::Client;
use tokio_util::sync::CancellationToken;

use super::objects::{CONFIG_MAPS, found, make};
use super::server::{Server, until};
use super::three_hosts::remote_client;

const ITEMS: u64 = 12;
const INCREMENTS: u64 = 40;

/// Counts each item once, in one object.
struct Counting;

fn at(name: &str) -> Address {
    let [group, plural, namespace, name] = ["", "configmaps", "default", name].map(str::to_owned);
    Address { group, plural, namespace, name }
}

fn number(map: &Object) -> u64 {
    map.at("data.count").and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(0)
}

impl Reconciler for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["update"])]
    }

    fn plan(&self, target: &Target, item: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if item.label("item") != Some("yes") || item.at("data.counted").is_some() {
            return plan;
        }
        let Some(counter) = context.here().get(&at("counter")) else {
            return plan.waiting_for("the counter");
        };
        let (mut counted, mut more) = (Object::clone(item), Object::clone(&counter));
        counted.set("data", Some(json!({"counted": "yes"})));
        more.set("data", Some(json!({"count": (number(&counter) + 1).to_string()})));
        plan.change(&target.plane, item, counted);
        plan.change(&target.plane, &counter, more);
        plan
    }
}

fn map(name: &str, labels: Value, data: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}, "data": data})
}

/// Adds one, at the version that was read, until it has landed.
async fn increment(client: &Client) {
    let path = format!("{CONFIG_MAPS}/counter");
    loop {
        let mut counter = found(client, &path).await.unwrap();
        let count: u64 = counter["data"]["count"].as_str().unwrap().parse().unwrap();
        counter["data"]["count"] = (count + 1).to_string().into();
        if client.put(&path, &counter).await.unwrap().code == 200 {
            return;
        }
    }
}

fn start(informers: &Informers, stop: &CancellationToken) -> Host {
    let host = Host::new(informers, Arc::new(Counting), "beside").unwrap();
    let (running, stop) = (host.clone(), stop.clone());
    tokio::spawn(async move { running.run(&stop).await });
    host
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost_when_a_cache_is_behind() {
    let server = Server::embedded().await;
    let (client, stop) = (server.client(), CancellationToken::new());
    make(&client, CONFIG_MAPS, &map("counter", json!({}), json!({"count": "0"}))).await;
    let remote = remote_client(&server.kubeconfig).await;
    let informers = Informers::new(remote, Arc::new(Catalog::new(Vec::new())), stop.clone());
    let host = start(&informers, &stop);
    // While items come, somebody else keeps changing the counter that their plans have read.
    let others = async {
        for _ in 0..INCREMENTS {
            increment(&client).await;
        }
    };
    let items = async {
        let client = server.client();
        for item in 0..ITEMS {
            make(&client, CONFIG_MAPS, &map(&format!("item-{item}"), json!({"item": "yes"}), json!({})))
                .await;
        }
    };
    tokio::join!(others, items);
    let path = format!("{CONFIG_MAPS}?labelSelector=item=yes");
    until("every item is counted", || async {
        let list = client.get(&path).await.unwrap().json();
        list["items"].as_array().unwrap().iter().all(|item| item["data"]["counted"] == "yes")
    })
    .await;
    let counter = found(&client, &format!("{CONFIG_MAPS}/counter")).await.unwrap();
    assert_eq!(counter["data"]["count"], (ITEMS + INCREMENTS).to_string());
    let progress = host.progress();
    assert_eq!(progress.sample.writes.commits, ITEMS, "one commit for each item, and none twice");
    stop.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_works_with_exactly_the_role_that_is_derived_and_says_what_it_lacks() {
    let server = Server::embedded().await;
    let (client, stop) = (server.client(), CancellationToken::new());
    make(&client, "/api/v1/namespaces", &json!({"metadata": {"name": "kube-system"}})).await;
    make(&client, CONFIG_MAPS, &map("counter", json!({}), json!({"count": "0"}))).await;
    make(&client, CONFIG_MAPS, &map("item", json!({"item": "yes"}), json!({}))).await;
    let mut access = remote_client_access(&server).await;
    access.acts_as.0 = Some("counter".to_owned());
    let remote = ::client::Client::new(access).unwrap();
    let catalog = Arc::new(Catalog::new(Vec::new()));
    let informers = Informers::new(remote, catalog.clone(), stop.clone());
    let host = Host::new(&informers, Arc::new(Counting), "beside").unwrap();
    let (running, stopped) = (host.clone(), stop.clone());
    tokio::spawn(async move { running.run(&stopped).await });
    until("it says what it may not read", || async {
        let problems = informers.problems();
        problems.iter().any(|problem| problem.contains("configmaps") && problem.contains("counter"))
    })
    .await;
    assert!(!host.progress().sample.is_active);

    // Discovery, as every authenticated user may.
    let mut objects = role::manifest(&Counting, &catalog, &Principal::User("counter".to_owned()), &[]);
    objects.iter().for_each(|object| assert!(!object.to_string().contains('*'), "{object}"));
    let everybody = json!([{"nonResourceURLs": ["/api", "/apis"], "verbs": ["get"]},
        {"apiGroups": ["groundplane.dev"], "resources": ["transactions"], "verbs": ["create"]}]);
    objects.push(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "everybody"}, "rules": everybody}));
    objects.push(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "everybody"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "everybody"},
        "subjects": [{"kind": "User", "name": "counter", "apiGroup": "rbac.authorization.k8s.io"}]}));
    for object in &objects {
        let api_version = object["apiVersion"].as_str().unwrap();
        let root = if api_version.contains('/') { "/apis" } else { "/api" };
        let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
        let path = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{api_version}/{plural}"),
        };
        make(&client, &path, object).await;
    }
    until("the item is counted", || async {
        found(&client, &format!("{CONFIG_MAPS}/item")).await.unwrap()["data"]["counted"] == "yes"
    })
    .await;
    let list = client.get("/apis/groundplane.dev/v1alpha1/controllers").await.unwrap().json();
    let shown = list["items"].as_array().unwrap().iter().find(|item| item["metadata"]["name"] == "counting");
    assert_eq!(shown.unwrap()["status"]["remote"]["holder"], "beside", "{list}");
    stop.cancel();
}

/// One controller, a server that runs it and a process beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_and_a_process_beside_it_never_run_one_controller_at_once() {
    let server = Server::embedded().await;
    let (client, stop) = (server.client(), CancellationToken::new());
    make(&client, CONFIG_MAPS, &map("counter", json!({}), json!({"count": "0"}))).await;
    let remote = remote_client(&server.kubeconfig).await;
    // Somebody held it before all others, and does not know yet that he no longer does.
    let lease = ControllerLease::new(&remote, "counting", "former");
    let taken = lease.acquire(Duration::from_secs(5)).await.unwrap();
    let Acquired::Taken(former) = taken else { panic!("{taken:?}") };
    lease.release(&former).await;
    let informers = Informers::new(remote.clone(), Arc::new(Catalog::new(Vec::new())), stop.clone());
    let host = start(&informers, &stop);
    let counted = async |item: &str| {
        make(&client, CONFIG_MAPS, &map(item, json!({"item": "yes"}), json!({}))).await;
        let path = format!("{CONFIG_MAPS}/{item}");
        until("the item is counted", || async {
            found(&client, &path).await.unwrap()["data"]["counted"] == "yes"
        })
        .await;
    };
    let inside = || {
        let states = server.api.controllers().states();
        states.into_iter().find(|state| state.name == "counting").unwrap()
    };
    counted("first").await;
    assert!(host.progress().sample.is_active);
    tokio::spawn(apiserver::controllers::host::run(
        Arc::new(Counting),
        server.api.clone(),
        Some("server".to_owned()),
    ));
    counted("second").await;
    assert!(!inside().is_active, "the process beside the server has the lease");
    stop.cancel();
    until("the server takes over", || async { inside().is_active }).await;
    counted("third").await;
    let counter = found(&client, &format!("{CONFIG_MAPS}/counter")).await.unwrap();
    assert_eq!(counter["data"]["count"], "3", "each was counted once");
    assert!(inside().is_active && !host.progress().sample.is_active);
    let maps = remote.fenced(&former).resource("v1", "configmaps").in_namespace("default");
    let mut late = Object::new("v1", "ConfigMap");
    late.set_meta("name", Some("late".into()));
    let refused = maps.create(&late).await.unwrap_err();
    assert!(refused.is_fenced_off(), "{refused}");
}

async fn remote_client_access(server: &Server) -> ::client::Access {
    let overrides =
        ::client::Overrides { kubeconfig: Some(server.kubeconfig.clone()), ..::client::Overrides::default() };
    ::client::Access::load(&overrides).await.unwrap()
}

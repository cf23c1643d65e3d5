//! A controller that panics, one that hangs and one that floods its queue leave the others, the API and the leases alone,
//! and each can be seen.

use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::elected::run_elected;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use krm::Object;
use krm::status::Status;
use reconcile::workers::Settings;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::objects::{CONFIG_MAPS, config_map, found, make};
use super::server::{Server, until};

const CONTROLLERS: &str = "/apis/groundplane.dev/v1alpha1/controllers";

fn is_map(key: &Key, after: Option<&Entry>) -> bool {
    after.is_some() && key.as_bytes().starts_with(b"//configmaps/default/")
}

struct Panics;

impl Controller for Panics {
    const NAME: &'static str = "panics";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        if is_map(key, after) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, _: &Client, _: &Key) -> Result<Next, Status> {
        panic!("a planted bug");
    }
}

struct Hangs;

impl Controller for Hangs {
    const NAME: &'static str = "hangs";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        if is_map(key, after) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, _: &Client, _: &Key) -> Result<Next, Status> {
        std::future::pending().await
    }

    fn settings(&self) -> Settings {
        Settings { deadline: Duration::from_millis(200), ..Settings::new(Self::NAME) }
    }
}

struct Floods;

impl Controller for Floods {
    const NAME: &'static str = "floods";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        if is_map(key, after) {
            for number in 0..100_000 {
                if let Ok(key) = Key::new(format!("//configmaps/flood/{number}")) {
                    queue.add(key);
                }
            }
        }
    }

    async fn reconcile(&self, _: &Client, _: &Key) -> Result<Next, Status> {
        Ok(Next::After(Duration::from_millis(1)))
    }
}

/// Writes a stamp into every ConfigMap.
struct Stamps;

impl Controller for Stamps {
    const NAME: &'static str = "well-behaved";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, after: Option<&Entry>, queue: &Queue<Key>) {
        if is_map(key, after) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let name = String::from_utf8_lossy(key.as_bytes()).rsplit('/').next().unwrap_or_default().to_owned();
        let mut wanted = Object::new("v1", "ConfigMap");
        wanted.set_meta("namespace", Some("default".into()));
        wanted.set_meta("name", Some(name.into()));
        wanted.set("data", Some(json!({"stamp": "yes"})));
        client.apply(wanted).await.map(|_| Next::Done)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controllers_that_misbehave_leave_the_others_alone_and_can_be_seen() {
    let server = Server::embedded().await;
    let client = |name: &str| Client::system(&server.api, name);
    tokio::spawn(run_elected(Arc::new(Panics), client("panics"), "here".to_owned()));
    tokio::spawn(run_elected(Arc::new(Hangs), client("hangs"), "here".to_owned()));
    tokio::spawn(run_elected(Arc::new(Floods), client("floods"), "here".to_owned()));
    tokio::spawn(run_elected(Arc::new(Stamps), client("well-behaved"), "here".to_owned()));
    let http = server.client();
    for number in 0..20 {
        let name = format!("map-{number}");
        make(&http, CONFIG_MAPS, &config_map(&name, &[])).await;
        let path = format!("{CONFIG_MAPS}/{name}");
        until("the well-behaved one works", || async {
            found(&http, &path).await.unwrap()["data"]["stamp"] == "yes"
        })
        .await;
    }
    until("each can be seen", || async {
        let list = http.get(CONTROLLERS).await.unwrap().json();
        let of = |name: &str, path: &str| -> Value {
            let items = list["items"].as_array().unwrap().iter();
            let item = items.clone().find(|item| item["metadata"]["name"] == name);
            item.and_then(|item| item.pointer(path)).cloned().unwrap_or_default()
        };
        let count = |name: &str, path: &str| of(name, path).as_u64().unwrap_or_default();
        let error = |name: &str| of(name, "/status/failing/0/error").as_str().unwrap_or_default().to_owned();
        count("panics", "/status/attempts/panicked") > 0
            && error("panics").contains("a planted bug")
            && of("panics", "/status/failing/0/resource") == "configmaps"
            && count("hangs", "/status/attempts/timedOut") > 0
            && error("hangs").contains("took longer than")
            && count("floods", "/status/queue/ready") + count("floods", "/status/queue/delayed") > 1_000
            && count("well-behaved", "/status/attempts/succeeded") >= 20
            && of("well-behaved", "/status/failing") == json!([])
    })
    .await;
    let metrics = http.get("/metrics").await.unwrap().text();
    for line in [
        "controller_active{name=\"panics\"} 1",
        "controller_runtime_reconcile_total{controller=\"hangs\",result=\"timeout\"}",
        "workqueue_depth{name=\"floods\"}",
        "workqueue_work_duration_seconds_bucket{name=\"well-behaved\",le=\"+Inf\"}",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(metrics.ends_with("# EOF\n"));

    // Whoever stops gives the leases back: another holder need not wait for their end.
    tokio::time::timeout(Duration::from_secs(5), server.api.controllers().stop()).await.unwrap();
    let lasts = Duration::from_secs(1);
    let taken = server.api.store().acquire("controller/hangs", "elsewhere", lasts).await.unwrap();
    assert!(matches!(taken, store::Acquired::Taken(_)), "{taken:?}");
}

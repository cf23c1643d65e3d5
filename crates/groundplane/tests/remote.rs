//! Controllers beside the server: the real binary in processes of its own, over HTTPS.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "client/relay.rs"]
mod relay;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Access, Client, Collection, ControllerLease, ListOptions, Overrides, Patch, Request};
use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::lease::{Acquired, Keeper};
use reconcile::module::Module;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use remote::{Catalog, Host, Informers};
use serde_json::{Value, json};
use tempfile::TempDir;
use testbed::server::Server;
use tokio_util::sync::CancellationToken;

use relay::Relay;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const CONTROLLER: &str = "inventory-controller";
const WITHOUT: &str = "--controllers=all,-inventory-controller";
/// Far more than anything needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process that runs the inventory controller.
struct Beside {
    child: Child,
    log: PathBuf,
}

impl Beside {
    /// Under the derived role of a service account, at an address of the server.
    fn start(server: &Server, at: &str, folder: &Path, identity: &str, more: &[&str]) -> Beside {
        let token = groundplane(server, &["create", "token", CONTROLLER, "-n", "kube-system"]);
        let log = folder.join(format!("{identity}.log"));
        let kubeconfig = folder.join(format!("{identity}.kubeconfig"));
        let authority = server.data().join("ca.crt");
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters:\n- name: c\n  cluster:\n    server: https://{at}\n    certificate-authority: {}\n\
             users:\n- name: u\n  user: {{token: {}}}\n\
             contexts:\n- name: c\n  context: {{cluster: c, user: u}}\n",
            authority.display(),
            token.trim()
        );
        std::fs::write(&kubeconfig, config).unwrap();
        let child = Command::new(GROUNDPLANE)
            .args(["controllers", "run", CONTROLLER, "--identity", identity, "--kubeconfig"])
            .arg(kubeconfig)
            .args(more)
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Beside { child, log }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn ended(&mut self) {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the controllers said:\n{}", self.said());
        }
    }
}

/// Runs a command as the administrator.
fn groundplane(server: &Server, words: &[&str]) -> String {
    let output =
        Command::new(GROUNDPLANE).args(words).arg("--kubeconfig").arg(server.kubeconfig()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server that leaves the inventory to others, with the role for them.
fn server_without(folder: &Path, more: &[&str]) -> Server {
    let server = Server::fresh(GROUNDPLANE, &[&[WITHOUT], more].concat()).unwrap();
    let role = Command::new(GROUNDPLANE).args(["controllers", "role", CONTROLLER]).output().unwrap();
    let file = folder.join("role.yaml");
    std::fs::write(&file, role.stdout).unwrap();
    groundplane(&server, &["apply", "-f", file.to_str().unwrap()]);
    server
}

async fn client_of(server: &Server) -> Client {
    let kubeconfig = Some(server.kubeconfig().to_owned());
    Client::new(Access::load(&Overrides { kubeconfig, ..Overrides::default() }).await.unwrap()).unwrap()
}

/// All objects of the inventory, by kind and name.
async fn fleet(client: &Client) -> BTreeMap<String, Object> {
    let mut all = BTreeMap::new();
    for kind in inventory::Module.kinds() {
        let objects = client.resource(&kind.api_version(&kind.stored().name), &kind.names.plural);
        for object in objects.list(ListOptions::default()).all().await.unwrap() {
            all.insert(format!("{}.{}/{}", kind.names.plural, kind.group, object.name()), object);
        }
    }
    all
}

/// Labels and status of every object, without times.
async fn outcome(client: &Client) -> BTreeMap<String, Value> {
    let shown =
        |object: Object| json!({"labels": object.meta("labels"), "status": timeless(object.get("status"))});
    fleet(client).await.into_iter().map(|(name, object)| (name, shown(object))).collect()
}

fn timeless(value: Option<&Value>) -> Value {
    match value {
        Some(Value::Object(map)) => {
            let is_time = |key: &str| key.ends_with("Time") || key == "time";
            let fields = map.iter().filter(|(key, _)| !is_time(key));
            fields.map(|(key, value)| (key.clone(), timeless(Some(value)))).collect()
        }
        Some(Value::Array(list)) => list.iter().map(|value| timeless(Some(value))).collect(),
        other => other.cloned().unwrap_or_default(),
    }
}

/// What the controller has told, and how often.
async fn told(client: &Client) -> Vec<Value> {
    let events = client.resource("v1", "events").list(ListOptions::default()).all().await.unwrap();
    let of_controller = events.iter().filter(|event| {
        event.at("reportingComponent").is_some_and(|it| it == "inventory.miloapis.com/inventory-controller")
    });
    let mut told: Vec<Value> = of_controller
        .map(|event| {
            let part = |path: &str| event.at(path).cloned().unwrap_or_default();
            json!([
                part("involvedObject.kind"),
                part("involvedObject.name"),
                part("type"),
                part("reason"),
                part("message"),
                part("series.count")
            ])
        })
        .collect();
    told.sort_by_key(Value::to_string);
    told
}

async fn until<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found().await {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: it did not come to that");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn address(server: &Server) -> String {
    server.client().address().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_comes_to_the_same_statuses_beside_the_server_whatever_is_cut() {
    let folder = TempDir::with_prefix("groundplane-remote-").unwrap();
    let inside = Server::fresh(GROUNDPLANE, &["--demo"]).unwrap();
    let server = server_without(folder.path(), &["--demo"]);
    let relay = Relay::start(&address(&server)).await;
    let beside = Beside::start(&server, &relay.address, folder.path(), "a", &[]);
    let (own, other) = (client_of(&inside).await, client_of(&server).await);

    // Every connection is cut again and again, in the middle of lists, watches and commits, until most is done.
    let mut cuts = 0;
    until("most of it was written beside the server", async || {
        relay.cut();
        tokio::time::sleep(Duration::from_millis(30)).await;
        relay.mend(&address(&server));
        cuts += 1;
        tokio::time::sleep(Duration::from_millis(700)).await;
        let fleet = fleet(&other).await;
        (fleet.values().filter(|object| object.get("status").is_some()).count() * 2 > fleet.len())
            .then_some(())
    })
    .await;
    assert!(cuts > 0 && relay.connections() > cuts, "{cuts} cuts, {} connections", relay.connections());

    let expected = until("the server's own controller has finished", async || {
        let first = outcome(&own).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let second = outcome(&own).await;
        (first == second && second.values().any(|it| !it["status"].is_null())).then_some(second)
    })
    .await;
    let mut found = BTreeMap::new();
    let begun = Instant::now();
    while found != expected && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(100)).await;
        found = outcome(&other).await;
    }
    for (name, value) in &expected {
        assert_eq!(found.get(name), Some(value), "{name}\n{}", beside.said());
    }
    assert_eq!(found.len(), expected.len());
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(told(&own).await, told(&other).await, "everything is told once");
    assert!(!beside.said().contains("panicked"), "{}", beside.said());
}

/// Who runs the controller beside the server, as the list of controllers says.
async fn holder(client: &Client) -> String {
    let list = client.value(&Request::get("/apis/groundplane.dev/v1alpha1/controllers")).await.unwrap();
    let mut items = list["items"].as_array().unwrap().iter();
    let own = items.find(|item| item["metadata"]["name"] == CONTROLLER);
    let remote = own.map(|item| item["status"]["remote"].clone()).unwrap_or_default();
    remote["holder"].as_str().filter(|_| remote["active"] == true).unwrap_or_default().to_owned()
}

async fn held_by(client: &Client, name: &str) {
    until(&format!("{name} holds the lease"), async || (holder(client).await == name).then_some(())).await;
}

/// Makes a site and waits until the controller has looked at it.
async fn site_is_looked_after(client: &Client, name: &str) {
    let sites = client.resource("inventory.miloapis.com/v1alpha1", "sites");
    let template = sites.list(ListOptions::default()).all().await.unwrap().remove(0);
    let mut site = Object::new("inventory.miloapis.com/v1alpha1", "Site");
    site.set_meta("name", Some(name.into()));
    let mut spec = template.get("spec").cloned().unwrap();
    spec["displayName"] = name.into();
    site.set("spec", Some(spec));
    sites.create(&site).await.unwrap();
    until(&format!("{name} has a status"), async || sites.get(name).await.unwrap().get("status").cloned())
        .await;
}

async fn versions(client: &Client) -> BTreeMap<String, String> {
    let fleet = fleet(client).await.into_iter();
    fleet.map(|(name, object)| (name, object.resource_version().to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_processes_works_and_another_takes_over() {
    let folder = TempDir::with_prefix("groundplane-remote-").unwrap();
    let server = server_without(folder.path(), &["--demo"]);
    let (client, at) = (client_of(&server).await, address(&server));
    // Whoever held the lease before does not know yet that he no longer does.
    let lease = ControllerLease::new(&client, CONTROLLER, "former");
    let taken = lease.acquire(Duration::from_secs(5)).await.unwrap();
    let Acquired::Taken(former) = taken else { panic!("{taken:?}") };
    lease.release(&former).await;
    let mut first = Beside::start(&server, &at, folder.path(), "first", &["--metrics", "127.0.0.1:0"]);
    held_by(&client, "first").await;
    site_is_looked_after(&client, "made-with-first").await;
    let second = Beside::start(&server, &at, folder.path(), "second", &[]);
    let before = until("all is done", async || {
        let one = versions(&client).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        (one == versions(&client).await).then_some(one)
    })
    .await;

    let listed = groundplane(&server, &["controllers", CONTROLLER]);
    assert!(listed.contains("HOLDER") && listed.contains("first"), "{listed}");
    let metrics = metrics_of(&first).await;
    assert!(metrics.contains("controller_active{name=\"inventory-controller\"} 1"), "{metrics}");
    assert!(metrics.contains("workqueue_depth") && metrics.contains("informer_objects"), "{metrics}");

    // Killed: the other one takes over once the lease has run out, and rewrites nothing.
    first.signal("-KILL");
    first.ended();
    let killed = Instant::now();
    held_by(&client, "second").await;
    let took = killed.elapsed();
    eprintln!("taken over {took:?} after a kill");
    assert!(took < Duration::from_secs(20), "{took:?}");
    site_is_looked_after(&client, "made-with-second").await;
    let after = versions(&client).await;
    let rewritten = before.iter().filter(|(name, version)| after.get(*name) != Some(*version));
    // A new site changes what refers to the region that both are in, and nothing else.
    let rewritten: Vec<_> =
        rewritten.map(|(name, _)| name).filter(|name| !name.contains("regions")).collect();
    assert!(rewritten.is_empty(), "{rewritten:?}");

    // What a former holder would still send is refused.
    let maps = client.fenced(&former).resource("v1", "configmaps").in_namespace("default");
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}});
    let refused = maps.create(&Object::from_value(object).unwrap()).await.unwrap_err();
    assert!(refused.is_fenced_off(), "{refused}");

    // Stopped: the lease is given back, and the next one need not wait for its end.
    let mut second = second;
    let third = Beside::start(&server, &at, folder.path(), "third", &[]);
    until("the third is ready", async || third.said().contains("started").then_some(())).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    second.signal("-TERM");
    second.ended();
    let stopped = Instant::now();
    held_by(&client, "third").await;
    let took = stopped.elapsed();
    eprintln!("taken over {took:?} after a stop");
    assert!(took < Duration::from_secs(5), "{took:?}");
    let sites = client.resource("inventory.miloapis.com/v1alpha1", "sites");
    sites.patch("made-with-first", &Patch::Merge(json!({"spec": {"displayName": "other"}}))).await.unwrap();
    site_is_looked_after(&client, "made-with-third").await;
}

/// Asks the address that the log names.
async fn metrics_of(process: &Beside) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let said = process.said();
    let line = said.lines().find(|line| line.contains("metrics and health are served")).unwrap();
    let at = line.split("127.0.0.1:").nth(1).unwrap();
    let port: String = at.chars().take_while(char::is_ascii_digit).collect();
    let mut stream = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// The networks of projects, by a process with the rights that the command prints, and no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_of_projects_works_in_each_with_the_role_that_is_printed() {
    const NETWORKS: &str = "network-controller";
    let folder = TempDir::with_prefix("groundplane-remote-").unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "networks-token,networks,,\n").unwrap();
    let more = ["--controllers=all,-network-controller", "--token-auth-file", tokens.to_str().unwrap()];
    let server = Server::fresh(GROUNDPLANE, &more).unwrap();
    let (client, stop) = (client_of(&server).await, CancellationToken::new());
    let user = json!({"apiVersion": "iam.miloapis.com/v1alpha1", "kind": "User", "metadata": {"name": "networks"},
        "spec": {"email": "networks@example.com"}});
    client.resource("iam.miloapis.com/v1alpha1", "users").create(&object(user)).await.unwrap();
    // A service account of the root is nobody in a project: that is said, and what to do instead.
    let refused = Command::new(GROUNDPLANE).args(["controllers", "role", NETWORKS]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("name a user of IAM with --user"),
        "{refused:?}"
    );
    let words = ["controllers", "role", NETWORKS, "--user", "networks"];
    let role = Command::new(GROUNDPLANE).args(words).output().unwrap();
    let file = folder.path().join("role.yaml");
    std::fs::write(&file, role.stdout).unwrap();
    groundplane(&server, &["apply", "-f", file.to_str().unwrap()]);

    let kubeconfig = folder.path().join("networks.kubeconfig");
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         clusters:\n- name: c\n  cluster:\n    server: https://{}\n    certificate-authority: {}\n\
         users:\n- name: u\n  user: {{token: networks-token}}\n\
         contexts:\n- name: c\n  context: {{cluster: c, user: u}}\n",
        address(&server),
        server.data().join("ca.crt").display(),
    );
    std::fs::write(&kubeconfig, config).unwrap();
    let overrides = Overrides { kubeconfig: Some(kubeconfig), ..Overrides::default() };
    let remote = Client::new(Access::load(&overrides).await.unwrap()).unwrap();
    let kinds = networking::Module.kinds();
    let informers = Informers::new(remote, Arc::new(Catalog::new(kinds)), stop.clone());
    let all = networking::Module.controllers();
    let reconciler = all.into_iter().find(|reconciler| reconciler.name() == NETWORKS).unwrap();
    let host = Host::new(&informers, reconciler, "beside").unwrap();
    let (running, stopped) = (host.clone(), stop.clone());
    let running = tokio::spawn(async move { running.run(&stopped).await });
    let projects = client.resource("resourcemanager.miloapis.com/v1alpha1", "projects");
    // The second project comes when the role has been bound for a while.
    for name in ["web", "shop"] {
        let project = json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
            "metadata": {"name": name}, "spec": {}});
        projects.create(&object(project)).await.unwrap();
        let inside = client.in_plane(name);
        let networks =
            inside.resource("networking.datumapis.com/v1alpha", "networks").in_namespace("default");
        let network = json!({"apiVersion": "networking.datumapis.com/v1alpha", "kind": "Network",
            "metadata": {"name": "default"}, "spec": {"ipam": {"mode": "Auto"}}});
        networks.create(&object(network)).await.unwrap();
        until("the network has a status", async || {
            let (failing, problems) = (host.progress().failing, informers.problems());
            assert!(failing.is_empty() && problems.is_empty(), "{failing:?} {problems:?}");
            networks.get("default").await.unwrap().at("status.conditions").cloned()
        })
        .await;
    }
    stop.cancel();
    running.await.unwrap();
}

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

fn map_at(name: &str) -> Address {
    let [group, plural, namespace, name] = ["", "configmaps", "default", name].map(str::to_owned);
    Address { group, plural, namespace, name }
}

/// Notes on each map with the label `see` which plane it is in; with the value `both`, also on a map of the root.
struct Seeing;

impl Reconciler for Seeing {
    fn name(&self) -> &'static str {
        "seeing"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["create", "update"])]
    }

    fn plan(&self, target: &Target, item: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let with = |object: &Object| {
            let mut new = object.clone();
            new.set("data", Some(json!({"seen": format!("in {:?}", target.plane)})));
            new
        };
        if item.label("see").is_some() {
            plan.change(&target.plane, item, with(item));
        }
        if let (Some("both"), Some(other)) = (item.label("see"), context.root().get(&map_at("other"))) {
            plan.change("", &other, with(&other));
        }
        plan
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_all_planes_are_looked_after_and_a_plan_writes_to_one_plane() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let (client, stop) = (client_of(&server).await, CancellationToken::new());
    let project = json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
        "metadata": {"name": "web"}, "spec": {}});
    let projects = client.resource("resourcemanager.miloapis.com/v1alpha1", "projects");
    projects.create(&Object::from_value(project).unwrap()).await.unwrap();
    let maps = |client: &Client| client.resource("v1", "configmaps").in_namespace("default");
    let (in_root, in_web) = (maps(&client), maps(&client.in_plane("web")));
    let map = |name: &str, labels: Value| {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}});
        Object::from_value(map).unwrap()
    };
    in_root.create(&map("a", json!({"see": "yes"}))).await.unwrap();
    in_root.create(&map("other", json!({}))).await.unwrap();
    in_web.create(&map("b", json!({"see": "yes"}))).await.unwrap();
    let informers = Informers::new(client.clone(), Arc::new(Catalog::new(Vec::new())), stop.clone());
    let host = Host::new(&informers, Arc::new(Seeing), "beside").unwrap();
    let (running, stopped) = (host.clone(), stop.clone());
    let running = tokio::spawn(async move { running.run(&stopped).await });
    let seen = async |maps: &Collection<Object>, name: &str| {
        until(name, async || maps.get(name).await.unwrap().at("data.seen").cloned()).await
    };
    assert_eq!(seen(&in_root, "a").await, "in \"\"");
    assert_eq!(seen(&in_web, "b").await, "in \"web\"");
    in_web.create(&map("c", json!({"see": "yes"}))).await.unwrap();
    assert_eq!(seen(&in_web, "c").await, "in \"web\"");

    in_web.create(&map("d", json!({"see": "both"}))).await.unwrap();
    until("the plan is refused", async || {
        let failing = host.progress().failing;
        failing.iter().any(|stuck| stuck.error.contains("must write to one control plane")).then_some(())
    })
    .await;
    assert_eq!(in_root.get("other").await.unwrap().get("data"), None);
    stop.cancel();
    running.await.unwrap();
}

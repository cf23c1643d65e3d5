//! A site: a server, a hub that is a second server, a simulator that plays in it, and a name server.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sim::hub::{Options, Simulator};
use testbed::server::{Client, Pair, Server};

use super::GROUNDPLANE;
use super::bind::{Bind, SECRET};

pub const FULFILLMENT: &str = "/apis/fulfillment.groundplane.dev/v1alpha1";
pub const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
pub const NAMESPACE: &str = "osac-hub";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KINDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/hub-kinds.yaml");
/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A site.
pub struct Site {
    pub server: Option<Server>,
    pub second: Option<(Server, testbed::etcd::Cluster)>,
    pub hub: Server,
    pub simulator: Simulator,
    pub bind: Option<Bind>,
    pub project: String,
    // Last: the server is gone before its folder goes.
    folder: tempfile::TempDir,
}

impl Site {
    /// Starts one, with this many hosts.
    pub async fn start(hosts: usize) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(GROUNDPLANE, &folder.path().join("data"), &[]).unwrap();
        Site::with(server, folder, None, hosts).await
    }

    /// The same with two servers on one etcd.
    pub async fn pair(hosts: usize) -> Option<Site> {
        if !testbed::etcd::Cluster::available() {
            return None;
        }
        let Pair { first, second, cluster, folder } = Pair::start(GROUNDPLANE).unwrap();
        Some(Site::with(first, folder, Some((second, cluster)), hosts).await)
    }

    async fn with(
        server: Server,
        folder: tempfile::TempDir,
        second: Option<(Server, testbed::etcd::Cluster)>,
        hosts: usize,
    ) -> Site {
        let hub = Server::fresh(GROUNDPLANE, &[]).unwrap();
        define(&hub.client()).await;
        let simulator = play(&hub).await;
        let bind = Bind::start();
        let project = "tenant".to_owned();
        let site = Site { server: Some(server), second, hub, simulator, bind, project, folder };
        site.furnish(hosts).await;
        site
    }

    pub fn client(&self) -> Client {
        self.server.as_ref().unwrap().client()
    }

    /// Ends the server at once, and starts it again on the same folder.
    pub fn crash(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(Server::start(GROUNDPLANE, &self.folder.path().join("data"), &[]).unwrap());
    }

    async fn furnish(&self, hosts: usize) {
        let client = self.client();
        let project = json!({
            "apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
            "metadata": {"name": self.project}, "spec": {},
        });
        made(&client, PROJECTS, &project).await;
        make(&client, "hostclasses", "HostClass", "gpu", json!({"title": "GPU node"})).await;
        for number in 1..=hosts {
            let name = format!("node{number:03}");
            let spec = json!({
                "class": "gpu", "rack": format!("r{}", number % 2), "bootMac": format!("52:54:00:AA:BB:{number:02x}"),
                "bootIp": format!("192.0.2.{number}"),
                "bmc": {
                    "url": format!("redfish-virtualmedia://127.0.0.1:9/redfish/v1/Systems/{number}"), "user": "admin",
                    "password": format!("secret-{number}"), "insecure": true,
                },
            });
            make(&client, "hosts", "Host", &name, json!({ "spec": spec })).await;
        }
        let release =
            |name: &str| json!({"name": name, "image": format!("quay.example/ocp-release:{name}-x86_64")});
        let template = json!({
            "title": "Small", "releases": [release("4.19.18"), release("4.20.1")],
            "nodeSets": {
                "infra": {"hostClass": "gpu", "size": 1},
                "workers": {"hostClass": "gpu", "size": 2, "spread": ["Rack"]},
            },
        });
        make(&client, "clustertemplates", "ClusterTemplate", "small", template).await;
        let mut spec = json!({
            "kubeconfig": std::fs::read_to_string(self.hub.kubeconfig()).unwrap(), "namespace": NAMESPACE,
            "pullSecret": "{\"auths\":{}}", "sshPublicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== operator@example",
            "ip": "203.0.113.10",
        });
        if let Some(bind) = &self.bind {
            let zone = json!({
                "domain": "example.test", "server": bind.address(), "keyName": "groundplane", "keySecret": SECRET,
            });
            make(&client, "dnszones", "DNSZone", "clusters", json!({ "spec": zone })).await;
            spec["zone"] = "clusters".into();
        }
        make(&client, "hubs", "Hub", "hub-1", json!({"displayName": "hub-one", "spec": spec})).await;
        self.until("the hub is ready", || async { ready(&self.get("hubs/hub-1").await) }).await;
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.client().get(&format!("{FULFILLMENT}/{path}")).await.unwrap();
        if answer.code == 200 { answer.json() } else { Value::Null }
    }

    pub fn clusters(&self) -> String {
        format!("{PROJECTS}/{}/control-plane{FULFILLMENT}/clusters", self.project)
    }

    pub async fn create_cluster(&self, name: &str, spec: Value) {
        let cluster = json!({
            "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": spec,
        });
        made(&self.client(), &self.clusters(), &cluster).await;
    }

    pub async fn cluster(&self, name: &str) -> Value {
        let answer = self.client().get(&format!("{}/{name}", self.clusters())).await.unwrap();
        if answer.code == 200 { answer.json() } else { Value::Null }
    }

    pub async fn change(&self, path: &str, patch: Value) {
        let answer = self.client().merge(path, &patch).await.unwrap();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    }

    pub async fn hub_objects(&self, path: &str) -> Vec<Value> {
        let answer = self.hub.client().get(path).await.unwrap();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
        answer.json()["items"].as_array().cloned().unwrap_or_default()
    }

    pub async fn until<F: Future<Output = bool>>(&self, what: &str, look: impl Fn() -> F) {
        let deadline = Instant::now() + PATIENCE;
        while !look().await {
            if Instant::now() >= deadline {
                self.tell().await;
                panic!("not within {PATIENCE:?}: {what}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a cluster is ready with nothing to do.
    pub async fn settled(&self, name: &str) -> Value {
        self.until("the cluster is ready", || async { phase(&self.cluster(name).await) == "Ready" }).await;
        self.cluster(name).await
    }

    /// What there is, for the message of a failed test.
    async fn tell(&self) {
        let show = |value: &Value| eprintln!("{}", serde_json::to_string(value).unwrap());
        for kind in ["hubs", "hosts", "clusterplacements", "hostclaims", "dnszones"] {
            for item in self.get(kind).await["items"].as_array().cloned().unwrap_or_default() {
                show(
                    &json!({"kind": item["kind"], "name": item["metadata"]["name"], "spec": item["spec"], "status": item["status"]}),
                );
            }
        }
        let all = self.client().get(&self.clusters()).await.unwrap().json();
        all["items"].as_array().into_iter().flatten().for_each(show);
        for (group, plural) in HUB_KINDS {
            for item in self.hub_objects(&hub_path(group, plural)).await {
                show(
                    &json!({"hub": plural, "metadata": {"name": item["metadata"]["name"], "labels": item["metadata"]["labels"],
                    "deletionTimestamp": item["metadata"]["deletionTimestamp"], "finalizers": item["metadata"]["finalizers"]},
                    "status": item["status"]}),
                );
            }
        }
    }

    /// Everything that a cluster could leave behind: objects of the hub, records, claims, Secrets.
    pub async fn traces(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all = BTreeMap::new();
        let name = |item: &Value| item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        for (group, plural) in HUB_KINDS {
            let names = self.hub_objects(&hub_path(group, plural)).await.iter().map(name).collect();
            all.insert(format!("hub {plural}"), names);
        }
        let held = self.get("hostclaims").await["items"].as_array().cloned().unwrap_or_default();
        let held = held.iter().filter(|claim| claim["spec"].get("holder").is_some()).map(name).collect();
        all.insert("held hosts".to_owned(), held);
        let hosts = self.get("hosts").await["items"].as_array().cloned().unwrap_or_default();
        let is_used = |host: &&Value| {
            ["cluster", "hub", "provisioning", "claim"]
                .iter()
                .any(|field| host["status"].get(*field).is_some())
        };
        all.insert("used hosts".to_owned(), hosts.iter().filter(is_used).map(name).collect());
        let placements = self.get("clusterplacements").await["items"].as_array().cloned().unwrap_or_default();
        all.insert("placements".to_owned(), placements.iter().map(name).collect());
        let inside = format!("{PROJECTS}/{}/control-plane/api/v1/secrets", self.project);
        for (what, path) in [("secrets", "/api/v1/secrets".to_owned()), ("secrets of the project", inside)] {
            let found = self.client().get(&path).await.unwrap().json();
            let names = found["items"].as_array().cloned().unwrap_or_default();
            all.insert(what.to_owned(), names.iter().map(name).collect());
        }
        all
    }
}

const HUB_KINDS: [(&str, &str); 7] = [
    ("/api/v1", "secrets"),
    ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    ("/apis/agent-install.openshift.io/v1beta1", "infraenvs"),
    ("/apis/agent-install.openshift.io/v1beta1", "agents"),
    ("/apis/metal3.io/v1alpha1", "baremetalhosts"),
    ("/apis/hypershift.openshift.io/v1beta1", "hostedclusters"),
    ("/apis/hypershift.openshift.io/v1beta1", "nodepools"),
];

pub fn hub_path(group: &str, plural: &str) -> String {
    format!("{group}/namespaces/{NAMESPACE}/{plural}")
}

pub fn phase(cluster: &Value) -> &str {
    cluster["status"]["phase"].as_str().unwrap_or_default()
}

fn ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// The real kinds where they lie, and those of our own otherwise.
async fn define(client: &Client) {
    let files = [
        "metal3-baremetalhosts",
        "assisted-agents",
        "assisted-infraenvs",
        "hypershift-hostedclusters",
        "hypershift-nodepools",
    ];
    let texts: Vec<String> = match require::cases("crds") {
        Some(folder) => files
            .iter()
            .map(|name| std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap())
            .collect(),
        None => std::fs::read_to_string(KINDS).unwrap().split("\n---\n").map(str::to_owned).collect(),
    };
    for text in texts {
        let definition = krm::decode::read_yaml(text.as_bytes()).unwrap().value;
        made(client, DEFINITIONS, &definition).await;
    }
}

/// Plays in the hub, with the hub's own kubeconfig.
pub async fn play(hub: &Server) -> Simulator {
    let overrides =
        client::Overrides { kubeconfig: Some(hub.kubeconfig().to_owned()), ..client::Overrides::default() };
    let client = client::Client::new(client::Access::load(&overrides).await.unwrap()).unwrap();
    let options = Options {
        namespace: NAMESPACE.to_owned(),
        step: Duration::from_millis(100),
        faults: BTreeSet::new(),
    };
    Simulator::start(&client, &options)
}

async fn make(client: &Client, plural: &str, kind: &str, name: &str, fields: Value) {
    let mut object = json!({"apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": kind, "metadata": {"name": name}});
    for (field, value) in fields.as_object().unwrap() {
        object[field] = value.clone();
    }
    made(client, &format!("{FULFILLMENT}/{plural}"), &object).await;
}

async fn made(client: &Client, path: &str, object: &Value) {
    let answer = client.post(&format!("{path}?fieldValidation=Strict"), object).await.unwrap();
    assert_eq!(answer.code, 201, "{path}: {}", answer.text());
}

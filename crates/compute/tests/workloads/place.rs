//! A project with cities, a network and an agent, and what the tests ask of it.

use std::sync::Arc;

use apiserver::controllers::host;
use apiserver::server_module::Plugins;
use compute::agent::Agent;
use compute::controllers::deployment::DeploymentController;
use compute::controllers::instance::InstanceController;
use compute::controllers::workload::WorkloadController;
use containers::clock::TokioClock;
use containers::simulated::{Script, Simulated};
use networking::controllers::NetworkController;
use reconcile::reconciler::Reconciler;
use serde_json::{Value, json};
use testbed::server::{Answer, Client};

use super::objects::make;
use super::server::{Extras, Server, until};

const PROJECTS: &str = "/apis/tenants.example.groundplane.dev/v1alpha1/tenants";
/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
/// How often autoscaling looks, here.
pub const PERIOD: std::time::Duration = std::time::Duration::from_millis(200);
pub const PROJECT: &str = "acme";
pub const COMPUTE: &str = "compute.datumapis.com/v1alpha";
pub const NETWORKING: &str = "networking.datumapis.com/v1alpha";
pub const QUOTA: &str = "quota.miloapis.com/v1alpha1";
pub const SERVICES: &str = "services.miloapis.com/v1alpha1";

/// A server with a project that can deploy to some cities.
pub struct Place {
    pub client: Client,
    pub runtime: Simulated,
    pub server: Server,
}

/// A path in the control plane of the project.
pub fn inside(path: &str) -> String {
    format!("{PROJECTS}/{PROJECT}/control-plane{path}")
}

/// Where objects of a kind are in the project's namespace.
pub fn of(api: &str, plural: &str) -> String {
    inside(&format!("/apis/{api}/namespaces/default/{plural}"))
}

/// An object.
pub fn object(api: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A workload with one container, in some cities.
pub fn workload(name: &str, image: &str, cities: &[&str], least: i64) -> Value {
    let spec = json!({
        "template": {"spec": {
            "runtime": {
                "resources": {"instanceType": "d1-standard-2"},
                "sandbox": {"containers": [{"name": "app", "image": image, "ports": [{"name": "http", "port": 8080}]}]},
            },
            "networkInterfaces": [{"network": {"name": "default"}}],
        }},
        "placements": [{"name": "default", "cityCodes": cities, "scaleSettings": {"minReplicas": least}}],
    });
    object(COMPUTE, "Workload", name, spec)
}

/// Status and reason of a condition.
pub fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    let text = |found: &Value, field: &str| found[field].as_str().unwrap().to_owned();
    found.map_or(String::new(), |found| format!("{}:{}", text(found, "status"), text(found, "reason")))
}

/// Message of a condition.
pub fn message(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.map_or(String::new(), |found| found["message"].as_str().unwrap().to_owned())
}

/// The state of an instance as lists say it.
pub fn shown(instance: &Value) -> String {
    let conditions = instance["status"]["conditions"].as_array().cloned().unwrap_or_default();
    compute::shown::instance(&conditions).list
}

impl Place {
    /// A project with these cities and a network, without an agent.
    pub async fn bare(cities: &[&str]) -> Place {
        let effects: Vec<Arc<dyn krm::kind::EffectPlugin>> = vec![
            Arc::new(quota::metering::Metering::default()),
            Arc::new(services::gate::EntitlementGate::default()),
        ];
        let extras = Extras { plugins: Plugins { effects, ..Plugins::default() }, ..Extras::default() };
        let server = Server::with(extras).await;
        let controllers: Vec<Arc<dyn Reconciler>> = vec![
            Arc::new(NetworkController),
            Arc::new(quota::controller::QuotaController),
            Arc::new(services::controllers::EntitlementController),
            Arc::new(WorkloadController),
            Arc::new(DeploymentController { period: PERIOD }),
            Arc::new(InstanceController),
        ];
        for controller in controllers {
            tokio::spawn(host::run(controller, server.api.clone(), None));
        }
        let client = server.client();
        let project = json!({"apiVersion": "tenants.example.groundplane.dev/v1alpha1", "kind": "Tenant",
            "metadata": {"name": PROJECT}});
        make(&client, PROJECTS, &project).await;
        let runtime = Simulated::new(Arc::new(TokioClock::new()));
        let place = Place { client, runtime, server };
        for city in cities {
            place.open(&city.to_lowercase(), city).await;
        }
        let network = object(NETWORKING, "Network", "default", json!({"ipam": {"mode": "Auto"}}));
        place.make(&of(NETWORKING, "networks"), &network).await;
        place
    }

    /// The same with an agent.
    pub async fn new(cities: &[&str]) -> Place {
        let place = Place::bare(cities).await;
        place.run_agent();
        place
    }

    /// Runs the agent. A second one stands for a restart of the first.
    pub fn run_agent(&self) {
        let agent = Agent::new(Arc::new(self.runtime.clone())).measuring_every(PERIOD);
        tokio::spawn(host::run(Arc::new(agent), self.server.api.clone(), None));
    }

    /// Makes a location available.
    pub async fn open(&self, location: &str, city: &str) {
        let bindings = inside(&format!("/apis/{NETWORKING}/locationbindings"));
        let spec = json!({"locationRef": {"name": location}, "locationClassName": "datum-managed",
            "topology": {"topology.datum.net/city-code": city, "topology.datum.net/region": "us"}});
        self.make(&bindings, &object(NETWORKING, "LocationBinding", location, spec)).await;
        let available = json!({"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Available",
            "message": "", "lastTransitionTime": "2026-06-04T10:00:00Z"}]}});
        let answer = self.client.merge(&format!("{bindings}/{location}/status"), &available).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
    }

    pub async fn make(&self, collection: &str, object: &Value) -> Value {
        make(&self.client, collection, object).await
    }

    pub async fn deploy(&self, workload: &Value) -> Value {
        self.make(&of(COMPUTE, "workloads"), workload).await
    }

    /// Changes a workload.
    pub async fn change(&self, name: &str, patch: Value) -> Answer {
        let answer =
            self.client.merge(&format!("{}/{name}", of(COMPUTE, "workloads")), &patch).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
        answer
    }

    /// Gives the first container another image.
    pub async fn set_image(&self, name: &str, image: &str) {
        let containers = json!([{"name": "app", "image": image, "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}]);
        let runtime = json!({"sandbox": {"containers": containers}});
        self.change(name, json!({"spec": {"template": {"spec": {"runtime": runtime}}}})).await;
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.client.get(path).await.unwrap();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
        answer.json()
    }

    pub async fn workload(&self, name: &str) -> Value {
        self.get(&format!("{}/{name}", of(COMPUTE, "workloads"))).await
    }

    pub async fn list(&self, api: &str, plural: &str) -> Vec<Value> {
        self.get(&of(api, plural)).await["items"].as_array().unwrap().clone()
    }

    pub async fn instances(&self) -> Vec<Value> {
        self.list(COMPUTE, "instances").await
    }

    pub async fn instance(&self, name: &str) -> Option<Value> {
        let answer = self.client.get(&format!("{}/{name}", of(COMPUTE, "instances"))).await.unwrap();
        (answer.code == 200).then(|| answer.json())
    }

    /// Waits until the rollout of a workload is in a phase.
    pub async fn until_phase(&self, name: &str, phase: &str) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let workload = self.workload(name).await;
            let is_current = workload["status"]["observedGeneration"] == workload["metadata"]["generation"];
            if is_current && workload["status"]["rollout"]["phase"] == phase {
                return workload;
            }
            if tokio::time::Instant::now() > deadline {
                for instance in self.instances().await {
                    eprintln!(
                        "{}: {} {}",
                        instance["metadata"]["name"],
                        shown(&instance),
                        instance["status"]["conditions"]
                    );
                }
                panic!("{name} is not {phase}: {}", workload["status"]);
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Waits until an instance is shown so.
    pub async fn until_shown(&self, name: &str, wanted: &str) {
        until(&format!("{name} is {wanted}"), || async {
            self.instance(name).await.is_some_and(|instance| shown(&instance) == wanted)
        })
        .await;
    }

    /// An image that can't be pulled.
    pub fn script_unavailable(&self, image: &str) {
        let error = containers::Error::ImageNotFound {
            image: image.to_owned(),
            reason: "manifest unknown".to_owned(),
        };
        self.runtime.script(image, Script { pull_fails: Some(error), ..Script::default() });
    }
}

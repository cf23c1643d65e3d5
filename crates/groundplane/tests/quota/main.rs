//! What a tenant may use and how much, on the real binary: quota, services, locations.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod cases;
mod claimers;
mod clusters;
mod commands;
mod declared;
mod entitled;
mod kubectl;
mod metered;
mod organizations;
mod permitted;
mod replay;
mod strangers;
mod waiting;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
const QUOTA: &str = "quota.miloapis.com/v1alpha1";
const SERVICES: &str = "services.miloapis.com/v1alpha1";
const NETWORKING: &str = "networking.datumapis.com/v1alpha";
const SHOP: &str = "shop.example.com/v1";
/// The metered resource of these tests.
const WIDGETS: &str = "shop.example.com/widgets";
/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn server() -> (Server, Client) {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    (server, client)
}

/// A path in the control plane of a project.
fn inside(project: &str, path: &str) -> String {
    format!("{PROJECTS}/{project}/control-plane{path}")
}

/// Where cluster-scoped objects of a resource are.
fn cluster(api: &str, plural: &str) -> String {
    format!("/apis/{api}/{plural}")
}

/// Where objects of a resource are in a namespace.
fn namespaced(api: &str, namespace: &str, plural: &str) -> String {
    format!("/apis/{api}/namespaces/{namespace}/{plural}")
}

fn widgets(project: &str) -> String {
    inside(project, &namespaced(SHOP, "default", "widgets"))
}

fn claims(project: &str) -> String {
    inside(project, &namespaced(QUOTA, "default", "resourceclaims"))
}

fn grants() -> String {
    namespaced(QUOTA, "milo-system", "resourcegrants")
}

fn object(api: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

async fn make(client: &Client, collection: &str, object: &Value) -> Value {
    let answer = client.post(collection, object).await.unwrap();
    assert_eq!(answer.code, 201, "{collection}: {}", answer.text());
    answer.json()
}

async fn get(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await.unwrap();
    assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    answer.json()
}

async fn items(client: &Client, path: &str) -> Vec<Value> {
    get(client, path).await["items"].as_array().unwrap().clone()
}

async fn make_project(client: &Client, name: &str) -> Value {
    make(client, PROJECTS, &object("resourcemanager.miloapis.com/v1alpha1", "Project", name, json!({}))).await
}

/// A kind of the project's own.
async fn define_widgets(client: &Client, project: &str) {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}}},
    }});
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names =
        json!({"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"});
    let spec =
        json!({"group": "shop.example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    let definition =
        object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.shop.example.com", spec);
    let definitions = inside(project, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    make(client, &definitions, &definition).await;
    until("the kind is served", || async { client.get(&widgets(project)).await.unwrap().code == 200 }).await;
}

/// Registers widgets and meters them by their size.
async fn meter_widgets(client: &Client, when_exceeded: &str) {
    let registration = json!({
        "consumerType": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"}, "type": "Allocation",
        "resourceType": WIDGETS, "baseUnit": "unit", "displayUnit": "unit", "unitConversionFactor": 1,
        "claimingResources": [{"apiGroup": "shop.example.com", "kind": "Widget"}],
    });
    let registrations = cluster(QUOTA, "resourceregistrations");
    make(client, &registrations, &object(QUOTA, "ResourceRegistration", "widgets", registration)).await;
    let policy = json!({
        "trigger": {"resource": {"apiVersion": SHOP, "kind": "Widget"}},
        "target": {"resourceClaimTemplate": {"spec": {"requests": [
            {"resourceType": WIDGETS, "amountExpression": "trigger.spec.size"},
        ]}}},
        "whenExceeded": when_exceeded,
    });
    let policies = cluster(QUOTA, "claimcreationpolicies");
    make(client, &policies, &object(QUOTA, "ClaimCreationPolicy", "widget", policy)).await;
}

fn grant(name: &str, project: &str, amount: i64) -> Value {
    let spec = json!({
        "consumerRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": project},
        "allowances": [{"resourceType": WIDGETS, "buckets": [{"amount": amount}]}],
    });
    object(QUOTA, "ResourceGrant", name, spec)
}

async fn set_grant(client: &Client, name: &str, amount: i64) {
    let allowances = json!([{"resourceType": WIDGETS, "buckets": [{"amount": amount}]}]);
    let patch = json!({"spec": {"allowances": allowances}});
    let answer = client.merge(&format!("{}/{name}", grants()), &patch).await.unwrap();
    assert_eq!(answer.code, 200, "{}", answer.text());
}

fn widget(name: &str, size: i64) -> Value {
    object(SHOP, "Widget", name, json!({"size": size}))
}

/// The bucket of a project's widgets.
async fn bucket(client: &Client, project: &str) -> Value {
    let buckets = namespaced(QUOTA, "milo-system", "allowancebuckets");
    let all = items(client, &buckets).await;
    let of = |bucket: &&Value| {
        bucket["spec"]["consumerRef"]["name"] == project && bucket["spec"]["resourceType"] == WIDGETS
    };
    all.iter().find(of).cloned().unwrap_or(Value::Null)
}

/// Status and reason of a condition.
fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.map_or(String::new(), |found| {
        format!("{}:{}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
    })
}

/// Message of a condition.
fn message(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.map_or(String::new(), |found| found["message"].as_str().unwrap().to_owned())
}

async fn until<F: Future<Output = bool>>(what: &str, look: impl Fn() -> F) {
    let deadline = Instant::now() + PATIENCE;
    while !look().await {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

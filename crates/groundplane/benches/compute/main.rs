//! What workloads cost: `cargo xtask bench compute`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod among;
mod containers;
#[path = "../../tests/compute/image.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod image;
mod many;
#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod report;

use std::time::{Duration, Instant};

use clap::Parser;
use report::Report;
use serde_json::{Value, json};
use testbed::server::{Client, Server};

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const PLANE: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/default/control-plane";
const WORKLOADS: &str = "/apis/compute.datumapis.com/v1alpha/namespaces/default/workloads";
/// How long anything may take before the bench gives up.
const PATIENCE: Duration = Duration::from_secs(900);

/// Measures many simulated instances, many workloads, and the start of a container.
#[derive(Parser)]
#[command(name = "cargo xtask bench compute")]
struct Arguments {
    /// Simulated instances of one workload, in ten cities.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    instances: u64,

    /// Workloads beside which a further one is made.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    workloads: usize,

    /// Real containers that are started one after another.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    containers: usize,

    /// Only these parts: many, among, containers.
    #[arg(long, num_args = 1.., value_name = "PART")]
    only: Vec<String>,

    /// Fails when a floor is missed.
    #[arg(long)]
    check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let wanted = |part: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == part);
    let mut report = Report::default();
    if wanted("many") {
        many::measure(arguments.instances, &mut report).await;
    }
    if wanted("among") {
        among::measure(arguments.workloads, &mut report).await;
    }
    if wanted("containers") {
        containers::measure(arguments.containers, &mut report).await;
    }
    println!("{}", report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

/// A server with simulated instances in these cities, and quota for everything.
async fn simulated(cities: &str) -> (Server, Client) {
    let flags = [
        "--audit-log",
        "none",
        "--local-cities",
        cities,
        "--instances",
        "simulated",
        "--max-objects-per-project",
        "1000000",
    ];
    let server = Server::fresh(GROUNDPLANE, &flags).unwrap();
    let client = server.client();
    let allowances: Vec<Value> = ["workloads", "instances", "vcpus", "memory"]
        .iter()
        .map(|name| json!({"resourceType": format!("compute.datumapis.com/{name}"), "buckets": [{"amount": 1_000_000_000}]}))
        .collect();
    let grant = json!({
        "apiVersion": "quota.miloapis.com/v1alpha1", "kind": "ResourceGrant", "metadata": {"name": "bench"},
        "spec": {
            "consumerRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": "default"},
            "allowances": allowances,
        },
    });
    let path = "/apis/quota.miloapis.com/v1alpha1/namespaces/milo-system/resourcegrants";
    let made = client.post(path, &grant).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    // The services and their locations are a moment away.
    let trial = workload("trial", "x", cities, 1);
    until("a workload can be deployed", async || {
        client.post(&format!("{PLANE}{WORKLOADS}"), &trial).await.unwrap().code == 201
    })
    .await;
    ready(&client, "trial", cities.split(',').count() as u64).await;
    (server, client)
}

/// A workload with so many instances in each city.
fn workload(name: &str, image: &str, cities: &str, least: u64) -> Value {
    let cities: Vec<&str> = cities.split(',').collect();
    json!({
        "apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload", "metadata": {"name": name},
        "spec": {
            "template": {"spec": {
                "runtime": {
                    "resources": {"instanceType": "d1-standard-2"},
                    "sandbox": {"containers": [{"name": "app", "image": image, "ports": [{"name": "http", "port": 80}]}]},
                },
                "networkInterfaces": [{"network": {"name": "default"}}],
            }},
            "placements": [{"name": "default", "cityCodes": cities,
                "scaleSettings": {"minReplicas": least, "instanceManagementPolicy": "Parallel"}}],
        },
    })
}

async fn create(client: &Client, workload: &Value) {
    let made = client.post(&format!("{PLANE}{WORKLOADS}"), workload).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
}

/// Waits until a workload has so many ready instances.
async fn ready(client: &Client, name: &str, instances: u64) {
    let path = format!("{PLANE}{WORKLOADS}/{name}");
    until("its instances are ready", async || {
        client.get(&path).await.unwrap().json()["status"]["readyReplicas"] == instances
    })
    .await;
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

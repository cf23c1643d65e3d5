//! What metering adds to a create, and how long a project with its grants takes.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::bench::machine;
use testbed::server::{Client, Server};

use crate::report::{Report, median};
use crate::{GROUNDPLANE, PROJECTS, QUOTA, all, grant, inside, make, make_project, meter};

const RESOURCE: &str = "bench.example.com/configmaps";
const FEW: usize = 50;

pub async fn measure(objects: usize, report: &mut Report) {
    let plain = cpu_of_creates(objects, false).await;
    let metered = cpu_of_creates(objects, true).await;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / objects as f64;
    report.line("CPU of a create", micros(plain), "µs", None);
    report.line("CPU of the same create, metered", micros(metered), "µs", None);
    report.line("metered beside unmetered", metered.as_secs_f64() / plain.as_secs_f64(), "times", Some(1.3));
}

/// CPU of the server for so many new ConfigMaps.
async fn cpu_of_creates(objects: usize, is_metered: bool) -> Duration {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    make_project(&client, "acme").await;
    if is_metered {
        meter(&client, RESOURCE, "v1", "ConfigMap", "Refuse").await;
        make(
            &client,
            &format!("{QUOTA}/namespaces/milo-system/resourcegrants"),
            &grant("all", RESOURCE, 10 * objects),
        )
        .await;
    }
    let process = server.pid().to_string();
    let before = machine::cpu_of(&process).unwrap();
    all(&client, objects, create).await;
    machine::cpu_of(&process).unwrap() - before
}

async fn create(client: Client, number: usize) {
    let map = json!({"metadata": {"name": format!("map-{number}")}, "data": {"text": "x".repeat(500)}});
    make(&client, &inside("/api/v1/namespaces/default/configmaps"), &map).await;
}

pub async fn new_projects(report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    meter(&client, RESOURCE, "v1", "ConfigMap", "Refuse").await;
    let policy = json!({"metadata": {"name": "default"}, "spec": {
        "trigger": {"resource": {"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project"}},
        "target": {"resourceGrantTemplate": {"spec": {"allowances": [{"resourceType": RESOURCE, "buckets": [{"amount": 10}]}]}}}}});
    make(&client, &format!("{QUOTA}/grantcreationpolicies"), &policy).await;
    let mut times = Vec::new();
    for number in 0..FEW {
        let begun = Instant::now();
        make_project(&client, &format!("p{number}")).await;
        let map = json!({"metadata": {"name": "first"}});
        let path = format!("{PROJECTS}/p{number}/control-plane/api/v1/namespaces/default/configmaps");
        make(&client, &path, &map).await;
        times.push(begun.elapsed());
    }
    let floor = Some(Duration::from_millis(20));
    report.time("a project with its default grants and a first metered object", median(times), floor);
}

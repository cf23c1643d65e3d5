//! Workloads on the real binary: a first start on one machine, and kubectl.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod commands;
mod containers;
mod enabled;
mod first_deploy;
mod guide;
mod image;
mod inside;
mod load;
mod machine;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const PLANE: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/default/control-plane";
const WORKLOADS: &str = "/apis/compute.datumapis.com/v1alpha/namespaces/default/workloads";
/// How long anything may take that is to happen by itself; far more than it needs on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(60);

async fn until<F: Future<Output = bool>>(what: &str, look: impl Fn() -> F) {
    let deadline = Instant::now() + PATIENCE;
    while !look().await {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

async fn get(client: &Client, path: &str) -> Value {
    let answer = client.get(&format!("{PLANE}{path}")).await.unwrap();
    if answer.code == 200 { answer.json() } else { Value::Null }
}

/// Runs a command in the project, with kubectl where it is installed and with our own program; its output, which is the same.
fn run(server: &Server, words: &[&str]) -> String {
    let own = run_with(GROUNDPLANE, server, words);
    if Command::new("kubectl").arg("version").arg("--client").output().is_ok() {
        let others = run_with("kubectl", server, words);
        let without_ages = |text: &str| -> Vec<Vec<String>> {
            let words = |line: &str| {
                line.split_whitespace().filter(|word| !word.ends_with('s')).map(str::to_owned).collect()
            };
            text.lines().map(words).collect()
        };
        assert_eq!(without_ages(&own), without_ages(&others), "{words:?}");
    }
    own
}

fn run_with(program: &str, server: &Server, words: &[&str]) -> String {
    let address = std::fs::read_to_string(server.kubeconfig()).unwrap();
    let address = address.lines().find_map(|line| line.trim().strip_prefix("server: ")).unwrap();
    let address = address.trim_matches('"');
    let output = Command::new(program)
        .args(["--server", &format!("{address}{PLANE}")])
        .args(words)
        .env("KUBECONFIG", server.kubeconfig())
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn after_a_first_start_on_one_machine_a_workload_runs_at_once() {
    let flags = ["--local-cities", "dfw,IAD", "--instances", "simulated"];
    let server = Server::fresh(GROUNDPLANE, &flags).unwrap();
    let client = server.client();
    let bindings = "/apis/networking.datumapis.com/v1alpha/locationbindings";
    until("both cities are there", || async {
        let all = get(&client, bindings).await["items"].as_array().cloned().unwrap_or_default();
        let is_available = |binding: &Value| binding["status"]["conditions"][0]["status"] == "True";
        all.len() == 2 && all.iter().all(is_available)
    })
    .await;
    let workload = json!({
        "apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload", "metadata": {"name": "web"},
        "spec": {
            "template": {"spec": {
                "runtime": {
                    "resources": {"instanceType": "d1-standard-2"},
                    "sandbox": {"containers": [{"name": "app", "image": "ghcr.io/acme/web:1"}]},
                },
                "networkInterfaces": [{"network": {"name": "default"}}],
            }},
            "placements": [{"name": "default", "cityCodes": ["DFW", "IAD"], "scaleSettings": {"minReplicas": 2}}],
        },
    });
    // The entitlement may be a moment away.
    until("it is deployed", || async {
        let answer = client.post(&format!("{PLANE}{WORKLOADS}"), &workload).await.unwrap();
        assert!(matches!(answer.code, 201 | 403), "{}", answer.text());
        answer.code == 201
    })
    .await;
    until("it is available", || async {
        get(&client, &format!("{WORKLOADS}/web")).await["status"]["readyReplicas"] == 4
    })
    .await;
    let claims = get(&client, "/apis/quota.miloapis.com/v1alpha1/namespaces/default/resourceclaims").await;
    let granted = |claim: &Value| claim["status"]["conditions"][0]["status"] == "True";
    let claims = claims["items"].as_array().unwrap().clone();
    assert!(claims.len() == 5 && claims.iter().all(granted), "four ordinals and the workload: {claims:?}");

    // What kubectl shows.
    let table = run(&server, &["get", "workloads"]);
    let columns: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        columns,
        ["NAME", "AGE", "AVAILABLE", "REASON", "DEPLOYMENTS", "REPLICAS", "READY", "DESIRED", "UP-TO-DATE"]
    );
    assert!(table.contains("True") && table.contains("AvailablePlacementFound"), "{table}");
    let instances = run(&server, &["get", "instances"]);
    assert!(
        instances.contains("web-default-dfw-0") && instances.contains("web-default-iad-1"),
        "{instances}"
    );
}

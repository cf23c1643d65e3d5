//! What quota and addresses cost: `cargo xtask bench quota`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod metered;
#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod report;
mod subnets;
mod waiting;

use clap::Parser;
use report::Report;
use serde_json::{Value, json};
use testbed::server::Client;
use tokio::task::JoinSet;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
const QUOTA: &str = "/apis/quota.miloapis.com/v1alpha1";
const AT_ONCE: usize = 64;

/// Measures metered creates, waiting claims, subnet claims and new projects.
#[derive(Parser)]
#[command(name = "cargo xtask bench quota")]
struct Arguments {
    /// Objects, claims and subnets of each part.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    objects: usize,

    /// Only these parts: metered, waiting, subnets, projects.
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
    if wanted("metered") {
        metered::measure(arguments.objects, &mut report).await;
    }
    if wanted("waiting") {
        waiting::measure(arguments.objects, &mut report).await;
    }
    if wanted("subnets") {
        subnets::measure(arguments.objects, &mut report).await;
    }
    if wanted("projects") {
        metered::new_projects(&mut report).await;
    }
    println!("{}", report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

/// A path in the control plane of the project.
fn inside(path: &str) -> String {
    format!("{PROJECTS}/acme/control-plane{path}")
}

/// The kinds of the collections that are written to. ConfigMaps need not say theirs.
const KINDS: [(&str, &str); 7] = [
    ("resourceregistrations", "ResourceRegistration"),
    ("claimcreationpolicies", "ClaimCreationPolicy"),
    ("grantcreationpolicies", "GrantCreationPolicy"),
    ("resourcegrants", "ResourceGrant"),
    ("networks", "Network"),
    ("networkcontexts", "NetworkContext"),
    ("subnetclaims", "SubnetClaim"),
];

async fn make(client: &Client, path: &str, object: &Value) -> Value {
    let mut object = object.clone();
    let plural = path.rsplit('/').next().unwrap();
    if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == plural) {
        let mut rest = path.rsplit("/apis/").next().unwrap().split('/');
        object["apiVersion"] = format!("{}/{}", rest.next().unwrap(), rest.next().unwrap()).into();
        object["kind"] = (*kind).into();
    }
    let made = client.post(path, &object).await.unwrap();
    assert_eq!(made.code, 201, "{path}: {}", made.text());
    made.json()
}

async fn make_project(client: &Client, name: &str) {
    let project = json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project", "metadata": {"name": name}});
    make(client, PROJECTS, &project).await;
}

/// Registers a resource, and meters a kind by one of it for each object.
async fn meter(client: &Client, resource: &str, api_version: &str, kind: &str, when_exceeded: &str) {
    let (group, _) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let registration = json!({"metadata": {"name": kind.to_lowercase()}, "spec": {
        "consumerType": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"}, "type": "Entity",
        "resourceType": resource, "baseUnit": "object", "displayUnit": "object", "unitConversionFactor": 1,
        "claimingResources": [{"apiGroup": group, "kind": kind}]}});
    make(client, &format!("{QUOTA}/resourceregistrations"), &registration).await;
    let policy = json!({"metadata": {"name": kind.to_lowercase()}, "spec": {
        "trigger": {"resource": {"apiVersion": api_version, "kind": kind}}, "whenExceeded": when_exceeded,
        "target": {"resourceClaimTemplate": {"spec": {"requests": [{"resourceType": resource, "amount": 1}]}}}}});
    make(client, &format!("{QUOTA}/claimcreationpolicies"), &policy).await;
}

fn grant(name: &str, resource: &str, amount: usize) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "consumerRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": "Project", "name": "acme"},
        "allowances": [{"resourceType": resource, "buckets": [{"amount": amount}]}]}})
}

/// Runs so many of something, some at once.
async fn all<F: Future<Output = ()> + Send + 'static>(
    client: &Client,
    many: usize,
    one: impl Fn(Client, usize) -> F,
) {
    let clients: Vec<Client> = (0..AT_ONCE).map(|_| client.apart()).collect();
    let mut running: JoinSet<()> = JoinSet::new();
    for number in 0..many {
        if running.len() >= AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(one(clients[number % AT_ONCE].clone(), number));
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

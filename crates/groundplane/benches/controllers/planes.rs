//! A controller on a kind that every one of many projects has: what each costs, in memory and while nothing happens.

use std::time::Duration;

use serde_json::json;
use testbed::bench::machine;
use testbed::server::{Client, Server};
use tokio::task::JoinSet;

use crate::GROUNDPLANE;
use crate::queues::empty;
use crate::report::Report;

const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
const AT_ONCE: usize = 32;
/// Housekeeping of the store comes every ten seconds: the first one after the last write thins out history, once.
const HOUSEKEEPING: Duration = Duration::from_secs(12);
const QUIET: Duration = Duration::from_secs(20);

pub async fn measure(projects: usize, report: &mut Report) {
    let without =
        memory_with(projects, &["--audit-log", "none", "--controllers=*,-iam-controller"], None).await;
    let with = memory_with(projects, &["--audit-log", "none"], Some(report)).await;
    let each = with.saturating_sub(without) as f64 / 1024.0 / projects as f64;
    report.line("memory of the controller for each project with an object", each, "KiB", Some(5.0));
}

/// Resident bytes of a server with so many projects, each with a role that the IAM controller reconciles.
async fn memory_with(projects: usize, arguments: &[&str], report: Option<&mut Report>) -> u64 {
    let server = Server::fresh(GROUNDPLANE, arguments).unwrap();
    let process = server.pid().to_string();
    let client = server.client();
    all(&client, projects, |client, number| async move {
        let project = json!({
            "apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project", "metadata": {"name": format!("p{number}")},
        });
        let made = client.post(PROJECTS, &project).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
        let role = json!({
            "apiVersion": "iam.miloapis.com/v1alpha1", "kind": "Role",
            "metadata": {"name": "reader", "namespace": "default"},
            "spec": {"launchStage": "Stable", "includedPermissions": ["core.miloapis.com/configmaps.get"]},
        });
        let path = format!("{PROJECTS}/p{number}/control-plane/apis/iam.miloapis.com/v1alpha1/namespaces/default/roles");
        let made = client.post(&path, &role).await.unwrap();
        assert_eq!(made.code, 201, "{}", made.text());
    })
    .await;
    empty(&client).await;
    let memory = machine::memory_of(&process, "VmRSS:").unwrap();
    if let Some(report) = report {
        let first = cpu_during(&process, HOUSEKEEPING).await;
        report.line("CPU in the first 12 s after the last write", first, "% of a core", None);
        let later = cpu_during(&process, QUIET).await;
        report.line("CPU with all of them idle", later, "% of a core", Some(0.5));
    }
    memory
}

/// The share of a core that a process uses, in percent.
async fn cpu_during(process: &str, time: Duration) -> f64 {
    let before = machine::cpu_of(process).unwrap();
    tokio::time::sleep(time).await;
    let used = machine::cpu_of(process).unwrap() - before;
    used.as_secs_f64() / time.as_secs_f64() * 100.0
}

async fn all<F: Future<Output = ()> + Send + 'static>(
    client: &Client,
    many: usize,
    one: impl Fn(Client, usize) -> F,
) {
    let mut running: JoinSet<()> = JoinSet::new();
    for number in 0..many {
        if running.len() >= AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(one(client.clone(), number));
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

//! Ten thousand projects, each with a control plane of its own.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::server::Server;
use tokio::task::JoinSet;

use crate::report::Report;
use crate::{Arguments, GROUNDPLANE};

const PROJECTS: &str = "/apis/resourcemanager.miloapis.com/v1alpha1/projects";
const AT_ONCE: usize = 32;

pub async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let planes = arguments.scaled(10_000);
    let before = server.memory();
    let begun = Instant::now();
    all(&server, planes, |client, number| async move {
        let project = json!({
            "apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project", "metadata": {"name": format!("p{number}")},
        });
        client.post(PROJECTS, &project).await.unwrap().code == 201
    })
    .await;
    report.time("making 10,000 planes", begun.elapsed(), Some(Duration::from_secs(60)));
    let idle = server.memory() - before;
    report.line("memory of one idle plane", idle as f64 * 1024.0 / planes as f64, "KiB", Some(50.0));
    let begun = Instant::now();
    all(&server, planes, |client, number| async move {
        let namespaces = format!("{PROJECTS}/p{number}/control-plane/api/v1/namespaces");
        client.get(&namespaces).await.unwrap().code == 200
    })
    .await;
    report.time("the first request in each", begun.elapsed(), None);
    let used = server.memory();
    report.line(
        "memory of one that was used",
        (used - before) as f64 * 1024.0 / planes as f64,
        "KiB",
        Some(50.0),
    );
    report.line("memory of the server in all", used as f64, "MiB", Some(500.0));
}

async fn all<F: Future<Output = bool> + Send + 'static>(
    server: &Server,
    many: usize,
    one: impl Fn(testbed::server::Client, usize) -> F,
) {
    let mut running: JoinSet<bool> = JoinSet::new();
    let client = server.client();
    for number in 0..many {
        if running.len() >= AT_ONCE {
            assert!(running.join_next().await.unwrap().unwrap());
        }
        running.spawn(one(client.clone(), number));
    }
    while let Some(well) = running.join_next().await {
        assert!(well.unwrap());
    }
}

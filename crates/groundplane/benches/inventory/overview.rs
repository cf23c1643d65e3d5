//! What an overview of the whole inventory costs: `summary` and `tree`, asked by an administrator and by someone who may
//! not read everything.

use std::time::{Duration, Instant};

use serde_json::json;
use testbed::bench::machine;
use testbed::server::{Client, Server};

use crate::fleet::{Fleet, ROOT};
use crate::report::{Report, median};

const FLOOR: Duration = Duration::from_millis(20);
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// The questions, and whether there is a floor for them.
const QUESTIONS: [(&str, &str); 5] = [
    ("summary", "regions/-/summary"),
    ("summary, as text", "regions/-/summary?output=text"),
    ("tree", "regions/-/tree"),
    ("tree, as text", "regions/-/tree?output=text"),
    ("tree of one region", "regions/eu-central/tree"),
];

/// Measures a fleet that was just written: no label is set yet.
pub async fn measure(fleet: &Fleet, server: &Server, times: usize, report: &mut Report) {
    let client = server.client();
    report.line("objects", fleet.objects as f64, "", None);
    for (what, path) in QUESTIONS {
        let (taken, cpu) = asked(path, &client, server, times).await;
        report.time(&format!("{what}, over HTTPS"), taken, None);
        report.time(&format!("{what}, CPU of the server"), cpu, Some(FLOOR));
    }
    let restricted = restricted(&client).await;
    for (what, path) in QUESTIONS.into_iter().filter(|(what, _)| !what.contains("text")) {
        let (taken, cpu) = asked(path, &restricted, server, times).await;
        report.time(
            &format!("{what}, of a user who may read sites and a few racks, over HTTPS"),
            taken,
            None,
        );
        report.time(&format!("{what}, of that user, CPU of the server"), cpu, None);
    }
}

async fn asked(path: &str, client: &Client, server: &Server, times: usize) -> (Duration, Duration) {
    let process = server.pid().to_string();
    let path = format!("{ROOT}/{path}");
    let before = machine::cpu_of(&process).unwrap();
    let mut taken = Vec::new();
    for _ in 0..times.max(1) {
        let begun = Instant::now();
        let answer = client.get(&path).await.unwrap();
        taken.push(begun.elapsed());
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
    }
    let cpu = machine::cpu_of(&process).unwrap() - before;
    (median(taken), cpu / u32::try_from(times.max(1)).unwrap())
}

/// A client of a user who may read regions, sites and two racks, and ask for overviews.
async fn restricted(client: &Client) -> Client {
    let group = "inventory.miloapis.com";
    let read = |resources: &[&str], names: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": ["get"], "resourceNames": names});
    let rules = [
        read(&["regions", "sites", "regions/summary", "regions/tree"], &[]),
        read(&["racks"], &["fra1-a01", "fra1-a02"]),
    ];
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "overview"}, "rules": rules});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "overview"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "overview"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "visitor"}]});
    for (plural, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
        let answer = client.post(&format!("{RBAC}/{plural}"), &object).await.unwrap();
        assert_eq!(answer.code, 201, "{}", answer.text());
    }
    client.apart().with("impersonate-user", "visitor")
}

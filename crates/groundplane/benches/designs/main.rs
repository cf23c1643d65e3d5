//! What questions about the design of a large site cost a running server: the second part of `cargo xtask bench design`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod report;
#[path = "../../../design/benches/design/site.rs"]
mod site;

use std::process::Command;
use std::time::{Duration, Instant};

use clap::Parser;
use report::{Report, median};
use serde_json::json;
use testbed::bench::machine;
use testbed::server::{Client, Server};

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const NAMESPACE: &str = "/apis/design.groundplane.dev/v1alpha1/namespaces/site";

/// Measures questions about the design of a site on a server.
#[derive(Parser)]
#[command(name = "cargo xtask bench design")]
struct Arguments {
    /// Nodes of the site.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    nodes: usize,

    /// How often each question is asked.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    times: usize,

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
    let mut report = Report::default();
    measure(&arguments, &mut report).await;
    println!("\nThe design of {} nodes on a server\n\n{}", arguments.nodes, report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

async fn measure(arguments: &Arguments, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let meter = Meter { client: server.client(), process: server.pid().to_string() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("site.yaml");
    std::fs::write(&file, site::site(arguments.nodes, "jammy")).unwrap();
    let begun = Instant::now();
    let imported = Command::new(GROUNDPLANE)
        .args(["design", "import", "-n", "site", "--create-namespace", "-m", "first"])
        .arg(&file)
        .env("KUBECONFIG", server.kubeconfig())
        .output()
        .unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    report.time("import, with what it reaches", begun.elapsed(), None);
    let cpu = meter.settled().await;
    report.time("CPU of the server until the import is compiled", cpu, None);

    let node = |number: usize| format!("{NAMESPACE}/designs/site/effective?node=node{number}");
    let (taken, each) = meter.asked(arguments.times, |time| node(time * 37 % arguments.nodes)).await;
    report.time("one node, asked over HTTPS", taken, None);
    report.time("one node, CPU of the server", each, Some(Duration::from_millis(5)));

    let before = machine::cpu_of(&meter.process).unwrap();
    let mut taken = Vec::new();
    for change in 0..10 {
        let body = json!({"spec": {"metadata": {"rack": format!("moved{change}")}}});
        let path = format!("{NAMESPACE}/baremetalnodes/node{change}");
        let answer = meter.client.merge(&path, &body).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
        let begun = Instant::now();
        let answer = meter.client.get(&node(change)).await.unwrap();
        assert!(answer.text().contains(&format!("moved{change}")), "the change counts at once");
        taken.push(begun.elapsed());
    }
    report.time("the node that was changed just before, asked over HTTPS", median(taken), None);
    meter.settled().await;
    let cpu = (machine::cpu_of(&meter.process).unwrap() - before) / 10;
    report.time("CPU for a change: write, question, controllers", cpu, None);

    let before = (machine::cpu_of(&meter.process).unwrap(), meter.most_memory());
    let begun = Instant::now();
    let answer = meter.client.get(&format!("{NAMESPACE}/designs/site/effective")).await.unwrap();
    assert_eq!(answer.code, 200);
    report.time("all nodes as JSON", begun.elapsed(), None);
    report.time("all nodes, CPU of the server", machine::cpu_of(&meter.process).unwrap() - before.0, None);
    report.line("size of that answer", answer.text().len() as f64 / 1e6, "MB", None);
    report.line("memory before it, at most", before.1, "MiB", None);
    report.line("what it added to that", meter.most_memory() - before.1, "MiB", Some(100.0));
}

struct Meter {
    client: Client,
    process: String,
}

impl Meter {
    /// The median time of a question, and the CPU that each took.
    async fn asked(&self, times: usize, path: impl Fn(usize) -> String) -> (Duration, Duration) {
        let before = machine::cpu_of(&self.process).unwrap();
        let mut taken = Vec::new();
        for time in 0..times {
            let begun = Instant::now();
            let answer = self.client.get(&path(time)).await.unwrap();
            assert_eq!(answer.code, 200, "{}", answer.text());
            taken.push(begun.elapsed());
        }
        let cpu = machine::cpu_of(&self.process).unwrap() - before;
        (median(taken), cpu / u32::try_from(times.max(1)).unwrap())
    }

    /// Waits until the server has nothing to do; gives all the CPU that it has taken since its start.
    async fn settled(&self) -> Duration {
        let cpu = || machine::cpu_of(&self.process).unwrap();
        let mut last = cpu();
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = cpu();
            if now - last <= Duration::from_millis(20) {
                return now;
            }
            last = now;
        }
    }

    fn most_memory(&self) -> f64 {
        machine::memory_of(&self.process, "VmHWM:").unwrap() as f64 / f64::from(1 << 20)
    }
}

//! Hosts from a source: `cargo xtask bench sources`.
//!
//! The synchronizer runs in this process, with an adapter that makes hosts up; the server is the real one.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod report;

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use client::{Access, Client, Overrides, Retries};
use fulfillment::kinds::hardware::{Cpu, Hardware, Nic};
use report::Report;
use sources::adapter::{Adapter, Capabilities, Change, Changes, Fault, Later, Page, Probe};
use sources::observation::{ClassRecord, HostRecord};
use sources::runner::{Metrics, Settings, run};
use testbed::server::Server;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
/// Hosts on a page.
const PAGE: usize = 1000;

/// Measures the first list of a source, a second one, changes that it tells of, and the memory of the synchronizer.
#[derive(Parser)]
#[command(name = "cargo xtask bench sources")]
struct Arguments {
    /// How many hosts the source has.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    hosts: usize,

    /// How many changes are timed.
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    events: usize,

    /// Fails when a floor is missed.
    #[arg(long)]
    check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A system with made-up hosts.
struct Fleet {
    hosts: usize,
    /// The host that was changed last, and its title.
    changed: std::sync::Mutex<(usize, String)>,
    told: Mutex<Option<mpsc::Receiver<Change>>>,
    /// Whether changes are told of.
    tells: bool,
}

impl Fleet {
    fn host(&self, number: usize) -> HostRecord {
        let (high, low) = (number / 256, number % 256);
        let mac = format!("52:54:{:02x}:{:02x}:{:02x}:00", high / 256, high % 256, low);
        let changed = self.changed.lock().unwrap();
        let title = if changed.0 == number { changed.1.clone() } else { "A host".to_owned() };
        HostRecord {
            id: format!("host-{number:06}"),
            name: format!("node{number:06}"),
            class: Some("standard".to_owned()),
            rack: Some(format!("rack-{}", number / 40)),
            boot_mac: Some(mac.clone()),
            title: Some(title),
            hardware: Some(Hardware {
                serial: Some(format!("SN{number:06}")),
                cpus: vec![Cpu {
                    model: None,
                    architecture: Some("amd64".to_owned()),
                    cores: 64,
                    threads: None,
                }],
                memory_bytes: Some(1 << 40),
                nics: vec![Nic { name: "eth0".to_owned(), mac: Some(mac), speed_bps: None }],
                ..Hardware::default()
            }),
            ..HostRecord::default()
        }
    }

    fn list(&self, after: Option<&str>) -> Result<Page, Fault> {
        let first: usize = after.and_then(|after| after.parse().ok()).unwrap_or(0);
        let end = self.hosts.min(first + PAGE);
        let class =
            ClassRecord { id: "standard".to_owned(), name: "standard".to_owned(), ..ClassRecord::default() };
        Ok(Page {
            classes: vec![class],
            hosts: (first..end).map(|number| self.host(number)).collect(),
            next: (end < self.hosts).then(|| end.to_string()),
            ..Page::default()
        })
    }
}

impl Adapter for Fleet {
    fn capabilities(&self) -> Capabilities {
        Capabilities { has_events: self.tells, has_webhook: false, fetches_one: true }
    }

    fn page<'a>(&'a self, after: Option<&'a str>) -> Later<'a, Page> {
        Box::pin(async move { self.list(after) })
    }

    fn fetch<'a>(&'a self, id: &'a str) -> Later<'a, Option<HostRecord>> {
        let number = id.trim_start_matches("host-").parse().unwrap_or(0);
        Box::pin(async move { Ok(Some(self.host(number))) })
    }

    fn changes(&self) -> Option<Changes> {
        let told = self.told.try_lock().ok()?.take()?;
        Some(Box::pin(futures_util::stream::unfold(told, async |mut told| {
            let change = told.recv().await?;
            Some((Ok(change), told))
        })))
    }

    fn probe(&self) -> Later<'_, Probe> {
        Box::pin(async { Ok(Probe { version: "bench".to_owned(), warnings: Vec::new() }) })
    }
}

/// One look at the source, by a synchronizer that begins with nothing.
async fn look(client: &Client, fleet: &Arc<Fleet>) -> (Duration, usize) {
    let begun = Instant::now();
    let ended =
        run(client, settings(fleet, true), Arc::new(Metrics::new("bench")), CancellationToken::new()).await;
    (begun.elapsed(), ended.unwrap().unwrap().written)
}

fn settings(fleet: &Arc<Fleet>, once: bool) -> Settings {
    Settings {
        name: "bench".to_owned(),
        adapter: Some(fleet.clone()),
        credentials: Default::default(),
        told: None,
        once,
        endpoint: None,
        interval: None,
    }
}

/// Memory that this process holds, in bytes.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    held.and_then(|held| held.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

async fn count(administrator: &Client, path: &str) -> usize {
    let list = administrator.value(&client::Request::get(format!("{path}?limit=1"))).await.unwrap();
    let rest = list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0);
    usize::try_from(rest).unwrap() + list["items"].as_array().map_or(0, Vec::len)
}

/// Whether every host has found its Node.
async fn are_joined(administrator: &Client) -> bool {
    let hosts = administrator.resource("fulfillment.groundplane.dev/v1alpha1", "hosts");
    let mut pages = hosts.list(client::ListOptions { page: Some(PAGE), ..Default::default() });
    while let Some(page) = pages.next().await.unwrap() {
        if page.items.iter().any(|host| host.at("status.node.name").is_none()) {
            return false;
        }
    }
    true
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let access = |path: std::path::PathBuf| async move {
        let overrides = Overrides { kubeconfig: Some(path), ..Overrides::default() };
        Client::new(Access::load(&overrides).await.unwrap()).unwrap().with_retries(Retries::when_busy())
    };
    let administrator = access(server.kubeconfig().to_owned()).await;
    let place = "apiVersion: inventory.miloapis.com/v1alpha1\nkind: Region\nmetadata: {name: eu}\n\
                 spec: {displayName: Europe}\n---\napiVersion: inventory.miloapis.com/v1alpha1\nkind: Site\n\
                 metadata: {name: fra1}\nspec: {regionRef: {name: eu}, displayName: Frankfurt, type: Datacenter}\n";
    std::fs::write(folder.path().join("site.yaml"), place).unwrap();
    let add = "source add bench --adapter custom --endpoint bench --inventory create --site fra1";
    for line in ["apply -f site.yaml", add] {
        let ended = Command::new(GROUNDPLANE)
            .args(line.split(' '))
            .env("KUBECONFIG", server.kubeconfig())
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    }
    let client = access(folder.path().join("bench.kubeconfig")).await;
    let (sender, told) = mpsc::channel(16);
    let fleet = Arc::new(Fleet {
        hosts: arguments.hosts,
        changed: std::sync::Mutex::new((usize::MAX, String::new())),
        told: Mutex::new(None),
        tells: true,
    });
    let mut report = Report::default();
    let all = arguments.hosts;

    let begun = Instant::now();
    let (took, written) = look(&client, &fleet).await;
    assert_eq!(written, all + 1, "every host and the class");
    report.line(&format!("first list of {all} hosts written"), took.as_secs_f64(), "s", None);
    let nodes = "/apis/inventory.miloapis.com/v1alpha1/nodes";
    let ports = "/apis/inventory.miloapis.com/v1alpha1/ports";
    while count(&administrator, nodes).await < all || count(&administrator, ports).await < all {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(begun.elapsed() < Duration::from_secs(3600), "the nodes are not made");
    }
    let name = format!("{all} hosts with their nodes and ports");
    report.line(&name, begun.elapsed().as_secs_f64(), "s", Some(120.0));
    while !are_joined(&administrator).await {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(begun.elapsed() < Duration::from_secs(3600), "the hosts are not joined");
    }
    report.line("all hosts joined to their nodes", begun.elapsed().as_secs_f64(), "s", Some(600.0));

    let before = memory();
    let (took, written) = look(&client, &fleet).await;
    assert_eq!(written, 0, "a second list writes nothing");
    report.line(&format!("second list of {all} hosts, 0 writes"), took.as_secs_f64(), "s", Some(10.0));
    // The observations themselves are about as large as their text.
    let observed: usize = (0..all.min(1000)).map(|number| format!("{:?}", fleet.host(number)).len()).sum();
    let each = (memory() - before) / all as f64 - observed as f64 / all.min(1000) as f64;
    report.line("memory for each host over its observation", each.max(0.0), "bytes", Some(1024.0));

    *fleet.told.lock().await = Some(told);
    let stop = CancellationToken::new();
    let running = {
        let (client, fleet, stop) = (client.clone(), fleet.clone(), stop.clone());
        tokio::spawn(async move {
            run(&client, settings(&fleet, false), Arc::new(Metrics::new("bench")), stop).await
        })
    };
    let hosts = administrator.resource("fulfillment.groundplane.dev/v1alpha1", "hosts");
    let mut latencies = Vec::new();
    for event in 0..arguments.events + 1 {
        let (number, title) = (event % all, format!("changed {event}"));
        *fleet.changed.lock().unwrap() = (number, title.clone());
        let begun = Instant::now();
        sender.send(Change::Host(format!("host-{number:06}"))).await.unwrap();
        loop {
            let host = hosts.get(&format!("host-{number:06}")).await.unwrap();
            if host.at("spec.title").and_then(|title| title.as_str()) == Some(&title) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        latencies.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    // The first one waited for the list at the start.
    latencies.remove(0);
    latencies.sort_by(f64::total_cmp);
    report.line("a change until it is visible, p50", latencies[latencies.len() / 2], "ms", Some(50.0));
    stop.cancel();
    let _ = running.await;
    println!("{}", report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

//! What pages of the portal cost on a large fleet: `cargo xtask bench portal`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

#[path = "../inventory/fleet.rs"]
#[allow(dead_code, reason = "the bench of the inventory uses all of it")]
mod fleet;
#[path = "../time/report.rs"]
#[allow(dead_code, reason = "other benches use all of it")]
mod report;

use std::time::{Duration, Instant};

use clap::Parser;
use http::Method;
use report::Report;
use serde_json::json;
use testbed::server::{Client, Server};

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
const NODES: &str = "/ui/o/-/inventory.miloapis.com/nodes";
const PORTS: &str = "/ui/o/-/inventory.miloapis.com/ports";

/// Measures the time of pages, their weight, and what open live pages cost.
#[derive(Parser)]
#[command(name = "cargo xtask bench portal")]
struct Arguments {
    /// About how many objects.
    #[arg(long, value_name = "NUMBER", default_value_t = 200_000)]
    size: u32,

    /// How often each page is asked for.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    times: usize,

    /// How many live pages are open at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    open: usize,

    /// How many seconds they are idle.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    idle: u64,

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
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let fleet = fleet::Fleet::of_about(arguments.size);
    fleet.load(&client).await;
    fleet::settled(&client).await;
    report.line("objects", fleet.objects as f64, "", None);
    let viewer = signed_in(&client).await;
    pages(&viewer, arguments.times, &mut report).await;
    live(&server, &viewer, &arguments, &mut report).await;
    println!("\nThe portal over about {} objects\n\n{}", arguments.size, report.table());
    match arguments.check && !report.keeps_floors() {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

/// Signs in with a one-time link, as a browser does.
async fn signed_in(client: &Client) -> Client {
    let made = client.post("/ui/links", &json!({})).await.unwrap().json();
    let code = made["path"].as_str().unwrap().split_once("code=").unwrap().1.to_owned();
    let form = "application/x-www-form-urlencoded";
    let stranger = client.stranger();
    let answer = stranger.send(Method::POST, "/ui/sign-in", form, format!("code={code}")).await.unwrap();
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    stranger.with("cookie", cookie.split(';').next().unwrap())
}

async fn pages(viewer: &Client, times: usize, report: &mut Report) {
    let past = viewer.get(&format!("{NODES}/-/fra1-a01-node01")).await.unwrap();
    assert_eq!(past.code, 200, "{}", past.text());
    let now = Duration::from_millis(50);
    let then = Duration::from_millis(500);
    let as_of = {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        krm::time::Moment::of_seconds(time.as_secs() as i64 - 2).to_string()
    };
    for (what, path, floor) in [
        ("home", "/ui/".to_owned(), now),
        ("a list of nodes", NODES.to_owned(), now),
        ("a list of ports", PORTS.to_owned(), now),
        ("a list by field", format!("{NODES}?fields=spec.siteRef.name%3Dfra1"), now),
        ("a list by text", format!("{NODES}?text=fra1-a01"), now),
        ("an object", format!("{NODES}/-/fra1-a01-node01"), now),
        ("its relations", format!("{NODES}/-/fra1-a01-node01?tab=relations"), now),
        ("its history", format!("{NODES}/-/fra1-a01-node01?tab=history"), now),
        ("a rack", "/ui/racks/fra1-a01".to_owned(), now),
        ("a site", "/ui/sites/fra1".to_owned(), now),
        ("a trace", "/ui/trace/fra1-a01-leaf1-up1".to_owned(), now),
        ("impact of a switch", "/ui/impact/networkdevices/fra1-a01-leaf1".to_owned(), now),
        ("search", "/ui/search?q=fra1-a01".to_owned(), now),
        ("the past of an object", format!("{NODES}/-/fra1-a01-node01?asOf={as_of}"), then),
        ("the past of a list", format!("{NODES}?asOf={as_of}"), then),
        ("the past of a rack", format!("/ui/racks/fra1-a01?asOf={as_of}"), then),
    ] {
        let mut taken = Vec::new();
        let mut weight = 0;
        for time in 0..=times.max(1) {
            let begun = Instant::now();
            let answer = viewer.get(&path).await.unwrap();
            assert_eq!(answer.code, 200, "{path}: {}", answer.text());
            weight = answer.body.len();
            // The first request fills what is kept.
            if time > 0 {
                taken.push(begun.elapsed());
            }
        }
        taken.sort_unstable();
        let slow = taken[(taken.len() * 95 / 100).min(taken.len() - 1)];
        report.time(&format!("{what}: 95 of 100 within"), slow, Some(floor));
        report.line(&format!("{what}: weight"), weight as f64 / 1024.0, "KiB", Some(150.0));
    }
}

/// Memory and time of the server while many pages are open and nothing changes.
async fn live(server: &Server, viewer: &Client, arguments: &Arguments, report: &mut Report) {
    let page = viewer.get("/ui/racks/fra1-a01").await.unwrap().text();
    let address = page.split("data-live=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let before = server.memory();
    let mut open = Vec::new();
    for _ in 0..arguments.open {
        open.push(viewer.watch(&address).await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let busy = cpu(server.pid());
    tokio::time::sleep(Duration::from_secs(arguments.idle)).await;
    let used = (cpu(server.pid()) - busy) as f64 / arguments.idle as f64;
    report.line(&format!("{} open pages: share of a core", open.len()), used, "%", Some(20.0));
    let more = server.memory().saturating_sub(before);
    report.line(&format!("{} open pages: memory", open.len()), more as f64, "MiB", Some(1024.0));
}

/// The time of a process so far, in hundredths of a second.
fn cpu(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    ticks(11) + ticks(12)
}

//! What a large inventory costs: `cargo xtask bench inventory`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod asking;
mod fleet;
mod overview;
mod relabel;
#[path = "../time/report.rs"]
mod report;

use std::time::{Duration, Instant};

use clap::Parser;
use report::Report;
use testbed::server::Server;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// So many racks are looked through for space.
const RACKS: u32 = 5_000;

/// Measures questions, lists, labels, memory and restart of inventories of several sizes.
#[derive(Parser)]
#[command(name = "cargo xtask bench inventory")]
struct Arguments {
    /// About how many objects; may be given several times. 10,000 and 200,000 unless said.
    #[arg(long, value_name = "NUMBER")]
    size: Vec<u32>,

    /// How often each question is asked.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    times: usize,

    /// Only these parts: everything, overview. Both unless said; the overview runs without controllers.
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
    let sizes = match arguments.size.is_empty() {
        true => vec![10_000, 200_000],
        false => arguments.size.clone(),
    };
    let wanted = |part: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == part);
    let mut keeps_floors = true;
    for size in sizes {
        let mut report = Report::default();
        if wanted("everything") {
            measure(size, arguments.times, &mut report).await;
        }
        if wanted("overview") {
            overview(size, arguments.times, &mut report).await;
        }
        println!("\nAn inventory of about {size} objects\n\n{}", report.table());
        keeps_floors &= report.keeps_floors();
    }
    match arguments.check && !keeps_floors {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

/// A fleet that was just written, before any label is set.
async fn overview(size: u32, times: usize, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none", "--controllers", "none"]).unwrap();
    let fleet = fleet::Fleet::of_about(size);
    fleet.load(&server.client()).await;
    overview::measure(&fleet, &server, times, report).await;
}

async fn measure(size: u32, times: usize, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arguments = ["--audit-log", "none"];
    let server = Server::start(GROUNDPLANE, &data, &arguments).unwrap();
    let client = server.client();
    let fleet = fleet::Fleet::of_about(size);
    let begun = Instant::now();
    fleet.load(&client).await;
    let took = begun.elapsed();
    report.line("objects", fleet.objects as f64, "", None);
    report.line("written in one second", fleet.objects as f64 / took.as_secs_f64(), "objects", None);
    let begun = Instant::now();
    let settled = fleet::settled(&client).await;
    report.time("then until every label and condition is set", settled - begun, None);
    asking::measure(&fleet, &client, times, report).await;
    relabel::measure(&fleet, &client, report).await;
    report.line("memory", server.memory() as f64, "MiB", None);
    let each = (server.memory() << 20) as f64 / fleet.objects as f64;
    report.line("memory for each object", each, "bytes", None);
    let file: u64 = std::fs::read_dir(data.join("store"))
        .unwrap()
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .map(|about| about.len())
        .sum();
    report.line("on disk", file as f64 / 1e6, "MB", None);
    drop(client);
    server.stop();
    let begun = Instant::now();
    let server = Server::start(GROUNDPLANE, &data, &arguments).unwrap();
    report.time("restart until it is ready", begun.elapsed(), None);
    tokio::time::sleep(Duration::from_secs(1)).await;
    report.line("memory after it", server.memory() as f64, "MiB", None);
    let client = server.client();
    let racks = fleet.racks().max(RACKS);
    fleet.fill_up_to(racks, &client).await;
    fleet::settled(&client).await;
    asking::of_many_racks(racks, &client, times, report).await;
}

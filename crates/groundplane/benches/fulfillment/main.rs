//! The fulfillment API under load, beside PostgreSQL behind a minimal gRPC server: `cargo xtask bench fulfillment`.
//!
//! Both are driven by the same generator, which speaks gRPC over HTTP/2: ours over TLS, the peer without.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that can't go on ends, and tells what it found"
)]

mod events;
mod load;
mod peer;
mod rows;
mod wire;

use clap::Parser;
use testbed::server::Server;

use load::Figures;
use wire::Endpoint;

/// The binary that is measured.
const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
/// The word by which this bench is called to be the peer.
const PEER: &str = "__peer";

/// Measures Get, List, filtered List, Update and events.
#[derive(Parser)]
#[command(name = "cargo xtask bench fulfillment")]
struct Arguments {
    /// Hosts that are there.
    #[arg(long, value_name = "NUMBER", default_value_t = 50_000)]
    hosts: usize,

    /// Clients at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 16)]
    clients: usize,

    /// Watchers of events.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    watchers: usize,

    /// Seconds of each part.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    seconds: u64,

    /// Leave the peer out.
    #[arg(long)]
    without_peer: bool,

    /// Fails when a floor is missed.
    #[arg(long)]
    check: bool,

    /// What cargo says to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> std::process::ExitCode {
    let mut words = std::env::args().skip(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if words.next().as_deref() == Some(PEER) {
        runtime.block_on(peer::serve(&words.next().unwrap()));
        return std::process::ExitCode::SUCCESS;
    }
    runtime.block_on(measure(&Arguments::parse()))
}

async fn measure(arguments: &Arguments) -> std::process::ExitCode {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let ours = figures(&Endpoint::tls(server.client()), arguments, true).await;
    drop(server);
    let theirs = match arguments.without_peer {
        true => None,
        false => {
            let peer = peer::Peer::start().await;
            Some(figures(&Endpoint::plain(peer.address()), arguments, false).await)
        }
    };
    let (table, holds) = load::table(&ours, theirs.as_ref());
    println!("{table}");
    match arguments.check && !holds {
        true => std::process::ExitCode::FAILURE,
        false => std::process::ExitCode::SUCCESS,
    }
}

async fn figures(endpoint: &Endpoint, arguments: &Arguments, has_classes: bool) -> Figures {
    let loaded = rows::load(endpoint, arguments.hosts, has_classes).await;
    eprintln!("{} hosts created, {loaded:.0} a second", arguments.hosts);
    let mut figures = Figures { create: loaded, ..Figures::default() };
    let (clients, seconds, hosts) = (arguments.clients, arguments.seconds, arguments.hosts);
    figures.get = load::run(endpoint, clients, seconds, move |number| rows::get(number, hosts)).await;
    eprintln!("get: {}", figures.get);
    figures.list = load::run(endpoint, clients, seconds, move |number| rows::list(number, hosts)).await;
    eprintln!("list of 100: {}", figures.list);
    figures.filtered = load::run(endpoint, 1, seconds, move |number| rows::filtered(number, hosts)).await;
    eprintln!("filtered list: {}", figures.filtered);
    figures.update = load::run(endpoint, clients, seconds, move |number| rows::update(number, hosts)).await;
    eprintln!("update: {}", figures.update);
    figures.events = events::measure(endpoint, arguments.watchers, hosts).await;
    eprintln!("events: {}", figures.events);
    figures
}

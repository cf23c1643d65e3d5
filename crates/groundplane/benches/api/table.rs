//! One table of all operations: ours, the peer's, and how many times better.

use testbed::bench::report::{Cell, Table};

use crate::crowd::Measured;
use crate::peer::{Measure, Peer};

/// An empty table of operations.
pub fn operations(name: &'static str, title: &'static str) -> Table {
    Table::new(
        name,
        title,
        &[
            "operation",
            "load",
            "per s",
            "p50 ms",
            "p99 ms",
            "CPU ms",
            "client's",
            "peer's per s",
            "peer's p50",
            "peer's CPU",
            "CPU: peer/ours",
            "ours/peer",
        ],
    )
}

/// A line of it. The peer's figures are those of 50,000 objects; with fewer, `like` is false and nothing is compared.
pub fn row(operation: &str, measured: &mut Measured, peer: Peer, like: bool) -> Vec<Cell> {
    let (per_second, p50) = (measured.per_second(), measured.latency(0.5));
    let cpu = measured.cpu_each();
    let digits = |value: f64| if value < 10.0 { 3 } else { 1 };
    let ratio = match peer.measure {
        Measure::Rate => per_second / peer.per_second.unwrap_or(per_second),
        Measure::Latency => peer.p50 / p50,
    };
    let ratio = match peer.floor {
        Some(floor) => Cell::at_least(ratio, floor),
        None => Cell::text(format!("{ratio:.1}×")),
    };
    let cheaper = peer.cpu.zip(cpu).map(|(peer, ours)| format!("{:.0}×", peer / ours));
    let number = |value: Option<f64>| value.map_or(Cell::Empty, |value| Cell::number(value, digits(value)));
    vec![
        Cell::text(operation),
        Cell::text(testbed::bench::machine::load()),
        Cell::number(per_second, if per_second < 100.0 { 1 } else { 0 }),
        Cell::number(p50, digits(p50)),
        Cell::number(measured.latency(0.99), digits(p50)),
        number(cpu),
        Cell::number(measured.own_cpu_each(), digits(measured.own_cpu_each())),
        peer.per_second.map_or(Cell::Empty, |value| Cell::number(value, 0)),
        Cell::number(peer.p50, if peer.p50 < 10.0 { 1 } else { 0 }),
        peer.cpu.map_or(Cell::Empty, |value| Cell::number(value, if value < 10.0 { 2 } else { 0 })),
        if like { cheaper.map_or(Cell::Empty, Cell::text) } else { Cell::Empty },
        if like { ratio } else { Cell::Empty },
    ]
}

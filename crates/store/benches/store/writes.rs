//! Durable writes: how many, how long each takes, and what it costs.

use std::time::Duration;

use crate::load::{Kind, Measured};
use crate::options::Options;
use crate::stage::Stage;
use crate::{Outcome, machine};
use testbed::bench::report::{Cell, Table};

/// CPU of a write, in those of bare redb.
const FLOOR: f64 = 1.5;

pub async fn measure(stage: &Stage, options: &Options) -> Outcome<Table> {
    let mut table = Table::new(
        "writes",
        "Durable writes of 1.4 KB objects",
        &[
            "load",
            "engine",
            "writes/s",
            "p50 ms",
            "p99 ms",
            "CPU µs/write",
            "of that tidying",
            "CPU: ours/bare",
        ],
    );
    for kind in [Kind::Update, Kind::Create] {
        for &writers in &options.writers {
            let (mut ours, mut bare) = (Measured::default(), Measured::default());
            let mut tidying = 0.0;
            for _ in 0..options.rounds() {
                ours.add(stage.ours.load(kind, writers, options.turn()).await?);
                let tidied = tidy(stage).await?;
                // What has to be tidied up after the writes is part of their cost, but not of their pace.
                ours.cpu += tidied;
                tidying += tidied.as_micros() as f64;
                bare.add(stage.bare.load(kind, writers, options.turn()).await?);
            }
            let load = format!("{} by {writers}", if kind == Kind::Update { "update" } else { "create" });
            let ratio = ours.cpu_per_write() / bare.cpu_per_write();
            tidying /= ours.writes.max(1) as f64;
            table.row(row(&load, "ours", &mut ours, Cell::number(tidying, 1), Cell::at_most(ratio, FLOOR)));
            table.row(row(&load, "bare redb", &mut bare, Cell::Empty, Cell::Empty));
        }
    }
    table.note(
        "random updates over 50,000 objects; ours with full history, hash chain and a snapshot for readers. CPU of \
         the whole process, tidying (checkpoint, thinning out) included",
    );
    Ok(table)
}

/// Does what is due after the writes; the CPU it took.
async fn tidy(stage: &Stage) -> Outcome<Duration> {
    let cpu = machine::cpu()?;
    stage.ours.subject.store.tidy(None).await?;
    Ok(machine::cpu()?.saturating_sub(cpu))
}

fn row(load: &str, engine: &str, measured: &mut Measured, tidying: Cell, ratio: Cell) -> Vec<Cell> {
    vec![
        Cell::text(load),
        Cell::text(engine),
        Cell::number(measured.per_second(), 0),
        Cell::number(measured.latency(0.5), 2),
        Cell::number(measured.latency(0.99), 2),
        Cell::number(measured.cpu_per_write(), 1),
        tidying,
        ratio,
    ]
}

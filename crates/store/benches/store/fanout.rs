//! One change to 1,000 watchers: what it costs each, and when the last has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store::{Level, Store};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::load::{Filled, Subject};
use crate::objects::PREFIX;
use crate::options::Options;
use crate::ours::{self, Ours};
use crate::{Outcome, machine};
use testbed::bench::percentile;
use testbed::bench::report::{Cell, Table};

const WATCHERS: usize = 1_000;

pub async fn measure(options: &Options) -> Outcome<Table> {
    let folder = options.folder()?;
    let store = ours::embedded(folder.path(), options.cache()).await?;
    let filled = Filled::with(Ours::on(store.clone(), Level::Full), 1_000).await?;
    let changes = if options.quick { 300 } else { 1_500 };

    let alone = follow(&filled, &store, 0, changes).await?;
    let mut watched = follow(&filled, &store, WATCHERS, changes).await?;
    let events = (changes * WATCHERS) as f64;
    let cost = watched.cpu.saturating_sub(alone.cpu).as_nanos() as f64 / 1_000.0 / events;
    let mut table = Table::new(
        "watch",
        "One change after the other to 1,000 watchers of one prefix",
        &[
            "changes",
            "watchers",
            "CPU µs/event",
            "commit p50 ms",
            "sent → last p50 ms",
            "sent → last p99 ms",
            "durable → last p50 ms",
            "durable → last p99 ms",
        ],
    );
    table.row(vec![
        Cell::text(changes.to_string()),
        Cell::text(WATCHERS.to_string()),
        Cell::number(cost, 2),
        Cell::number(percentile(&mut watched.commits, 0.5) / 1_000.0, 2),
        Cell::number(percentile(&mut watched.sent_to_last, 0.5) / 1_000.0, 2),
        Cell::number(percentile(&mut watched.sent_to_last, 0.99) / 1_000.0, 2),
        Cell::number(percentile(&mut watched.durable_to_last, 0.5) / 1_000.0, 2),
        Cell::number(percentile(&mut watched.durable_to_last, 0.99) / 1_000.0, 2),
    ]);
    table.note("CPU: of the run with watchers less that of the same run without, for each event delivered");
    store.close().await?;
    Ok(table)
}

#[derive(Default)]
struct Followed {
    cpu: Duration,
    /// Microseconds each.
    commits: Vec<u32>,
    sent_to_last: Vec<u32>,
    durable_to_last: Vec<u32>,
}

/// How far the watchers have come.
#[derive(Default)]
struct Seen {
    events: AtomicUsize,
    expected: AtomicUsize,
    all: Notify,
}

async fn follow(
    filled: &Filled<Ours>,
    store: &Arc<dyn Store>,
    watchers: usize,
    changes: usize,
) -> Outcome<Followed> {
    let seen = Arc::new(Seen::default());
    let mut tasks = JoinSet::new();
    for _ in 0..watchers {
        let mut watch = store.watch(PREFIX, store.latest().version())?;
        let seen = seen.clone();
        tasks.spawn(async move {
            while let Ok(events) = watch.next().await {
                let now = seen.events.fetch_add(events.len(), Ordering::AcqRel) + events.len();
                if now == seen.expected.load(Ordering::Acquire) {
                    seen.all.notify_one();
                }
            }
        });
    }
    let mut followed = Followed::default();
    let cpu = machine::cpu()?;
    for change in 0..changes {
        seen.expected.store((change + 1) * watchers, Ordering::Release);
        let number = change % 1_000;
        // Never the bytes that are there already: nobody would hear of such a write.
        let body = filled.bodies.body(number, ((watchers + 1) * 1_000_000 + change) as u64);
        let sent = Instant::now();
        filled.subject.write(number, body).await?;
        let durable = Instant::now();
        if watchers > 0 {
            seen.all.notified().await;
        }
        followed.commits.push((durable - sent).as_micros() as u32);
        followed.sent_to_last.push(sent.elapsed().as_micros() as u32);
        followed.durable_to_last.push(durable.elapsed().as_micros() as u32);
    }
    followed.cpu = machine::cpu()?.saturating_sub(cpu);
    tasks.shutdown().await;
    Ok(followed)
}

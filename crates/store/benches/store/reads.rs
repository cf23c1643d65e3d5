//! Point reads of the current state, alone and beside writers.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store::Key;
use tokio::runtime::Handle;

use crate::Outcome;
use crate::load::{Filled, Kind, Subject};
use crate::objects::{self, Random};
use crate::options::Options;
use crate::stage::{OBJECTS, Stage};
use testbed::bench::report::{Cell, Table};

/// Writers beside the readers.
const WRITERS: usize = 16;

pub async fn measure(stage: &Stage, options: &Options) -> Outcome<Table> {
    let mut table = Table::new(
        "reads",
        "Point reads of 50,000 objects",
        &["load", "engine", "reads/s", "writes/s beside", "reads: ours/bare"],
    );
    let keys = (0..OBJECTS).map(|number| Key::new(objects::key(number))).collect::<Result<Vec<_>, _>>()?;
    let keys = Arc::new(keys);
    for writers in [0, WRITERS] {
        for threads in [1, 2] {
            let (mut ours, mut bare) = ((0.0, 0.0), (0.0, 0.0));
            let rounds = options.rounds() as f64;
            for _ in 0..options.rounds() {
                let store = stage.ours.subject.store.clone();
                let of = keys.clone();
                let get = move |at: usize| {
                    let snapshot = Handle::current().block_on(store.current())?;
                    let entry = snapshot.get(&of[at]).ok_or("an object is missing")?;
                    black_box((entry.bytes()[0], entry.bytes().len()));
                    Ok(())
                };
                add(&mut ours, beside(&stage.ours, writers, threads, options.turn(), get).await?, rounds);

                let (reader, of) = (stage.bare.clone(), keys.clone());
                let get = move |at: usize| {
                    black_box(reader.subject.get(of[at].as_bytes())?.ok_or("an object is missing")?);
                    Ok(())
                };
                add(&mut bare, beside(&stage.bare, writers, threads, options.turn(), get).await?, rounds);
            }
            let load = format!("threads {threads}, writers {writers}");
            let ratio = Cell::text(format!("{:.1}×", ours.0 / bare.0));
            table.row(row(&load, "ours", ours, ratio));
            table.row(row(&load, "bare redb", bare, Cell::Empty));
        }
    }
    table.note("ours: a current snapshot for each read; bare redb: a read transaction for each read");
    Ok(table)
}

fn row(load: &str, engine: &str, (reads, writes): (f64, f64), ratio: Cell) -> Vec<Cell> {
    vec![Cell::text(load), Cell::text(engine), Cell::number(reads, 0), Cell::number(writes, 0), ratio]
}

fn add(sum: &mut (f64, f64), measured: (f64, f64), rounds: f64) {
    sum.0 += measured.0 / rounds;
    sum.1 += measured.1 / rounds;
}

/// Reads and writes per second.
async fn beside<S: Subject>(
    filled: &Arc<Filled<S>>,
    writers: usize,
    threads: usize,
    time: Duration,
    get: impl Fn(usize) -> Outcome + Clone + Send + 'static,
) -> Outcome<(f64, f64)> {
    let stop = Arc::new(AtomicBool::new(false));
    let reads = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let readers: Vec<_> = (0..threads as u64)
        .map(|seed| {
            let (stop, reads, get) = (stop.clone(), reads.clone(), get.clone());
            tokio::task::spawn_blocking(move || -> Outcome {
                let mut random = Random(seed);
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..100 {
                        get(random.below(OBJECTS))?;
                    }
                    reads.fetch_add(100, Ordering::Relaxed);
                }
                Ok(())
            })
        })
        .collect();
    let writes = if writers > 0 {
        filled.load(Kind::Update, writers, time).await?.per_second()
    } else {
        tokio::time::sleep(time).await;
        0.0
    };
    stop.store(true, Ordering::Relaxed);
    let per_second = reads.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
    for reader in readers {
        reader.await??;
    }
    Ok((per_second, writes))
}

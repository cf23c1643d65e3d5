//! The load: writers that each wait for their write to be durable before the next.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testbed::bench::percentile;
use tokio::task::JoinSet;

use crate::objects::{Bodies, Random};
use crate::{Outcome, machine};

/// What is written to.
pub trait Subject: Send + Sync + 'static {
    /// Writes object `number` and returns once it is durable.
    fn write(&self, number: usize, body: Vec<u8>) -> impl Future<Output = Outcome> + Send;
}

/// A subject, and the objects in it.
pub struct Filled<S> {
    pub subject: S,
    pub bodies: Bodies,
    /// Objects `0 .. count` are there.
    count: AtomicUsize,
    turns: AtomicUsize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Update,
    Create,
}

/// What a load came to.
#[derive(Default)]
pub struct Measured {
    pub writes: usize,
    pub wall: Duration,
    pub cpu: Duration,
    /// Microseconds.
    latencies: Vec<u32>,
}

/// Writers of the first filling: as many as one group commit takes well.
const FILLERS: usize = 512;

impl<S: Subject> Filled<S> {
    /// Fills an empty subject with `count` objects.
    pub async fn with(subject: S, count: usize) -> Outcome<Arc<Filled<S>>> {
        let (turns, zero) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let filled = Arc::new(Filled { subject, bodies: Bodies::new(), count: zero, turns });
        let mut fillers = JoinSet::new();
        for _ in 0..FILLERS.min(count) {
            let filled = filled.clone();
            fillers.spawn(async move {
                loop {
                    let number = filled.count.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok(());
                    }
                    filled.subject.write(number, filled.bodies.body(number, 0)).await?;
                }
            });
        }
        all(fillers).await?;
        filled.count.store(count, Ordering::Relaxed);
        Ok(filled)
    }

    /// Keeps `writers` busy for `time`.
    pub async fn load(self: &Arc<Self>, kind: Kind, writers: usize, time: Duration) -> Outcome<Measured> {
        let existing = self.count.load(Ordering::Relaxed);
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) as u64;
        let (cpu, start) = (machine::cpu()?, Instant::now());
        let mut running = JoinSet::new();
        for writer in 0..writers as u64 {
            let filled = self.clone();
            let random = Random((turn << 32) | writer);
            running.spawn(async move { filled.writer(kind, existing, random, start + time).await });
        }
        let mut measured = Measured { latencies: all(running).await?.concat(), ..Measured::default() };
        measured.writes = measured.latencies.len();
        measured.wall = start.elapsed();
        measured.cpu = machine::cpu()?.saturating_sub(cpu);
        Ok(measured)
    }

    async fn writer(
        &self,
        kind: Kind,
        existing: usize,
        mut random: Random,
        until: Instant,
    ) -> Outcome<Vec<u32>> {
        let mut latencies = Vec::new();
        while Instant::now() < until {
            let number = match kind {
                Kind::Update => random.below(existing),
                Kind::Create => self.count.fetch_add(1, Ordering::Relaxed),
            };
            let body = self.bodies.body(number, random.next());
            let sent = Instant::now();
            self.subject.write(number, body).await?;
            latencies.push(sent.elapsed().as_micros() as u32);
        }
        Ok(latencies)
    }
}

impl Measured {
    pub fn add(&mut self, other: Measured) {
        self.writes += other.writes;
        self.wall += other.wall;
        self.cpu += other.cpu;
        self.latencies.extend(other.latencies);
    }

    pub fn per_second(&self) -> f64 {
        self.writes as f64 / self.wall.as_secs_f64()
    }

    /// Microseconds of CPU for each write.
    pub fn cpu_per_write(&self) -> f64 {
        self.cpu.as_micros() as f64 / self.writes.max(1) as f64
    }

    /// The latency that this share of the writes did not exceed, in milliseconds.
    pub fn latency(&mut self, share: f64) -> f64 {
        percentile(&mut self.latencies, share) / 1_000.0
    }
}

async fn all<T: 'static>(mut tasks: JoinSet<Outcome<T>>) -> Outcome<Vec<T>> {
    let mut done = Vec::new();
    while let Some(task) = tasks.join_next().await {
        done.push(task??);
    }
    Ok(done)
}

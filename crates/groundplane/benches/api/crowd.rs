//! Clients at work: each on a connection and a thread of its own, each waiting for its answer before the next request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testbed::bench::{Outcome, machine, percentile};

use crate::connection::Connection;
use crate::objects::Random;
use crate::subject::Subject;

/// What a crowd came to.
pub struct Measured {
    pub operations: usize,
    pub wall: Duration,
    /// Of the server, where it is known.
    pub cpu: Option<Duration>,
    /// Of this process.
    pub own_cpu: Duration,
    /// Microseconds.
    latencies: Vec<u32>,
}

/// When a crowd has done enough.
#[derive(Clone, Copy)]
pub enum Until {
    /// This much time has passed.
    Passed(Duration),
    /// This many operations are done.
    Done(usize),
}

/// Keeps `clients` busy with `work`, which gets the number of the operation and something random.
pub fn crowd(
    subject: &Subject,
    clients: usize,
    until: Until,
    work: impl Fn(&mut Connection, usize, &mut Random) -> Outcome + Sync,
) -> Outcome<Measured> {
    let connections: Vec<Connection> = (0..clients).map(|_| connected(subject)).collect::<Outcome<_>>()?;
    let next = AtomicUsize::new(0);
    let cpu = (subject.cpu()?, machine::cpu()?);
    let begun = Instant::now();
    let client = |seed: usize, mut connection: Connection| -> Outcome<Vec<u32>> {
        let mut random = Random((seed as u64 + 1) << 40);
        let mut latencies = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let enough = match until {
                Until::Passed(time) => begun.elapsed() >= time,
                Until::Done(count) => number >= count,
            };
            if enough {
                return Ok(latencies);
            }
            let sent = Instant::now();
            work(&mut connection, number, &mut random)?;
            latencies.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
    };
    let latencies: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let client = &client;
        let running: Vec<_> = connections
            .into_iter()
            .enumerate()
            .map(|(seed, connection)| scope.spawn(move || client(seed, connection)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("a client has panicked".into())))
            .collect::<Outcome<_>>()
    })?;
    let latencies = latencies.concat();
    Ok(Measured {
        operations: latencies.len(),
        wall: begun.elapsed(),
        cpu: subject.cpu()?.zip(cpu.0).map(|(after, before)| after.saturating_sub(before)),
        own_cpu: machine::cpu()?.saturating_sub(cpu.1),
        latencies,
    })
}

/// A connection on which the handshake is over.
fn connected(subject: &Subject) -> Outcome<Connection> {
    let mut connection = Connection::open(&subject.at)?;
    connection.get("/version")?;
    Ok(connection)
}

impl Measured {
    pub fn per_second(&self) -> f64 {
        self.operations as f64 / self.wall.as_secs_f64()
    }

    /// Milliseconds of the server's CPU for each operation.
    pub fn cpu_each(&self) -> Option<f64> {
        Some(self.cpu?.as_secs_f64() * 1_000.0 / self.operations.max(1) as f64)
    }

    /// The same of this process.
    pub fn own_cpu_each(&self) -> f64 {
        self.own_cpu.as_secs_f64() * 1_000.0 / self.operations.max(1) as f64
    }

    /// The latency that this share of the operations did not exceed, in milliseconds.
    pub fn latency(&mut self, share: f64) -> f64 {
        percentile(&mut self.latencies, share) / 1_000.0
    }

    /// Latencies that were measured elsewhere, in microseconds.
    pub fn with(latencies: Vec<u32>, wall: Duration, cpu: Option<Duration>, own_cpu: Duration) -> Measured {
        Measured { operations: latencies.len(), wall, cpu, own_cpu, latencies }
    }
}

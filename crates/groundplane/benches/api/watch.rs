//! Changes to many watchers: how long from the sending of a write until a watcher has its event.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use testbed::bench::report::Table;
use testbed::bench::{Outcome, machine};

use crate::connection::Connection;
use crate::crowd::Measured;
use crate::objects::MACHINES;
use crate::options::Options;
use crate::peer::{self, Peer};
use crate::subject::Subject;
use crate::table;
use crate::writes::merge;

pub fn measure(subject: &Subject, options: &Options) -> Outcome<Table> {
    let mut table =
        table::operations("watch", "Watch: one write after the other, from its sending to its event");
    let loads: [(usize, Peer); 3] = [(1, peer::WATCH_1), (100, peer::WATCH_100), (1_000, peer::WATCH_1000)];
    for (watchers, peer) in loads {
        let mut measured = follow(subject, options, watchers)?;
        let operation = format!("watch, {watchers} watchers");
        table.row(table::row(&operation, &mut measured, peer, true));
    }
    table.note(
        "an operation is one event at one watcher; the next write is sent when all have the event of the one before; \
         CPU includes that of the writes",
    );
    Ok(table)
}

/// How far the watchers have come.
#[derive(Default)]
struct Seen {
    events: AtomicUsize,
    expected: AtomicUsize,
}

fn follow(subject: &Subject, options: &Options, watchers: usize) -> Outcome<Measured> {
    let from = version(subject)?;
    let path = format!("{MACHINES}?watch=1&resourceVersion={from}&timeoutSeconds=3000");
    let seen = Arc::new(Seen::default());
    let ready = Arc::new(Barrier::new(watchers + 1));
    let writer = std::thread::current();
    let mut threads = Vec::new();
    for _ in 0..watchers {
        let (mut connection, path) = (Connection::open(&subject.at)?, path.clone());
        let (seen, ready, writer) = (seen.clone(), ready.clone(), writer.clone());
        let told = move || writer.unpark();
        // Watchers need little: a thousand of them are to fit.
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        threads.push(thread.spawn(move || watcher(&mut connection, &path, &ready, &seen, told))?);
    }
    ready.wait();

    let mut connection = Connection::open(&subject.at)?;
    connection.get("/version")?;
    let (cpu, own_cpu, begun) = (subject.cpu()?, machine::cpu()?, Instant::now());
    let mut sent = Vec::new();
    while begun.elapsed() < options.time() {
        seen.expected.store((sent.len() + 1) * watchers, Ordering::Release);
        sent.push(Instant::now());
        // No two writes in a row leave an object as it is.
        merge(
            &mut connection,
            sent.len() % options.objects(),
            sent.len() as u64 + (watchers as u64) * 1_000_000,
        )?;
        while seen.events.load(Ordering::Acquire) < sent.len() * watchers {
            std::thread::park_timeout(Duration::from_millis(100));
            if begun.elapsed() > options.time() + Duration::from_secs(60) {
                return Err("a watcher has not got its event within a minute".into());
            }
        }
    }
    let wall = begun.elapsed();
    let cpu = subject.cpu()?.zip(cpu).map(|(after, before)| after.saturating_sub(before));
    let own_cpu = machine::cpu()?.saturating_sub(own_cpu);

    // One more, that tells the watchers to go.
    seen.expected.store(usize::MAX, Ordering::Release);
    merge(&mut connection, 0, u64::from(u32::MAX) + watchers as u64)?;
    let mut latencies = Vec::with_capacity(sent.len() * watchers);
    for thread in threads {
        let got = thread.join().map_err(|_| "a watcher has panicked")??;
        let times = got.iter().zip(&sent).map(|(got, sent)| got.saturating_duration_since(*sent));
        latencies.extend(times.map(|time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX)));
    }
    Ok(Measured::with(latencies, wall, cpu, own_cpu))
}

/// Follows until it is told to go; when it got each event.
fn watcher(
    connection: &mut Connection,
    path: &str,
    ready: &Barrier,
    seen: &Seen,
    told: impl Fn(),
) -> Outcome<Vec<Instant>> {
    let incoming = connection.send("GET", path, "", b"");
    ready.wait();
    let mut incoming = incoming?;
    if incoming.code != 200 {
        return Err(format!("a watch was answered with {}", incoming.code).into());
    }
    let mut got = Vec::new();
    loop {
        let mut events = 0;
        let more = incoming.piece(|piece| events = piece.iter().filter(|byte| **byte == b'\n').count())?;
        let now = Instant::now();
        let expected = seen.expected.load(Ordering::Acquire);
        if expected == usize::MAX || !more {
            return Ok(got);
        }
        got.extend(std::iter::repeat_n(now, events));
        if seen.events.fetch_add(events, Ordering::AcqRel) + events == expected {
            told();
        }
    }
}

/// The version from which everything that comes is new.
fn version(subject: &Subject) -> Outcome<String> {
    let mut connection = Connection::open(&subject.at)?;
    let list = connection.send("GET", &format!("{MACHINES}?limit=1"), "", b"")?.text()?;
    let list: serde_json::Value = serde_json::from_str(&list)?;
    Ok(list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned())
}

//! Clients that call one after the other, for a while; and the figures.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::wire::{Call, Endpoint};

/// What was found of one kind of call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found {
    pub per_second: f64,
    /// In milliseconds.
    pub p50: f64,
    pub p99: f64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}/s, p50 {:.2} ms, p99 {:.2} ms", self.per_second, self.p50, self.p99)
    }
}

impl Found {
    /// Of the times that calls took.
    pub fn of(mut times: Vec<Duration>, elapsed: Duration) -> Found {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        let per_second = times.len() as f64 / elapsed.as_secs_f64();
        Found { per_second, p50: millis(at(50)), p99: millis(at(99)) }
    }
}

/// Everything that was found of one server.
#[derive(Debug, Default)]
pub struct Figures {
    /// Creates in a second, while hosts are loaded.
    pub create: f64,
    pub get: Found,
    pub list: Found,
    pub filtered: Found,
    pub update: Found,
    pub events: Found,
}

/// Runs clients for a while. Each call has a number of its own.
pub async fn run(
    endpoint: &Endpoint,
    clients: usize,
    seconds: u64,
    call: impl Fn(usize) -> Call + Send + Sync + 'static,
) -> Found {
    let (call, next) = (Arc::new(call), Arc::new(AtomicUsize::new(0)));
    let mut connections = Vec::new();
    for _ in 0..clients {
        let mut connection = endpoint.connect().await;
        // What is only done once is not measured.
        connection.call(&call(next.fetch_add(1, Ordering::Relaxed))).await;
        connections.push(connection);
    }
    let begun = Instant::now();
    let limit = Duration::from_secs(seconds);
    let mut running = tokio::task::JoinSet::new();
    for mut connection in connections {
        let (call, next) = (call.clone(), next.clone());
        running.spawn(async move {
            let mut times = Vec::new();
            while begun.elapsed() < limit {
                let one = call(next.fetch_add(1, Ordering::Relaxed));
                let sent = Instant::now();
                connection.call(&one).await;
                times.push(sent.elapsed());
            }
            times
        });
    }
    let times = running.join_all().await.into_iter().flatten().collect();
    Found::of(times, begun.elapsed())
}

/// The figures as Markdown, and whether all floors hold.
pub fn table(ours: &Figures, theirs: Option<&Figures>) -> (String, bool) {
    type Part = (&'static str, fn(&Figures) -> Found, Option<f64>, Option<f64>);
    // What, figures, least in a second, longest median in milliseconds.
    let parts: [Part; 5] = [
        ("Get", |figures| figures.get, Some(20_000.0), None),
        ("List of 100", |figures| figures.list, Some(1_500.0), None),
        ("List by an indexed field, one client", |figures| figures.filtered, None, Some(2.0)),
        ("Update, durable", |figures| figures.update, Some(3_000.0), None),
        ("event at all watchers, after the answer", |figures| figures.events, None, Some(3.0)),
    ];
    let mut table =
        "| what | ours | floor | PostgreSQL 15 behind gRPC |\n| --- | --- | --- | --- |\n".to_owned();
    let mut holds = true;
    for (what, of, least, longest) in parts {
        let found = of(ours);
        let is_kept = least.is_none_or(|least| found.per_second >= least)
            && longest.is_none_or(|longest| found.p50 < longest);
        holds &= is_kept;
        let kept = if is_kept { "ok" } else { "missed" };
        let floor = match (least, longest) {
            (Some(least), _) => format!("{least:.0}/s {kept}"),
            (_, Some(longest)) => format!("p50 < {longest} ms {kept}"),
            (None, None) => String::new(),
        };
        let peer = theirs.map_or_else(|| "–".to_owned(), |theirs| of(theirs).to_string());
        table.push_str(&format!("| {what} | {found} | {floor} | {peer} |\n"));
    }
    let peer = theirs.map_or_else(|| "–".to_owned(), |theirs| format!("{:.0}/s", theirs.create));
    table.push_str(&format!("| Create, 64 at once, while loading | {:.0}/s | | {peer} |\n", ours.create));
    (table, holds)
}

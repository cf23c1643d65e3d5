//! Numbers for monitoring, in the text form of Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::adapter::FaultKind;
use crate::kinds::source::Counts;

/// Numbers of one synchronizer.
pub struct Metrics {
    registry: Registry,
    cycles: Family<Result, Counter>,
    cycle_seconds: Histogram,
    requests: Family<Call, Counter>,
    request_seconds: Histogram,
    writes: Family<Op, Counter>,
    events: Family<Kind, Counter>,
    hosts: Family<Kind, Gauge>,
    last_success: Gauge<f64, AtomicU64>,
    is_listening: Gauge,
    is_believed: Gauge,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Result {
    mode: String,
    result: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Call {
    call: String,
    status: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Op {
    op: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: String,
}

impl Metrics {
    /// Numbers of the synchronizer of a Source.
    pub fn new(source: &str) -> Metrics {
        let seconds = || Histogram::new([0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0]);
        let labels = [("source".into(), source.to_owned().into())];
        let mut metrics = Metrics {
            registry: Registry::with_prefix_and_labels("inventory_sync", labels.into_iter()),
            cycles: Family::default(),
            cycle_seconds: seconds(),
            requests: Family::default(),
            request_seconds: seconds(),
            writes: Family::default(),
            events: Family::default(),
            hosts: Family::default(),
            last_success: Gauge::default(),
            is_listening: Gauge::default(),
            is_believed: Gauge::default(),
        };
        let all = &mut metrics.registry;
        all.register("cycles", "Looks at the source", metrics.cycles.clone());
        all.register(
            "cycle_duration_seconds",
            "Time of a look at the whole source",
            metrics.cycle_seconds.clone(),
        );
        all.register("source_requests", "Requests to the source", metrics.requests.clone());
        all.register(
            "source_request_duration_seconds",
            "Time of a request to the source",
            metrics.request_seconds.clone(),
        );
        all.register("writes", "Hosts that were written or left as they are", metrics.writes.clone());
        all.register("events", "Changes that the source told of", metrics.events.clone());
        all.register("hosts", "Hosts by state", metrics.hosts.clone());
        all.register(
            "last_success_timestamp_seconds",
            "When the last complete list was written",
            metrics.last_success.clone(),
        );
        all.register("event_stream_connected", "Whether changes are heard of", metrics.is_listening.clone());
        all.register("believed", "Whether the last list was believed", metrics.is_believed.clone());
        metrics
    }

    /// A request to the source has ended.
    pub fn asked(&self, call: &str, fault: Option<FaultKind>, took: Duration) {
        let status = fault.map_or("ok", FaultKind::reason).to_owned();
        self.requests.get_or_create(&Call { call: call.to_owned(), status }).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    /// A host was written.
    pub fn wrote(&self, op: &str) {
        self.writes.get_or_create(&Op { op: op.to_owned() }).inc();
    }

    /// The source told of a change.
    pub fn heard(&self, kind: &str) {
        self.events.get_or_create(&Kind { kind: kind.to_owned() }).inc();
    }

    /// Changes are heard of, or no longer.
    pub fn listens(&self, is_listening: bool) {
        self.is_listening.set(i64::from(is_listening));
    }

    /// A look has ended.
    pub fn looked(&self, mode: &str, counts: Option<&Counts>, is_believed: bool, took: Duration, now: i64) {
        let result = match (counts, is_believed) {
            (None, _) => "error",
            (_, false) => "not_believed",
            _ => "success",
        };
        self.cycles.get_or_create(&Result { mode: mode.to_owned(), result: result.to_owned() }).inc();
        self.cycle_seconds.observe(took.as_secs_f64());
        let Some(counts) = counts.filter(|_| mode == "full") else { return };
        self.is_believed.set(i64::from(is_believed));
        if is_believed {
            self.last_success.set(now as f64);
        }
        let all = [
            ("observed", counts.observed),
            ("owned", counts.owned),
            ("missing", counts.missing),
            ("conflict", counts.conflicts),
            ("drifted", counts.drifted),
            ("failed", counts.failed),
        ];
        for (kind, number) in all {
            self.hosts.get_or_create(&Kind { kind: kind.to_owned() }).set(number);
        }
    }

    /// When the last complete list was written, in seconds since 1970.
    pub fn last_success(&self) -> f64 {
        self.last_success.get()
    }

    /// All of them as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

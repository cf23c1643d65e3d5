//! Metrics under Kubernetes' names, so that existing dashboards work.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::api::Api;
use crate::limits::Limits;

/// What requests are told apart by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Labels {
    /// `GET`, `LIST`, `POST`, …
    pub verb: String,
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// `resource`, `namespace`, `cluster`, or nothing.
    pub scope: String,
    /// `apiserver`.
    pub component: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Coded {
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: String,
    component: String,
    dry_run: String,
    code: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kinds {
    request_kind: &'static str,
}

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    requests: Family<Coded, Counter>,
    durations: Family<Labels, Histogram>,
    in_flight: Family<Kinds, Gauge>,
    watches: Family<Labels, Gauge>,
    revision: Gauge,
    objects: Gauge,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::default();
        let requests = Family::default();
        // 1 ms to about half a minute.
        let durations = Family::new_with_constructor(
            (|| Histogram::new(exponential_buckets(0.001, 2.0, 15))) as fn() -> Histogram,
        );
        let (in_flight, watches) = (Family::default(), Family::default());
        let (revision, objects) = (Gauge::default(), Gauge::default());
        registry.register(
            "apiserver_request",
            "Number of API requests by verb, resource, dry run and HTTP status code",
            requests.clone(),
        );
        registry.register(
            "apiserver_request_duration_seconds",
            "Latency of API responses in seconds, without watches",
            durations.clone(),
        );
        registry.register(
            "apiserver_current_inflight_requests",
            "Number of API requests that are being processed",
            in_flight.clone(),
        );
        registry.register("apiserver_longrunning_requests", "Number of open watches", watches.clone());
        registry.register("groundplane_store_revision", "Latest revision of the store", revision.clone());
        registry.register("apiserver_storage_objects", "Number of objects in the store", objects.clone());
        Metrics { registry, requests, durations, in_flight, watches, revision, objects }
    }
}

impl Metrics {
    /// Counts an answer.
    pub fn answered(&self, labels: Labels, dry_run: bool, code: u16, took: Option<Duration>) {
        let coded = Coded {
            verb: labels.verb.clone(),
            group: labels.group.clone(),
            version: labels.version.clone(),
            resource: labels.resource.clone(),
            subresource: labels.subresource.clone(),
            scope: labels.scope.clone(),
            component: labels.component.clone(),
            dry_run: if dry_run { "All".to_owned() } else { String::new() },
            code,
        };
        self.requests.get_or_create(&coded).inc();
        if let Some(took) = took {
            self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        }
    }

    /// A watch has begun, or has ended.
    pub fn watching(&self, labels: &Labels, has_begun: bool) {
        let gauge = self.watches.get_or_create(labels);
        if has_begun {
            gauge.inc()
        } else {
            gauge.dec()
        };
    }

    /// All of it as text.
    pub fn text(&self, api: &Api, limits: &Limits) -> String {
        let (reads, writes) = limits.going_on();
        let set = |request_kind, count: usize| {
            let gauge = self.in_flight.get_or_create(&Kinds { request_kind });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        };
        set("readOnly", reads);
        set("mutating", writes);
        let snapshot = api.store().latest();
        self.revision.set(i64::try_from(snapshot.revision().get()).unwrap_or(i64::MAX));
        self.objects.set(i64::try_from(snapshot.len()).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        let end = "# EOF\n";
        let all = text.strip_suffix(end).unwrap_or(&text);
        [all, &features(api), &api.controllers().metrics(), end].concat()
    }
}

/// The feature gates, as Kubernetes tells of its own.
fn features(api: &Api) -> String {
    let mut text = String::new();
    for (gate, is_open) in api.feature_gates().all() {
        if text.is_empty() {
            text.push_str("# HELP kubernetes_feature_enabled Whether a feature gate is open\n");
            text.push_str("# TYPE kubernetes_feature_enabled gauge\n");
        }
        let (name, stage, value) = (gate.name, gate.stage, u8::from(*is_open));
        text.push_str(&format!("kubernetes_feature_enabled{{name=\"{name}\",stage=\"{stage}\"}} {value}\n"));
    }
    text
}

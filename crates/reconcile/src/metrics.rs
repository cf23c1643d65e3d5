//! Metrics of controllers, under the names that Kubernetes' work queues and controller-runtime use.

use std::fmt::Write;

use crate::gate::{ClassState, Gates};
use crate::queue::Depth;
use crate::stats::{BOUNDS, Counts, Histogram};
use crate::writes::WriteCounts;

/// A controller at one moment.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its name.
    pub name: &'static str,
    /// Whether it works in this process.
    pub is_active: bool,
    /// Its queue.
    pub depth: Depth,
    /// Its attempts.
    pub counts: Counts,
    /// Its writes.
    pub writes: WriteCounts,
    /// How many objects are in a state for longer than they may be.
    pub overdue: usize,
}

/// Controllers, and the gates that they share, in the text format of Prometheus.
pub fn text(states: &[Sample], gates: &Gates) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, of: &dyn Fn(&Sample) -> f64| {
        // A counter's family has no suffix, its samples have one.
        let head = name.strip_suffix("_total").unwrap_or(name);
        let _ = writeln!(text, "# HELP {head} {help}\n# TYPE {head} {kind}");
        for state in states {
            let _ = writeln!(text, "{name}{{name=\"{}\"}} {}", state.name, of(state));
        }
    };
    let seconds = |time: std::time::Duration| time.as_secs_f64();
    family("workqueue_depth", "gauge", "Keys that wait for a worker.", &|it| it.depth.ready as f64);
    family("workqueue_delayed", "gauge", "Keys that wait for their time.", &|it| it.depth.delayed as f64);
    family("workqueue_adds_total", "counter", "Keys added.", &|it| it.depth.adds as f64);
    family("workqueue_retries_total", "counter", "Keys added again after a failure.", &|it| {
        it.depth.retries as f64
    });
    family("workqueue_oldest_seconds", "gauge", "Age of the oldest key that waits for a worker.", &|it| {
        seconds(it.depth.oldest)
    });
    family(
        "workqueue_longest_running_processor_seconds",
        "gauge",
        "Time that the longest running attempt has taken so far.",
        &|it| seconds(it.depth.longest_running),
    );
    family("controller_active", "gauge", "1 while the controller works in this process.", &|it| {
        f64::from(u8::from(it.is_active))
    });
    family("controller_overdue", "gauge", "Objects in a state for longer than its limit.", &|it| {
        it.overdue as f64
    });
    family("controller_commits_total", "counter", "Commits of the controller.", &|it| {
        it.writes.commits as f64
    });
    written(&mut text, states);
    calls(&mut text, gates);
    results(&mut text, states);
    histogram(
        &mut text,
        states,
        "workqueue_queue_duration_seconds",
        "Time that a key waits for a worker.",
        |it| &it.counts.waiting,
    );
    histogram(&mut text, states, "workqueue_work_duration_seconds", "Time that an attempt takes.", |it| {
        &it.counts.working
    });
    text
}

/// Calls through gates, by the class of endpoint: what is before the slash in `bmc/10.0.0.1`.
fn calls(text: &mut String, gates: &Gates) {
    let classes = gates.classes();
    let mut family = |name: &str, kind: &str, help: &str, of: &dyn Fn(&ClassState) -> u64| {
        let head = name.strip_suffix("_total").unwrap_or(name);
        let _ = writeln!(text, "# HELP {head} {help}\n# TYPE {head} {kind}");
        for (class, state) in &classes {
            let _ = writeln!(text, "{name}{{class=\"{class}\"}} {}", of(state));
        }
    };
    family("endpoint_calls_total", "counter", "Calls to endpoints that ended.", &|it| {
        it.succeeded + it.failed
    });
    family("endpoint_failures_total", "counter", "Calls to endpoints that failed.", &|it| it.failed);
    family("endpoint_refused_total", "counter", "Calls that a gate did not let through.", &|it| it.refused);
    family("endpoint_resting", "gauge", "Endpoints that are left alone after failures.", &|it| it.resting);
}

fn written(text: &mut String, states: &[Sample]) {
    let head = "controller_writes";
    let _ = writeln!(text, "# HELP {head} Objects written, by part.\n# TYPE {head} counter");
    for state in states {
        let parts =
            [("spec", state.writes.specs), ("status", state.writes.statuses), ("event", state.writes.events)];
        for (part, count) in parts {
            let _ = writeln!(text, "{head}_total{{name=\"{}\",part=\"{part}\"}} {count}", state.name);
        }
    }
}

fn results(text: &mut String, states: &[Sample]) {
    let head = "controller_runtime_reconcile";
    let _ = writeln!(text, "# HELP {head} Attempts by result.\n# TYPE {head} counter");
    for state in states {
        let counts = &state.counts;
        let results = [
            ("success", counts.succeeded),
            ("error", counts.failed),
            ("panic", counts.panicked),
            ("timeout", counts.timed_out),
        ];
        for (result, count) in results {
            let _ =
                writeln!(text, "{head}_total{{controller=\"{}\",result=\"{result}\"}} {count}", state.name);
        }
    }
}

fn histogram(text: &mut String, states: &[Sample], name: &str, help: &str, of: fn(&Sample) -> &Histogram) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
    for state in states {
        let (controller, times) = (state.name, of(state));
        let mut count = 0;
        let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, added) in bounds.zip(times.counts) {
            count += added;
            let _ = writeln!(text, "{name}_bucket{{name=\"{controller}\",le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(text, "{name}_sum{{name=\"{controller}\"}} {}", times.sum.as_secs_f64());
        let _ = writeln!(text, "{name}_count{{name=\"{controller}\"}} {count}");
    }
}

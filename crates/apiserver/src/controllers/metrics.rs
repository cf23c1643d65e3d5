//! Metrics of controllers, under the names that Kubernetes' work queues and controller-runtime use.

use std::fmt::Write;

use reconcile::stats::{BOUNDS, Histogram};

use super::running::{Controllers, State};

impl Controllers {
    /// All of them in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        let states = self.states();
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, of: &dyn Fn(&State) -> f64| {
            // A counter's family has no suffix, its samples have one.
            let head = name.strip_suffix("_total").unwrap_or(name);
            let _ = writeln!(text, "# HELP {head} {help}\n# TYPE {head} {kind}");
            for state in &states {
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
        family(
            "workqueue_oldest_seconds",
            "gauge",
            "Age of the oldest key that waits for a worker.",
            &|it| seconds(it.depth.oldest),
        );
        family(
            "workqueue_longest_running_processor_seconds",
            "gauge",
            "Time that the longest running attempt has taken so far.",
            &|it| seconds(it.depth.longest_running),
        );
        family("controller_active", "gauge", "1 while the controller works in this process.", &|it| {
            f64::from(u8::from(it.is_active))
        });
        results(&mut text, &states);
        histogram(
            &mut text,
            &states,
            "workqueue_queue_duration_seconds",
            "Time that a key waits for a worker.",
            |it| &it.counts.waiting,
        );
        histogram(
            &mut text,
            &states,
            "workqueue_work_duration_seconds",
            "Time that an attempt takes.",
            |it| &it.counts.working,
        );
        text
    }
}

fn results(text: &mut String, states: &[State]) {
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

fn histogram(text: &mut String, states: &[State], name: &str, help: &str, of: fn(&State) -> &Histogram) {
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

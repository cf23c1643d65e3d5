//! `controllers.groundplane.dev`: the state of the controllers of this server, and what is stuck.

use std::time::Duration;

use krm::status::Status;
use serde_json::{Value, json};

use crate::answer::{self, Answer};
use crate::call::Call;
use crate::controllers::running::{State, Stuck};
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::transaction::API_VERSION;

/// Answers a list of them.
pub fn answer(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let items: Vec<Value> = call.api.controllers().states().iter().map(item).collect();
    let list = json!({ "apiVersion": API_VERSION, "kind": "ControllerList", "metadata": {}, "items": items });
    Ok(answer::object::value(&accept, 200, &list))
}

fn item(state: &State) -> Value {
    let State { name, is_active, depth, counts, failing } = state;
    json!({
        "apiVersion": API_VERSION,
        "kind": "Controller",
        "metadata": { "name": name },
        "status": {
            "active": is_active,
            "queue": {
                "ready": depth.ready,
                "delayed": depth.delayed,
                "working": depth.working,
                "oldestSeconds": seconds(depth.oldest),
                "longestRunningSeconds": seconds(depth.longest_running),
            },
            "attempts": {
                "succeeded": counts.succeeded,
                "failed": counts.failed,
                "panicked": counts.panicked,
                "timedOut": counts.timed_out,
            },
            "failing": failing.iter().map(stuck).collect::<Vec<_>>(),
        },
    })
}

fn stuck(stuck: &Stuck) -> Value {
    let Stuck { plane, at, attempts, for_time, error } = stuck;
    json!({
        "project": plane,
        "group": at.group,
        "resource": at.plural,
        "namespace": at.namespace,
        "name": at.name,
        "attempts": attempts,
        "seconds": seconds(*for_time),
        "error": error,
    })
}

/// Seconds, to the millisecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}

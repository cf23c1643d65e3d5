//! `controllers.groundplane.dev`: the state of the controllers of this server, what is stuck, and who runs those that run
//! beside it.

use std::time::Duration;

use krm::kind::Address;
use krm::status::Status;
use serde_json::{Value, json};

use crate::answer::{self, Answer};
use crate::authz::Attributes;
use crate::call::Call;
use crate::controllers::running::{Beside, State, Stuck, WaitingObject};
use crate::pipeline::RequestContext;
use crate::plane::Plane;
use crate::request::accept::Accept;
use crate::transaction::API_VERSION;

/// Seconds after which a controller beside the server that has not renewed its lease no longer works.
const LASTS: i64 = 6;

/// Answers a list of them.
pub fn answer(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let (mut states, mut is_incomplete) = (call.api.controllers().states(), false);
    for state in &mut states {
        let all = state.failing.len();
        state.failing.retain(|stuck| may_read(call, &stuck.plane, &stuck.at));
        is_incomplete |= state.failing.len() < all;
        let all = state.waiting.len();
        state.waiting.retain(|waiting| may_read(call, &waiting.plane, &waiting.at));
        is_incomplete |= state.waiting.len() < all;
    }
    let mut items: Vec<Value> = states.iter().map(item).collect();
    for (name, remote) in remote(call) {
        match items.iter_mut().find(|item| item["metadata"]["name"] == *name) {
            Some(item) => item["status"]["remote"] = remote,
            None => items.push(json!({
                "apiVersion": API_VERSION,
                "kind": "Controller",
                "metadata": { "name": name },
                "status": { "active": false, "remote": remote },
            })),
        }
    }
    items.sort_by_cached_key(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    let mut list =
        json!({ "apiVersion": API_VERSION, "kind": "ControllerList", "metadata": {}, "items": items });
    if is_incomplete {
        list["incomplete"] = true.into();
    }
    Ok(answer::object::value(&accept, 200, &list))
}

/// The controllers that run beside this server. Each has the lease until another one takes it.
fn remote(call: &Call) -> Vec<(String, Value)> {
    let now = call.api.now().seconds;
    let shown = call.api.controllers().beside().into_iter().map(|(name, Beside { holder, renewed })| {
        let is_active = renewed.seconds + LASTS >= now;
        (name, json!({ "active": is_active, "holder": holder, "renewTime": renewed.to_micros() }))
    });
    shown.collect()
}

/// Whether whoever asks may read an object that a controller fails on: from the root those of all planes, else of their own.
fn may_read(call: &Call, plane: &str, at: &Address) -> bool {
    let plane = if plane.is_empty() { Plane::root() } else { Plane::project(plane) };
    let get = Attributes::resource("get", &at.group, &at.plural).in_namespace(&at.namespace).named(&at.name);
    (call.plane.is_root() || call.plane == plane)
        && call.api.followers().rights.decide(&plane, &call.who, &get).allowed
}

fn item(state: &State) -> Value {
    let State { name, is_active, depth, counts, writes, failing, waiting, overdue } = state;
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
            "writes": {
                "commits": writes.commits,
                "specs": writes.specs,
                "statuses": writes.statuses,
                "events": writes.events,
            },
            "overdue": overdue,
            "waiting": waiting.iter().map(wait).collect::<Vec<_>>(),
            "failing": failing.iter().map(stuck).collect::<Vec<_>>(),
        },
    })
}

fn wait(waiting: &WaitingObject) -> Value {
    let WaitingObject { plane, at, what } = waiting;
    json!({
        "project": plane,
        "group": at.group,
        "resource": at.plural,
        "namespace": at.namespace,
        "name": at.name,
        "waitingFor": what,
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

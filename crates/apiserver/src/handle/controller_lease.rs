//! `controllers/lease`: a controller beside the server takes the lease that the server's own controllers take too, so that one
//! host at a time runs it.
//!
//! Without a number the lease is asked for, with one it is renewed, and with a term of zero seconds given back.

use std::time::Duration;

use bytes::Bytes;
use krm::status::Status;
use krm::time::Moment;
use serde_json::{Value, json};
use store::{Acquired, Fence};

use crate::answer::{self, Answer};
use crate::api::store_failure;
use crate::authz::Attributes;
use crate::call::Call;
use crate::controllers::host::lease_of;
use crate::controllers::running::Beside;
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::transaction::{API_VERSION, GROUP};

/// Seconds that a lease may last without renewal.
const LONGEST: u64 = 60;

/// What whoever takes the lease of a controller, or names it with a write, needs in the root.
pub fn right(controller: &str) -> Attributes<'_> {
    Attributes {
        verb: "update",
        group: GROUP,
        resource: "controllers",
        subresource: "lease",
        name: controller,
        ..Attributes::default()
    }
}

/// The fence of a controller's lease.
pub fn fence(controller: &str, number: u64) -> Fence {
    Fence::numbered(&lease_of(controller), number)
}

/// Takes, renews or gives back the lease of the controller that the call names.
pub async fn answer(known: &RequestContext, call: &Call, body: &Bytes) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    if !krm::names::name_is_dns_subdomain(&call.name, false).is_empty() {
        return Err(Status::bad_request("the path must have the name of a controller"));
    }
    let body: Value = serde_json::from_slice(body).map_err(|error| Status::bad_request(error.to_string()))?;
    let spec = &body["spec"];
    let holder = spec["holderIdentity"].as_str().filter(|holder| !holder.is_empty());
    let holder = holder.ok_or_else(|| Status::bad_request("spec.holderIdentity: must not be empty"))?;
    let seconds = spec["leaseDurationSeconds"].as_u64().filter(|seconds| *seconds <= LONGEST);
    let seconds = seconds.ok_or_else(|| {
        Status::bad_request(format!("spec.leaseDurationSeconds: must be a number from 0 to {LONGEST}"))
    })?;
    let number = match &spec["number"] {
        Value::Null => None,
        given => Some(given.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Status::bad_request("spec.number: must be the number that status.number had when it was taken")
        })?),
    };
    let status = match (number, seconds) {
        (None, 0) => return Err(Status::bad_request("spec.leaseDurationSeconds: must be 1 or more")),
        (None, _) => take(call, holder, Duration::from_secs(seconds)).await,
        (Some(number), 0) => give_back(call, number).await,
        (Some(number), _) => renew(call, holder, number).await,
    };
    let status = status.map_err(|error| store_failure(&error))?;
    let lease = json!({
        "apiVersion": API_VERSION, "kind": "ControllerLease", "metadata": { "name": call.name }, "status": status,
    });
    Ok(answer::object::value(&accept, 200, &lease))
}

async fn take(call: &Call, holder: &str, lasts: Duration) -> store::Result<Value> {
    Ok(match call.api.store().acquire(&lease_of(&call.name), holder, lasts).await? {
        Acquired::Taken(fence) => {
            note(call, Some(holder));
            json!({ "held": true, "number": fence.number().to_string() })
        }
        Acquired::HeldBy { for_at_most, .. } => {
            json!({ "held": false, "secondsLeft": for_at_most.as_secs_f64() })
        }
    })
}

async fn renew(call: &Call, holder: &str, number: u64) -> store::Result<Value> {
    let is_held = call.api.store().renew(&fence(&call.name, number)).await?;
    if is_held {
        note(call, Some(holder));
    }
    Ok(json!({ "held": is_held, "number": number.to_string() }))
}

async fn give_back(call: &Call, number: u64) -> store::Result<Value> {
    if call.api.store().release(&fence(&call.name, number)).await? {
        note(call, None);
    }
    Ok(json!({ "held": false }))
}

/// Notes who runs the controller, for the list of controllers of this server.
fn note(call: &Call, holder: Option<&str>) {
    let now: Moment = call.api.now();
    let beside = holder.map(|holder| Beside { holder: holder.to_owned(), renewed: now });
    call.api.controllers().runs_beside(&call.name, beside);
}

//! The operation `recordOperations`: a controller that runs beside the server records the external actions that it has begun.
//!
//! The records are those of controllers in the server: a controller that moves in or out finds what it has begun. They are
//! written with the verb `update` on `controllers/operations` of the controller's name, and read with `get`, both in the root.

use krm::status::Status;
use reconcile::operation::Operations;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::{API_VERSION, GROUP};
use crate::answer::{self, Answer};
use crate::authn::service_account_of;
use crate::authz::Attributes;
use crate::call::Call;
use crate::controllers::records::{self, Record, Records};
use crate::pipeline::RequestContext;
use crate::plane::Plane;
use crate::planes;
use crate::request::accept::Accept;

/// The resource of the records.
const CONTROLLERS: &str = "controllers";
const SUBRESOURCE: &str = "operations";
/// Bytes of one record, at most.
const LARGEST: usize = 64 << 10;

/// Reads an item about the object of a call. What makes no sense is an error; otherwise the record, or why it can't be.
pub fn read(about: &Call, value: &Value) -> Result<Result<Record, Status>, Status> {
    let controller = value.get("controller").and_then(Value::as_str).unwrap_or_default();
    if !krm::names::name_is_dns_subdomain(controller, false).is_empty() {
        return Err(Status::bad_request("controller: must be the name of a controller"));
    }
    let operations = value.get("operations").cloned().unwrap_or_else(|| json!({}));
    if operations.to_string().len() > LARGEST {
        return Err(Status::bad_request(format!("operations: must have at most {LARGEST} bytes")));
    }
    let target = Target::new(about.plane.as_str(), about.address());
    let records = Records { controller, api: &about.api, target: &target };
    Ok(may_record(about, controller).map(|()| records.write(&Operations::read(&operations))))
}

/// Whether whoever makes a call may write the records of a controller. That is decided in the root, in whichever plane the
/// objects are.
fn may_record(call: &Call, controller: &str) -> Result<(), Status> {
    let what = Attributes {
        verb: "update",
        group: GROUP,
        resource: CONTROLLERS,
        subresource: SUBRESOURCE,
        name: controller,
        ..Attributes::default()
    };
    // A service account is one of a plane: in another one its name is somebody else's.
    if !call.plane.is_root() && service_account_of(&call.who.user).is_some() {
        return Err(
            what.forbidden(&call.who, "a service account of a project can't write records of controllers")
        );
    }
    let mut there = call.who.clone();
    planes::put_in_context(call.api.kinds(), &Plane::root(), &mut there);
    let decision = call.api.followers().rights.decide(&Plane::root(), &there, &what);
    match decision.allowed {
        true => Ok(()),
        false => Err(what.forbidden(&call.who, &decision.reason)),
    }
}

/// Answers what a controller has recorded, in all planes.
pub async fn answer(known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let snapshot = call.api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    let items = records::of_controller(&call.api, &snapshot, &call.name);
    let list = json!({ "apiVersion": API_VERSION, "kind": "OperationList", "metadata": {}, "items": items });
    Ok(answer::object::value(&accept, 200, &list))
}

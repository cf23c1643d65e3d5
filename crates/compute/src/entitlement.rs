//! Whether a project may use compute now. Without it, nothing runs.

use krm::kind::{Address, Bucket, QueryContext};
use reconcile::context::Context;
use serde_json::Value;

use crate::conditions::{self, find};

const SERVICES_GROUP: &str = "services.miloapis.com";
/// The bucket of services by their canonical name, which `services` declares.
const BY_SERVICE_NAME: Bucket = Bucket::new("services.miloapis.com/by-service-name");

/// What a project has of compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It may use it, or nobody asks.
    Allowed,
    /// The provider has suspended it: instances are stopped and stay.
    Suspended(String),
    /// It may not use it any more: everything is stopped and goes. Why, and the next step.
    Revoked(String),
}

/// What the project of a plan has of compute. A request that was not decided yet changes nothing.
pub fn access(context: &Context<'_>) -> Access {
    let services = context.root().bucket(BY_SERVICE_NAME, crate::GROUP);
    let Some(service) = services.first() else { return Access::Allowed };
    let project = context.plane();
    let shown = service.at("spec.displayName").and_then(Value::as_str).unwrap_or("Compute");
    let ask = format!("groundplane access request {} --project {project}", service.name());
    let at = Address {
        group: SERVICES_GROUP.to_owned(),
        plural: "serviceentitlements".to_owned(),
        namespace: String::new(),
        name: service.name().to_owned(),
    };
    let Some(entitlement) = context.here().get(&at).filter(|found| !found.is_deleting()) else {
        return Access::Revoked(format!(
            "{shown} is not enabled for project {project:?}; its instances were stopped. Request access with: {ask}"
        ));
    };
    if conditions::holds(&entitlement, "Suspended") {
        return Access::Suspended(format!("The provider has suspended {shown} for project {project:?}"));
    }
    if entitlement.at("status.phase").and_then(Value::as_str) != Some("Rejected") {
        return Access::Allowed;
    }
    let said = find(conditions::of(&entitlement), "Ready").map_or("", |ready| ready.message);
    Access::Revoked(format!(
        "access to {shown} for project {project:?} was revoked: {said}; its instances were stopped. Request it again \
         with: {ask} --renew"
    ))
}

//! The question `catalog`: which services a project can ask for, and what came of its requests.

use krm::Object;
use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::kinds::service_entitlement::EntitlementPhase;
use crate::kinds::{Service, ServiceEntitlement};

/// What a project has of a service, as its users are shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It never asked.
    NotRequested,
    /// It asked, and nothing was decided yet.
    Processing,
    /// The provider has to decide.
    PendingApproval,
    /// It may use the service.
    Active,
    /// The provider suspends it.
    Suspended,
    /// The provider denied the request.
    Denied,
    /// The provider took the entitlement back.
    Revoked,
    /// The service is not offered.
    Unavailable,
}

impl State {
    /// What a project has of a service.
    pub fn of(entitlement: Option<&ServiceEntitlement>) -> State {
        let Some(entitlement) = entitlement else { return State::NotRequested };
        let Some(ready) = entitlement.condition("Ready") else { return State::Processing };
        let was_entitled = entitlement.status.as_ref().is_some_and(|status| status.entitled_at.is_some());
        match entitlement.phase() {
            None => State::Processing,
            Some(EntitlementPhase::PendingApproval) => State::PendingApproval,
            Some(EntitlementPhase::Active) if entitlement.is_suspended() => State::Suspended,
            Some(EntitlementPhase::Active) => State::Active,
            Some(EntitlementPhase::Rejected) if ready.reason == "ServiceNotPublished" => State::Unavailable,
            Some(EntitlementPhase::Rejected) if was_entitled => State::Revoked,
            Some(EntitlementPhase::Rejected) => State::Denied,
        }
    }

    /// As answers name it.
    pub fn as_str(self) -> &'static str {
        match self {
            State::NotRequested => "NotRequested",
            State::Processing => "Processing",
            State::PendingApproval => "PendingApproval",
            State::Active => "Active",
            State::Suspended => "Suspended",
            State::Denied => "Denied",
            State::Revoked => "Revoked",
            State::Unavailable => "Unavailable",
        }
    }
}

/// Answers the question.
pub fn catalog(_: &Questioned<'_>, context: &dyn QueryContext) -> Result<Answered, Status> {
    let entitlements = context.all(ServiceEntitlement::GROUP, ServiceEntitlement::PLURAL);
    let entitlements: Vec<ServiceEntitlement> =
        entitlements.iter().filter_map(|object| read(object)).collect();
    let services = context.shown_in_root(Service::GROUP, Service::PLURAL);
    let services = services.iter().filter_map(|object| read::<Service>(object));
    let items = services.filter_map(|service| {
        let entitlement =
            entitlements.iter().find(|found| found.spec.service_ref.name == service.metadata.name);
        (service.spec.phase.is_offered() || entitlement.is_some()).then(|| row(&service, entitlement))
    });
    Ok(Answered::Json(json!({ "items": items.collect::<Vec<Value>>() })))
}

fn row(service: &Service, entitlement: Option<&ServiceEntitlement>) -> Value {
    let spec = &service.spec;
    let mut row = json!({
        "name": service.metadata.name,
        "serviceName": spec.service_name,
        "displayName": spec.display_name,
        "phase": spec.phase,
        "enablement": spec.enablement_policy.mode,
        "state": State::of(entitlement).as_str(),
    });
    if let Some(text) = &spec.description {
        row["description"] = text.as_str().into();
    }
    let needs: Vec<&str> = spec.dependencies.iter().map(|needed| needed.service_ref.name.as_str()).collect();
    if !needs.is_empty() {
        row["dependencies"] = json!(needs);
    }
    let Some(entitlement) = entitlement else { return row };
    row["requestedAt"] = json!(entitlement.metadata.creation_timestamp);
    if let Some(message) = &entitlement.spec.request_message {
        row["requestMessage"] = message.as_str().into();
    }
    if let Some(ready) = entitlement.condition("Ready") {
        row["message"] = ready.message.as_str().into();
    }
    if let Some(time) = entitlement.status.as_ref().and_then(|status| status.entitled_at.as_ref()) {
        row["entitledAt"] = time.as_str().into();
    }
    row
}

fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}

//! The gate in front of the kinds of a service: creating and changing them takes an entitlement.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use krm::Object;
use krm::kind::{Address, Effect, EffectPlugin, Kind, RawChange, Refusal, Resource, View};
use serde_json::Value;

use crate::catalog::State;
use crate::kinds::service::BY_SERVICE_NAME;
use crate::kinds::{Service, ServiceEntitlement};

/// Refuses creations and changes of the kinds of a service in projects that are not entitled to it. Reads and deletions
/// are allowed, so that what is there can be cleaned up.
#[derive(Default)]
pub struct EntitlementGate {
    /// Canonical names of the services, by the name of the Service.
    names: RwLock<BTreeMap<String, String>>,
}

impl EffectPlugin for EntitlementGate {
    fn name(&self) -> &'static str {
        "entitlement-gate"
    }

    fn concerns(&self, kind: &Kind, project: Option<&str>) -> bool {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        project.is_some() && kind.group != crate::GROUP && names.values().any(|name| *name == kind.group)
    }

    fn effects(
        &self,
        kind: &Kind,
        change: &RawChange<'_>,
        view: &mut View<'_>,
    ) -> Result<Vec<Effect>, Refusal> {
        let is_report = change.subresource == "status";
        if change.new.is_none() || is_report || is_only_bookkeeping(change) {
            return Ok(Vec::new());
        }
        let services = view.root().bucket_of::<Service>(BY_SERVICE_NAME, &kind.group);
        let Some(service) = services.first() else { return Ok(Vec::new()) };
        let project = view.project().map(|project| project.name).unwrap_or_default();
        let entitlement = view.get::<ServiceEntitlement>(&service.metadata.name);
        match entitlement.as_ref() {
            Some(entitlement) if entitlement.is_active() => Ok(Vec::new()),
            other => Err(Refusal::Forbidden(refusal(service, other, &project))),
        }
    }

    fn follows(&self) -> &[(&'static str, &'static str)] {
        &[(Service::GROUP, Service::PLURAL)]
    }

    fn take_in(&self, project: Option<&str>, at: &Address, object: Option<&Object>) {
        if project.is_some() {
            return;
        }
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        match object.and_then(|service| service.at("spec.serviceName")).and_then(Value::as_str) {
            Some(name) => drop(names.insert(at.name.clone(), name.to_owned())),
            None => drop(names.remove(&at.name)),
        }
    }
}

/// Whether nothing but the metadata changes, as when a finalizer is taken away.
fn is_only_bookkeeping(change: &RawChange<'_>) -> bool {
    let (Some(old), Some(new)) = (change.old, change.new) else { return false };
    let rest = |object: &Object| {
        let mut rest = object.0.clone();
        rest.remove("metadata");
        rest.remove("status");
        rest
    };
    rest(old) == rest(new)
}

/// Why a project may not write the kinds of a service, and what to do about it.
fn refusal(service: &Service, entitlement: Option<&ServiceEntitlement>, project: &str) -> String {
    let (name, shown) = (&service.metadata.name, &service.spec.display_name);
    let ask = format!("groundplane access request {name} --project {project}");
    let said =
        entitlement.and_then(|found| found.condition("Ready")).map_or("", |ready| ready.message.as_str());
    match State::of(entitlement) {
        State::NotRequested => {
            format!("{shown} is not enabled for project {project:?}. Request access with: {ask}")
        }
        State::Processing => format!(
            "access to {shown} for project {project:?} is still being processed. Wait for it with: {ask} --wait"
        ),
        State::PendingApproval => format!(
            "access to {shown} for project {project:?} is awaiting provider approval. Wait for it with: {ask} --wait"
        ),
        State::Active | State::Suspended => format!(
            "access to {shown} for project {project:?} is suspended by the provider. See its state with: \
             groundplane access {name} --project {project}"
        ),
        State::Denied => format!(
            "access to {shown} for project {project:?} was denied: {said}. Request it again with: {ask} --renew"
        ),
        State::Revoked => format!(
            "access to {shown} for project {project:?} was revoked: {said}. Request it again with: {ask} --renew"
        ),
        State::Unavailable => format!(
            "{shown} is not available to project {project:?}: {said}. See what is offered with: groundplane services \
             list --project {project}"
        ),
    }
}

//! The entitlement controller: what comes of a project's request for a service.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Event, Plan, Write};
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::{address, read};
use crate::kinds::service::EnablementMode;
use crate::kinds::service_consumer::{ConsumerPhase, Decision};
use crate::kinds::service_entitlement::{DEPENDENCY_OF, EntitlementPhase, Origin};
use crate::kinds::{Service, ServiceConsumer, ServiceEntitlement};

/// Objects of a service that a revocation is told on.
const MOST_TOLD: usize = 1000;

/// Reconciles entitlements and the consumers that stand for them at the provider.
pub struct EntitlementController;

impl Reconciler for EntitlementController {
    fn name(&self) -> &'static str {
        "service-entitlement-controller"
    }

    fn description(&self) -> &'static str {
        "Passes requests for services on to their providers, and sets the status of entitlements and consumers."
    }

    fn scope(&self) -> Scope {
        let plurals = [ServiceEntitlement::PLURAL, ServiceConsumer::PLURAL];
        Scope::Resources(plurals.map(|plural| (crate::GROUP.into(), plural.into())).into(), Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["serviceentitlements/status", "serviceconsumers/status"], &["update"]),
            Rule::new(crate::GROUP, &["serviceconsumers"], &["create", "patch", "delete"]),
            Rule::new(crate::GROUP, &["serviceentitlements"], &["create", "delete"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // A consumer shows the status of its entitlement.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        if object.is_deleting() {
            return Plan::nothing();
        }
        match target.at.plural.as_str() {
            ServiceConsumer::PLURAL => consumer(target, object, context),
            _ => entitlement(target, object, context),
        }
    }

    /// A project that takes its request back is no consumer any more, unless it is suspended: asking again must not end
    /// that.
    fn plan_absent(&self, target: &Target, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if target.at.plural != ServiceEntitlement::PLURAL {
            return plan;
        }
        let service = service(&target.at.name, context);
        let Some(place) = service.and_then(|service| consumer_of(&service, &target.plane, context)) else {
            return plan;
        };
        let there = context.get(&place).and_then(|found| Some((read::<ServiceConsumer>(&found)?, found)));
        if let Some((consumer, found)) = there.filter(|(consumer, _)| !consumer.spec.suspended) {
            let uid = Some(consumer.metadata.uid);
            let version = Some(found.resource_version().to_owned());
            plan.write(Write::Delete(place, Deletion { uid, version, ..Deletion::default() }));
        }
        plan
    }
}

/// Annotation of a consumer with the uid of the entitlement that it was made for.
const REQUEST: &str = "services.miloapis.com/entitlement-uid";

/// What is decided about a request.
struct Verdict {
    phase: EntitlementPhase,
    reason: &'static str,
    message: String,
}

impl Verdict {
    fn active() -> Verdict {
        let message = "Entitlement is active".to_owned();
        Verdict { phase: EntitlementPhase::Active, reason: "EntitlementActive", message }
    }

    fn pending() -> Verdict {
        let message = "Awaiting provider approval".to_owned();
        Verdict { phase: EntitlementPhase::PendingApproval, reason: "EntitlementPendingApproval", message }
    }

    fn rejected(reason: &'static str, message: String) -> Verdict {
        Verdict { phase: EntitlementPhase::Rejected, reason, message }
    }

    /// What follows from the policy of the service and the decision of its provider.
    fn of(service: &Service, consumer: Option<&ServiceConsumer>, was_entitled: bool) -> Verdict {
        if !service.spec.phase.is_offered() {
            let why = format!("Service {} is not published", service.metadata.name);
            return Verdict::rejected("ServiceNotPublished", why);
        }
        let approval = consumer.and_then(|consumer| consumer.spec.approval.as_ref());
        match (approval.map(|approval| approval.decision), service.spec.enablement_policy.mode) {
            (Some(Decision::Denied), _) => {
                let said = approval
                    .and_then(|approval| approval.message.clone())
                    .filter(|message| !message.is_empty());
                let default = match was_entitled {
                    true => "The provider revoked the entitlement",
                    false => "The provider denied the request",
                };
                Verdict::rejected("EntitlementRejected", said.unwrap_or_else(|| default.to_owned()))
            }
            (Some(Decision::Approved), _) | (None, EnablementMode::SelfService) => Verdict::active(),
            (None, EnablementMode::GatedByProvider) => Verdict::pending(),
        }
    }
}

fn entitlement(target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    let Some(entitlement) = read::<ServiceEntitlement>(object) else { return plan };
    let name = &entitlement.spec.service_ref.name;
    if is_no_longer_needed(&entitlement, context) {
        let deletion = Deletion { uid: Some(object.uid().to_owned()), ..Deletion::default() };
        plan.write(Write::Delete(target.clone(), deletion));
        return plan;
    }
    let Some(service) = service(name, context) else {
        let gone = Verdict::rejected("ServiceNotPublished", format!("Service {name} does not exist"));
        tell(&mut plan, target, (object, &entitlement), None, &gone, false, context);
        return plan;
    };
    let place = consumer_of(&service, &target.plane, context);
    let there = place.as_ref().and_then(|place| context.get(place));
    let consumer = there.as_ref().and_then(|found| read::<ServiceConsumer>(found));
    if let (Some(place), Some(found), Some(consumer)) = (&place, &there, &consumer)
        && is_of_earlier_request(found, object)
        && !consumer.spec.suspended
    {
        // The request was taken back and made again before either was seen here: what was decided is not about this one.
        let (uid, version) = (Some(found.uid().to_owned()), Some(found.resource_version().to_owned()));
        plan.write(Write::Delete(place.clone(), Deletion { uid, version, ..Deletion::default() }));
        return plan;
    }
    if let Some(place) = &place {
        pass_on(&mut plan, place, consumer.as_ref(), &entitlement, &target.plane);
    }
    let was_entitled = entitlement.status.as_ref().is_some_and(|status| status.entitled_at.is_some());
    let verdict = Verdict::of(&service, consumer.as_ref(), was_entitled);
    let is_suspended = consumer.is_some_and(|consumer| consumer.spec.suspended);
    if verdict.phase == EntitlementPhase::Active {
        ask_for_dependencies(&mut plan, target, &service, context);
    }
    if verdict.phase == EntitlementPhase::Rejected && entitlement.phase() == Some(EntitlementPhase::Active) {
        tell_what_stops(&mut plan, target, &service, &verdict, context);
    }
    tell(&mut plan, target, (object, &entitlement), Some(&service), &verdict, is_suspended, context);
    plan
}

/// Creates the consumer at the provider, or keeps its message current.
fn pass_on(
    plan: &mut Plan,
    place: &Target,
    consumer: Option<&ServiceConsumer>,
    entitlement: &ServiceEntitlement,
    project: &str,
) {
    let message = entitlement.spec.request_message.as_ref();
    match consumer {
        Some(consumer) if consumer.spec.request_message.as_ref() == message => {}
        Some(_) => plan.write(Write::Patch(place.clone(), json!({"spec": {"requestMessage": message}}))),
        None => {
            let version = format!("{}/{}", crate::GROUP, crate::VERSION);
            let mut made = Object::new(&version, ServiceConsumer::KIND);
            made.set_meta("name", Some(place.at.name.as_str().into()));
            let mut spec = json!({
                "serviceRef": {"name": entitlement.spec.service_ref.name},
                "consumerProjectRef": {"name": project},
            });
            if let Some(message) = message {
                spec["requestMessage"] = message.as_str().into();
            }
            made.set("spec", Some(spec));
            made.set_meta("annotations", Some(json!({ REQUEST: entitlement.metadata.uid })));
            plan.write(Write::Create(place.plane.clone(), made));
        }
    }
}

/// Whether a consumer stands for an entitlement that there was before this one. One that names none stands for any.
fn is_of_earlier_request(consumer: &Object, entitlement: &Object) -> bool {
    consumer.annotation(REQUEST).is_some_and(|uid| uid != entitlement.uid())
}

/// Asks for what an active service needs.
fn ask_for_dependencies(plan: &mut Plan, target: &Target, service: &Service, context: &Context<'_>) {
    for needed in service.spec.dependencies.iter().map(|dependency| &dependency.service_ref.name) {
        if context.here().get(&ServiceEntitlement::address("", needed)).is_some() {
            continue;
        }
        let mut made = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), ServiceEntitlement::KIND);
        made.set_meta("name", Some(needed.as_str().into()));
        made.set_meta("labels", Some(json!({ DEPENDENCY_OF: service.metadata.name })));
        made.set("spec", Some(json!({"serviceRef": {"name": needed}})));
        plan.write(Write::Create(target.plane.clone(), made));
    }
}

/// An entitlement that another service needed goes with the entitlement to that service.
fn is_no_longer_needed(entitlement: &ServiceEntitlement, context: &Context<'_>) -> bool {
    let needed_by = entitlement.metadata.labels.get(DEPENDENCY_OF);
    needed_by.is_some_and(|service| context.here().get(&ServiceEntitlement::address("", service)).is_none())
}

/// Everything that a revocation stops is told of it.
fn tell_what_stops(
    plan: &mut Plan,
    target: &Target,
    service: &Service,
    verdict: &Verdict,
    context: &Context<'_>,
) {
    let note = format!(
        "The project is no longer entitled to {}: {}. It can be read and deleted, but not changed.",
        service.spec.display_name, verdict.message
    );
    let event = Event {
        is_warning: true,
        reason: "ServiceRevoked".to_owned(),
        note,
        annotations: Default::default(),
    };
    plan.write(Write::Event(target.clone(), event.clone()));
    let kinds = context.kinds().into_iter().filter(|kind| kind.group == service.spec.service_name);
    // What is there at this moment: later changes of it are none of this plan's business.
    let stopped =
        kinds.flat_map(|kind| context.world().of_kind(&target.plane, &kind.group, &kind.names.plural));
    plan.independent.extend(stopped.take(MOST_TOLD).map(|stopped| Write::Event(stopped, event.clone())));
}

fn tell(
    plan: &mut Plan,
    target: &Target,
    (object, entitlement): (&Object, &ServiceEntitlement),
    service: Option<&Service>,
    verdict: &Verdict,
    is_suspended: bool,
    context: &Context<'_>,
) {
    let now = context.now().to_string();
    let mut new = object.clone();
    let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
    status["phase"] = json!(verdict.phase);
    status["observedGeneration"] = object.generation().into();
    if let Some(service) = service {
        status["serviceName"] = service.spec.service_name.as_str().into();
    }
    match entitlement.metadata.labels.get(DEPENDENCY_OF) {
        Some(other) => {
            status["origin"] = json!(Origin::Dependency);
            status["dependencyOf"] = other.as_str().into();
        }
        None => status["origin"] = json!(Origin::Direct),
    }
    let is_active = verdict.phase == EntitlementPhase::Active;
    if is_active && status.get("entitledAt").is_none() {
        status["entitledAt"] = now.as_str().into();
    }
    new.set("status", Some(status));
    ready(verdict).tell(&mut new, &now);
    let suspended = match is_suspended {
        true => Finding::holds("Suspended", "ProjectSuspended", "The provider has suspended the project"),
        false => Finding::fails("Suspended", "ProjectActive", ""),
    };
    suspended.tell(&mut new, &now);
    plan.change(&target.plane, object, new);
}

fn ready(verdict: &Verdict) -> Finding {
    match verdict.phase {
        EntitlementPhase::Active => Finding::holds("Ready", verdict.reason, verdict.message.clone()),
        _ => Finding::fails("Ready", verdict.reason, verdict.message.clone()),
    }
}

/// The status of a consumer follows from the decision of its provider.
fn consumer(target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    let Some(consumer) = read::<ServiceConsumer>(object) else { return plan };
    let (name, project) = (&consumer.spec.service_ref.name, &consumer.spec.consumer_project_ref.name);
    let Some(service) = service(name, context) else { return plan };
    let entitlement = context.get(&Target::of::<ServiceEntitlement>(project.as_str(), "", name));
    let entitled_at =
        entitlement.as_ref().and_then(|found| found.at("status.entitledAt")).and_then(Value::as_str);
    let verdict = Verdict::of(&service, Some(&consumer), entitled_at.is_some());
    let phase = match verdict.phase {
        EntitlementPhase::PendingApproval => ConsumerPhase::PendingApproval,
        EntitlementPhase::Active => ConsumerPhase::Active,
        EntitlementPhase::Rejected => ConsumerPhase::Denied,
    };
    let mut new = Object::clone(object);
    let mut status = object.get("status").cloned().unwrap_or_else(|| json!({}));
    status["phase"] = json!(phase);
    if let Some(time) = entitled_at {
        status["entitledAt"] = time.into();
    }
    new.set("status", Some(status));
    ready(&verdict).tell(&mut new, &context.now().to_string());
    plan.change(&target.plane, object, new);
    plan
}

fn service(name: &str, context: &Context<'_>) -> Option<Service> {
    read(&*context.root().get(&Service::address("", name))?)
}

/// Where the consumer of a service is that stands for a project; nothing while the provider has no project.
fn consumer_of(service: &Service, project: &str, context: &Context<'_>) -> Option<Target> {
    let provider = &service.spec.owner.producer_project_ref.name;
    let there = context.root().get(&address(crate::TENANCY_GROUP, crate::PROJECTS, provider))?;
    let name = format!("{}-{project}", service.metadata.name);
    (!there.is_deleting()).then(|| Target::of::<ServiceConsumer>(provider.as_str(), "", &name))
}

//! The network controller: readiness of networks, contexts for bindings, and claims that wait for room.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource, View};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::planned::Planned;
use crate::kinds::subnet_claim::ALLOCATING;
use crate::kinds::{LocationBinding, Network, NetworkBinding, NetworkContext, SubnetClaim};

/// Reconciles networks, their contexts and bindings, and claims that wait.
pub struct NetworkController;

impl Reconciler for NetworkController {
    fn name(&self) -> &'static str {
        "network-controller"
    }

    fn description(&self) -> &'static str {
        "Creates the contexts of networks at locations, sets the status of networks and bindings, and retries subnet claims \
         that wait."
    }

    fn scope(&self) -> Scope {
        let plurals = [Network::PLURAL, NetworkBinding::PLURAL, NetworkContext::PLURAL, SubnetClaim::PLURAL];
        Scope::Resources(plurals.map(|plural| (crate::GROUP.into(), plural.into())).into(), Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        let statuses =
            &["networks/status", "networkbindings/status", "networkcontexts/status", "subnetclaims/status"];
        vec![
            Rule::new(crate::GROUP, statuses, &["update"]),
            Rule::new(crate::GROUP, &["networkcontexts"], &["create"]),
        ]
    }

    fn depends_on(&self) -> DependsOn {
        // Whether a location is available, a network ready or a block free is in their status.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        if object.is_deleting() {
            return Plan::nothing();
        }
        match target.at.plural.as_str() {
            Network::PLURAL => tell(target, object, context, &[Finding::holds("Ready", "Ready", "")]),
            NetworkContext::PLURAL => network_context(target, object, context),
            NetworkBinding::PLURAL => binding(target, object, context),
            _ => claim(target, object, context),
        }
    }
}

/// A context is ready while its network is there.
fn network_context(target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let network = text(object, "spec.network.name");
    let finding = match context.here().get(&Network::address(object.namespace(), network)) {
        Some(_) => Finding::holds("Ready", "Ready", ""),
        None => Finding::fails("Ready", "NetworkNotFound", format!("Network {network} not found")),
    };
    tell(target, object, context, &[finding])
}

/// A binding is ready once the context of its network at its location is.
fn binding(target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let (network, location) = (text(object, "spec.network.name"), text(object, "spec.location.name"));
    let here = context.here();
    let fails = |reason: &'static str, message: String| {
        tell(target, object, context, &[Finding::fails("Ready", reason, message)])
    };
    let Some(found) = here.get(&Network::address(object.namespace(), network)) else {
        return fails("NetworkNotFound", format!("Network {network} not found"));
    };
    let at = here.get(&LocationBinding::address("", location));
    if !at.is_some_and(|location| holds(&location, "Available")) {
        return fails("LocationNotAvailable", format!("Location {location} is not available to the project"));
    }
    let name = context_name(network, location);
    let Some(existing) = here.get(&NetworkContext::address(object.namespace(), &name)) else {
        let pending = Finding::fails(
            "Ready",
            "NetworkContextNotReady",
            format!("NetworkContext {name} is being created"),
        );
        let mut plan = tell(target, object, context, &[pending]);
        plan.write(Write::Create(target.plane.clone(), context_of(&found, location, &name)));
        return plan;
    };
    let finding = match (existing.is_deleting(), holds(&existing, "Ready")) {
        (true, _) => Finding::fails(
            "Ready",
            "NetworkContextTerminating",
            format!("NetworkContext {name} is being deleted"),
        ),
        (false, false) => {
            Finding::fails("Ready", "NetworkContextNotReady", format!("NetworkContext {name} is not ready"))
        }
        (false, true) => Finding::holds("Ready", "NetworkContextReady", ""),
    };
    let mut new = Object::clone(object);
    let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
    status["networkContextRef"] = json!({"name": name, "namespace": object.namespace()});
    new.set("status", Some(status));
    finding.tell(&mut new, &context.now().to_string());
    let mut plan = Plan::nothing();
    plan.change(&target.plane, object, new);
    plan
}

/// A claim without a prefix is written again when there is room for it: the allocation itself is part of that commit.
fn claim(target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let Some(claim) = read::<SubnetClaim>(object).filter(|claim| claim.allocated().is_none()) else {
        return Plan::nothing();
    };
    let mut planned = Planned::new(context);
    match claim.choose(&mut View::new(&mut planned)) {
        Ok(_) => tell(
            target,
            object,
            context,
            &[Finding::fails("Allocated", ALLOCATING, "A prefix is being allocated")],
        ),
        Err(why) => {
            let told = |kind| Finding::fails(kind, why.reason(), why.to_string());
            tell(target, object, context, &[told("Allocated"), told("Ready")]).waiting_for(why.to_string())
        }
    }
}

/// The context of a network at a location, which goes with the network.
fn context_of(network: &Object, location: &str, name: &str) -> Object {
    let mut made = Object::new(&format!("{}/{}", crate::GROUP, crate::VERSION), NetworkContext::KIND);
    made.set_meta("name", Some(name.into()));
    made.set_meta("namespace", Some(network.namespace().into()));
    let owner = json!([{
        "apiVersion": network.api_version(), "kind": network.kind(), "name": network.name(), "uid": network.uid(),
        "controller": true,
    }]);
    made.set_meta("ownerReferences", Some(owner));
    made.set("spec", Some(json!({"network": {"name": network.name()}, "location": {"name": location}})));
    made
}

/// Name of the context of a network at a location: both are DNS labels, so it is a valid name.
pub fn context_name(network: &str, location: &str) -> String {
    format!("{network}-{location}")
}

fn tell(target: &Target, object: &Object, context: &Context<'_>, findings: &[Finding]) -> Plan {
    let mut new = object.clone();
    findings.iter().for_each(|finding| finding.tell(&mut new, &context.now().to_string()));
    let mut plan = Plan::nothing();
    plan.change(&target.plane, object, new);
    plan
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a condition of an object is `True`.
fn holds(object: &Object, condition: &str) -> bool {
    let conditions = object.at("status.conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|found| found["type"] == condition && found["status"] == "True")
}

fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&Value::Object(object.0.clone())).ok()
}

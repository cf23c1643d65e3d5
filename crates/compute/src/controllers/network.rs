//! The networks of a deployment: bindings, contexts and subnets, and whether all of them are ready.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use serde_json::{Value, json};

use super::{owner_reference, text};
use crate::conditions::{self, find};
use crate::names::binding_name;
use crate::{NETWORKING_GROUP, NETWORKING_VERSION, NETWORKS};

const BINDINGS: &str = "networkbindings";
const CONTEXTS: &str = "networkcontexts";
const SUBNET_CLAIMS: &str = "subnetclaims";
const SUBNETS: &str = "subnets";
/// Reason of a binding that never becomes ready.
pub const FAILED: &str = "NetworkFailedToCreate";

/// How far the networks of a deployment are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Networks {
    /// Instances can be attached.
    Ready,
    /// Something is still being made: what, for people.
    Provisioning(String),
    /// Networks don't exist: their names.
    Missing(Vec<String>),
    /// One can't be made, for this reason.
    Failed(String),
}

/// A deployment's place in the networks of its template.
pub struct Attached<'a> {
    /// Namespace of the deployment.
    pub namespace: &'a str,
    /// Name of the deployment.
    pub deployment: &'a str,
    /// The networks, in the order of the interfaces.
    pub networks: Vec<&'a str>,
}

impl Attached<'_> {
    /// How far the networks are.
    pub fn state(&self, context: &Context<'_>) -> Networks {
        let here = context.here();
        let missing: Vec<String> = self
            .networks
            .iter()
            .filter(|name| here.get(&self.at(NETWORKS, name)).is_none())
            .map(|name| (*name).to_owned())
            .collect();
        if !missing.is_empty() {
            return Networks::Missing(missing);
        }
        for index in 0..self.networks.len() {
            let name = binding_name(self.deployment, index);
            let Some(binding) = here.get(&self.at(BINDINGS, &name)) else {
                return Networks::Provisioning(format!("NetworkBinding {name} is being created"));
            };
            let ready = find(conditions::of(&binding), "Ready");
            match ready {
                Some(ready) if ready.is_true() => {}
                Some(ready) if ready.reason == FAILED => return Networks::Failed(ready.message.to_owned()),
                _ => return Networks::Provisioning("Network is being provisioned".to_owned()),
            }
            let ready =
                self.claim_of(&binding, context).is_some_and(|claim| conditions::holds(&claim, "Ready"));
            if !ready {
                return Networks::Provisioning("Network is being provisioned".to_owned());
            }
        }
        Networks::Ready
    }

    /// Makes what is missing: a binding for each interface, and a subnet in the context of each.
    pub fn provision(&self, plan: &mut Plan, deployment: &Object, location: &str, context: &Context<'_>) {
        let here = context.here();
        let plane = context.plane();
        for (index, network) in self.networks.iter().enumerate() {
            let name = binding_name(self.deployment, index);
            let Some(binding) = here.get(&self.at(BINDINGS, &name)) else {
                let mut made = self.made("NetworkBinding", &name, deployment);
                let spec = json!({
                    "network": {"name": network}, "location": {"name": location},
                    "consumer": {"apiGroup": crate::GROUP, "kind": deployment.kind(), "name": deployment.name()},
                });
                made.set("spec", Some(spec));
                plan.write(Write::Create(plane.to_owned(), made));
                continue;
            };
            let Some(context_name) = context_of(&binding) else { continue };
            match self.claim_of(&binding, context) {
                None => {
                    let mut made = self.made("SubnetClaim", &format!("{context_name}-0"), deployment);
                    let spec = json!({
                        "subnetClass": "private", "ipFamily": "IPv4", "networkContext": {"name": context_name},
                        "location": {"name": text(&binding, "spec.location.name")},
                    });
                    made.set("spec", Some(spec));
                    plan.write(Write::Create(plane.to_owned(), made));
                }
                // Every deployment that uses it keeps it.
                Some(claim) if !claim.owners().any(|owner| owner.uid == deployment.uid()) => {
                    let mut shared = Object::clone(&claim);
                    let mut owners =
                        claim.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
                    // Several own it, so none of them manages it alone.
                    owners.iter_mut().for_each(|owner| owner["controller"] = false.into());
                    let mut own = owner_reference(deployment);
                    own["controller"] = false.into();
                    owners.push(own);
                    shared.set_meta("ownerReferences", Some(owners.into()));
                    plan.write(Write::Update(plane.to_owned(), shared));
                }
                Some(_) => {}
            }
        }
    }

    /// The subnet of an interface, in CIDR notation.
    pub fn subnet(&self, interface: usize, context: &Context<'_>) -> Option<String> {
        let here = context.here();
        let binding = here.get(&self.at(BINDINGS, &binding_name(self.deployment, interface)))?;
        let claim = self.claim_of(&binding, context)?;
        let subnet = here.get(&self.at(SUBNETS, text(&claim, "status.subnetRef.name")))?;
        let length = subnet.at("spec.prefixLength")?.as_u64()?;
        Some(format!("{}/{length}", text(&subnet, "spec.startAddress")))
    }

    /// The claim of a private IPv4 subnet in the context of a binding.
    fn claim_of(&self, binding: &Object, context: &Context<'_>) -> Option<Arc<Object>> {
        let here = context.here();
        let name = context_of(binding)?;
        let ready =
            here.get(&self.at(CONTEXTS, name)).is_some_and(|found| conditions::holds(&found, "Ready"));
        let claims = here.having(NETWORKING_GROUP, SUBNET_CLAIMS, "spec.networkContext.name", name);
        let mut fitting = claims.into_iter().filter(|claim| {
            claim.namespace() == self.namespace
                && text(claim, "spec.subnetClass") == "private"
                && text(claim, "spec.ipFamily") == "IPv4"
                && !claim.is_deleting()
        });
        fitting.next().filter(|_| ready)
    }

    fn at(&self, plural: &str, name: &str) -> Address {
        Address {
            group: NETWORKING_GROUP.to_owned(),
            plural: plural.to_owned(),
            namespace: self.namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn made(&self, kind: &str, name: &str, deployment: &Object) -> Object {
        let mut made = Object::new(&format!("{NETWORKING_GROUP}/{NETWORKING_VERSION}"), kind);
        made.set_meta("name", Some(name.into()));
        made.set_meta("namespace", Some(self.namespace.into()));
        made.set_meta("ownerReferences", Some(json!([owner_reference(deployment)])));
        made
    }
}

fn context_of(binding: &Object) -> Option<&str> {
    Some(text(binding, "status.networkContextRef.name")).filter(|name| !name.is_empty())
}

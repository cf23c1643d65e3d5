//! Policies in memory, by the kind that triggers them.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::cel::Expression;
use krm::kind::{Address, Kind, Resource, View};
use serde::Deserialize;
use serde_json::Value;

use crate::kinds::claim_creation_policy::RequestTemplate;
use crate::kinds::resource_claim::ResourceRequest;
use crate::kinds::trigger::{about, expression};
use crate::kinds::{ClaimCreationPolicy, ConsumerRef, ResourceClaim};

/// Policies of one kind by the group and kind that trigger them, and by their names.
pub struct ByKind<P>(BTreeMap<(String, String), BTreeMap<String, P>>);

impl<P> Default for ByKind<P> {
    fn default() -> ByKind<P> {
        ByKind(BTreeMap::new())
    }
}

impl<P: Clone> ByKind<P> {
    /// The policies of a kind, in the order of their names.
    pub fn of(&self, kind: &Kind) -> Vec<(String, P)> {
        let found = self.0.get(&(kind.group.clone(), kind.names.kind.clone()));
        found.into_iter().flatten().map(|(name, policy)| (name.clone(), policy.clone())).collect()
    }

    /// Whether a kind has any. Asked with every write: nothing is allocated for it.
    pub fn has(&self, kind: &Kind) -> bool {
        self.0.keys().any(|(group, name)| *group == kind.group && *name == kind.names.kind)
    }

    /// Takes in a policy as it is now, or that it is gone.
    pub fn take_in(&mut self, policy: &str, object: Option<&Object>, read: impl FnOnce(&Object) -> P) {
        for policies in self.0.values_mut() {
            policies.remove(policy);
        }
        let text = |path: &str| object?.at(path)?.as_str();
        if let (Some(object), Some(version), Some(kind)) =
            (object, text("spec.trigger.resource.apiVersion"), text("spec.trigger.resource.kind"))
        {
            let (group, _) = krm::kind::split_api_version(version);
            let of = self.0.entry((group.to_owned(), kind.to_owned())).or_default();
            of.insert(policy.to_owned(), read(object));
        }
        self.0.retain(|_, policies| !policies.is_empty());
    }
}

/// A policy for claims with its expressions, as of one version of it.
pub struct ClaimPolicy {
    version: String,
    policy: ClaimCreationPolicy,
    constraints: Vec<Result<Expression, String>>,
    amounts: Vec<Amount>,
}

enum Amount {
    Fixed(i64),
    Of(String, Result<Expression, String>),
}

impl ClaimPolicy {
    /// Reads a policy; nothing if it is not of its type.
    pub fn read(object: &Object) -> Option<Arc<ClaimPolicy>> {
        let policy = ClaimCreationPolicy::deserialize(&object.0).ok()?;
        Some(Arc::new(ClaimPolicy::new(policy, object.resource_version())))
    }

    fn new(policy: ClaimCreationPolicy, version: &str) -> ClaimPolicy {
        let constraints = policy.spec.trigger.constraints.iter();
        let constraints = constraints.map(|constraint| expression(&constraint.expression)).collect();
        let requests = policy.spec.target.resource_claim_template.spec.requests.iter();
        let amounts = requests.map(Amount::new).collect();
        ClaimPolicy { version: version.to_owned(), constraints, amounts, policy }
    }

    /// The policy as it is now, as a guard. What is known is read again only if it is another version by now.
    pub fn current(
        name: &str,
        known: Option<Arc<ClaimPolicy>>,
        view: &mut View<'_>,
    ) -> Option<Arc<ClaimPolicy>> {
        let at: Address = ClaimCreationPolicy::address("", name);
        let mut root = view.root();
        let version = root.reader().version(&at)?;
        match known.filter(|known| known.version == version) {
            Some(known) => Some(known),
            None => ClaimPolicy::read(&*root.reader().get(&at)?),
        }
    }

    /// The policy itself.
    pub fn policy(&self) -> &ClaimCreationPolicy {
        &self.policy
    }

    /// Whether it is about an object of its kind. A constraint that can't be evaluated does not hold.
    pub fn fits(&self, object: &Object) -> bool {
        if self.constraints.is_empty() {
            return true;
        }
        let about = about(object);
        let holds = |expression: &Expression| expression.holds(&about).unwrap_or(false);
        self.constraints.iter().all(|constraint| constraint.as_ref().is_ok_and(holds))
    }

    /// The claim for an object of a kind, in the control plane of a project or in the root. Nothing if the object is nobody's
    /// that has quota.
    pub fn claim_for(
        &self,
        kind: &Kind,
        object: &Object,
        project: Option<&str>,
    ) -> Result<Option<ResourceClaim>, String> {
        let consumer = match project {
            Some(project) => Some(ConsumerRef::project(project)),
            None => self.policy.consumer_in_root(object),
        };
        let Some(consumer) = consumer else { return Ok(None) };
        let templates = &self.policy.spec.target.resource_claim_template.spec.requests;
        let mut requests = Vec::with_capacity(templates.len());
        for (template, amount) in templates.iter().zip(&self.amounts) {
            let amount = amount.of(object)?;
            requests.push(ResourceRequest { resource_type: template.resource_type.clone(), amount });
        }
        Ok(Some(self.policy.claim_for(kind, object, consumer, requests)))
    }
}

impl Amount {
    fn new(request: &RequestTemplate) -> Amount {
        match (&request.amount, &request.amount_expression) {
            (None, Some(source)) => Amount::Of(source.clone(), expression(source)),
            (amount, _) => Amount::Fixed(amount.unwrap_or(1)),
        }
    }

    fn of(&self, object: &Object) -> Result<i64, String> {
        let (source, expression) = match self {
            Amount::Fixed(amount) => return Ok(*amount),
            Amount::Of(source, expression) => (source, expression.as_ref().map_err(String::clone)?),
        };
        let told = expression.text(&about(object))?.text;
        let amount = told.parse::<i64>().ok().filter(|amount| *amount >= 0);
        amount.ok_or_else(|| format!("{source} is {told}, and must be a whole number of at least 0"))
    }
}

/// Whether a policy is switched on.
pub fn is_enabled(policy: &Object) -> bool {
    policy.at("spec.disabled") != Some(&Value::Bool(true))
}

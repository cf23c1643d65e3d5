//! ResourceGrant: an allowance that a consumer is given.

use std::collections::BTreeMap;

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Effect, Metadata, Planes, Refusal, Resource, Sentence, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::allowance_bucket::ContributingGrant;
use super::resource_registration::{BY_TYPE, ResourceRegistration};
use super::{AllowanceBucket, ConsumerRef, condition};

/// The bucket of grants of a consumer, by kind and name.
pub const OF_CONSUMER: Bucket = Bucket::new("quota.miloapis.com/grants-of-consumer");

/// An allowance that a consumer is given. It counts in the transaction that creates, changes or deletes it. Grants of one
/// consumer add up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ResourceGrant {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the grant. Set by the operators of the platform.
    pub spec: ResourceGrantSpec,
    /// Observed state of the grant. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResourceGrantStatus>,
}

/// Specification of a grant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.consumerRef == oldSelf.consumerRef", "message": "consumerRef is immutable"},
]))]
pub struct ResourceGrantSpec {
    /// The consumer. Immutable.
    pub consumer_ref: ConsumerRef,
    /// What it is given. 1 to 20, each of another type of resource.
    #[schemars(length(min = 1, max = 20))]
    pub allowances: Vec<Allowance>,
}

/// How much of a resource is given.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// The type of resource. A ResourceRegistration must have it.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
    /// Amounts, which are added up.
    #[schemars(length(min = 1, max = 20))]
    pub buckets: Vec<AllowanceAmount>,
}

/// An amount.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AllowanceAmount {
    /// Amount in base units of the resource. At least 0.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000i64))]
    pub amount: i64,
}

/// Observed state of a grant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceGrantStatus {
    /// `Active` is `True` while the grant counts.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Resource for ResourceGrant {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ResourceGrant";
    const PLURAL: &'static str = "resourcegrants";

    fn declare() -> Declaration<ResourceGrant> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .status()
            .selects(&["spec.consumerRef.kind", "spec.consumerRef.name"])
            .prints("Consumer", "string", ".spec.consumerRef.name")
            .prints("Active", "string", r#".status.conditions[?(@.type=="Active")].status"#)
            .prints_age()
            .bucket(OF_CONSUMER, |grant: &ResourceGrant| vec![consumer_key(&grant.spec.consumer_ref)])
            .validate(gives_each_resource_once)
            .rule(gives_registered_resources)
            .effects(counts_in_its_buckets)
            .tells_created(&[Sentence {
                when: "has($.consumerRef)",
                says: "granted quota @ to {{ $.consumerRef.name }}",
            }])
    }
}

impl ResourceGrant {
    /// What it gives of each resource.
    pub fn amounts(&self) -> BTreeMap<&str, i64> {
        let sum = |allowance: &Allowance| {
            allowance.buckets.iter().fold(0, |sum: i64, bucket| sum.saturating_add(bucket.amount))
        };
        self.spec
            .allowances
            .iter()
            .map(|allowance| (allowance.resource_type.as_str(), sum(allowance)))
            .collect()
    }
}

/// Under what the grants of a consumer are found.
pub fn consumer_key(consumer: &ConsumerRef) -> String {
    format!("{}/{}", consumer.kind, consumer.name)
}

fn gives_each_resource_once(change: &Change<ResourceGrant>) -> Vec<FieldError> {
    let Some(grant) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let allowances = spec.field("allowances");
    let given: Vec<&str> =
        grant.spec.allowances.iter().map(|allowance| allowance.resource_type.as_str()).collect();
    let repeated = (0..given.len()).filter(|at| given[..*at].contains(&given[*at]));
    let error =
        |at: usize| FieldError::duplicate(&allowances.index(at).field("resourceType"), &json!(given[at]));
    repeated.map(error).collect()
}

/// Only what is registered can be granted.
fn gives_registered_resources(change: &Change<ResourceGrant>, view: &mut View<'_>) -> Verdict {
    let Some(grant) = change.after() else { return allow() };
    let before: Vec<&str> =
        change.before().map(|before| before.amounts().into_keys().collect()).unwrap_or_default();
    let spec = Path::of("spec");
    let allowances = spec.field("allowances");
    let mut errors = Vec::new();
    for (index, allowance) in grant.spec.allowances.iter().enumerate() {
        let resource_type = &allowance.resource_type;
        let is_known = before.contains(&resource_type.as_str())
            || !view.bucket_of::<ResourceRegistration>(BY_TYPE, resource_type).is_empty();
        if !is_known {
            let at = allowances.index(index);
            let why = "no ResourceRegistration has this type of resource; see those that there are with: groundplane get \
                       resourceregistrations";
            errors.push(FieldError::invalid(&at.field("resourceType"), &json!(resource_type), why));
        }
    }
    if errors.is_empty() { allow() } else { Err(Refusal::Invalid(errors)) }
}

/// A grant changes the limits of its buckets with itself.
fn counts_in_its_buckets(
    change: &Change<ResourceGrant>,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    let (before, after) = (change.before(), change.after());
    let Some(grant) = after.or(before) else { return Ok(Vec::new()) };
    let old = before.map(ResourceGrant::amounts).unwrap_or_default();
    let new = after.map(ResourceGrant::amounts).unwrap_or_default();
    let time = grant.metadata.creation_timestamp.clone().unwrap_or_default();
    let mut effects = Vec::new();
    for resource_type in old.keys().chain(new.keys().filter(|found| !old.contains_key(*found))) {
        let amounts = (old.get(resource_type).copied(), new.get(resource_type).copied());
        if amounts.0 != amounts.1 {
            effects.extend(count(grant, resource_type, amounts, &time, view));
        }
    }
    if after.is_some_and(|grant| grant.status.is_none()) {
        let active = condition("Active", true, "GrantActive", "", &time);
        effects.push(Effect::own_status(&ResourceGrantStatus { conditions: vec![active] }));
    }
    Ok(effects)
}

/// Changes what a grant adds to the limit of a bucket. The bucket comes with the first grant, and goes when nothing counts on
/// it any more.
fn count(
    grant: &ResourceGrant,
    resource_type: &str,
    (old, new): (Option<i64>, Option<i64>),
    time: &str,
    view: &mut View<'_>,
) -> Option<Effect> {
    let empty = AllowanceBucket::new(&grant.spec.consumer_ref, resource_type);
    let found = view.get_in::<AllowanceBucket>(&empty.metadata.namespace, &empty.metadata.name);
    let is_new = found.is_none();
    if is_new && new.is_none() {
        return None;
    }
    let mut bucket = found.unwrap_or(empty);
    let (name, namespace) = (&grant.metadata.name, &grant.metadata.namespace);
    let grants = &mut bucket.status.contributing_grant_refs;
    grants.retain(|other| (&other.name, &other.namespace) != (name, namespace));
    if let Some(amount) = new {
        grants.push(ContributingGrant { name: name.clone(), namespace: namespace.clone(), amount });
    }
    let status = &mut bucket.status;
    status.limit = status.limit.saturating_sub(old.unwrap_or(0)).saturating_add(new.unwrap_or(0)).max(0);
    status.grant_count = i64::try_from(status.contributing_grant_refs.len()).unwrap_or(i64::MAX);
    bucket.settle(time);
    Some(match (is_new, bucket.is_unused()) {
        (true, _) => Effect::create(&bucket),
        (false, true) => {
            Effect::delete(AllowanceBucket::address(&bucket.metadata.namespace, &bucket.metadata.name))
        }
        (false, false) => Effect::status(&bucket),
    })
}

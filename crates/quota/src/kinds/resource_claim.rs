//! ResourceClaim: what an object takes of its consumer's quota.

use krm::Object;
use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Address, Bucket, Change, Declaration, Effect, History, Metadata, Planes, RawChange, Refusal, Resource,
    Sentence, Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::allowance_bucket::{Counted, Sums};
use super::{AllowanceBucket, ConsumerRef, condition};
use crate::bucket_name::{bucket_name, bucket_namespace};

/// The bucket of claims that wait for room, by the name of each AllowanceBucket that they ask.
pub const WAITING: Bucket = Bucket::new("quota.miloapis.com/waiting-claims");
/// The bucket of claims that policies made for an object, by its uid.
pub const PAYING_FOR: Bucket = Bucket::new("quota.miloapis.com/claims-paying-for");
/// Label with the name of the ClaimCreationPolicy that made a claim.
pub const POLICY: &str = "quota.miloapis.com/claim-creation-policy";
/// Annotation of a claim that replaces one of the same object and asks for no more: it is granted whatever the limit is by
/// now.
pub const KEEPS: &str = "quota.miloapis.com/keeps-what-was-granted";
/// Reason of the condition by which the controller asks for another evaluation.
pub const EVALUATING: &str = "Evaluating";

const GRANTED: &str = "Granted";
const INSUFFICIENT: &str =
    "Insufficient quota resources. Contact your account administrator to review quota limits and usage.";

/// What an object takes of its consumer's quota. It is granted in the transaction that creates it if every bucket has room,
/// and gives everything back in the one that deletes it. A claim that is not granted waits: it turns `Granted` when the
/// limit is raised or another claim is released, those that came first before others.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ResourceClaim {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// What is claimed. Immutable.
    pub spec: ResourceClaimSpec,
    /// What was granted. Set by the server; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResourceClaimStatus>,
}

/// What is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self == oldSelf", "message": "spec is immutable"},
]))]
pub struct ResourceClaimSpec {
    /// The consumer. In the control plane of a project, that project.
    pub consumer_ref: ConsumerRef,
    /// What is asked for: 1 to 20, each of another type of resource. All of it is granted, or nothing.
    #[schemars(length(min = 1, max = 20))]
    pub requests: Vec<ResourceRequest>,
    /// The object that the claim pays for. While it exists, a claim that a policy made for it can't be deleted.
    pub resource_ref: ClaimedResource,
}

/// How much is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequest {
    /// The type of resource.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
    /// Amount in base units. At least 0.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000i64))]
    pub amount: i64,
}

/// The object that a claim pays for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimedResource {
    /// API group of the object.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the object.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the object, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Resource of the kind, such as `instances`. Set by the policy that made the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub resource: Option<String>,
}

/// What was granted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceClaimStatus {
    /// What came of each request.
    #[serde(default)]
    pub allocations: Vec<Allocation>,
    /// `Granted` is `True` once all requests are. Until then, its reason is `PendingEvaluation`, `QuotaExceeded` or
    /// `ValidationFailed`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    /// The type of resource.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
    /// Whether it was granted.
    pub status: AllocationStatus,
    /// Machine-readable reason: `QuotaAvailable`, `QuotaExceeded`, `PendingEvaluation` or `ValidationFailed`.
    #[schemars(length(min = 1, max = 63))]
    pub reason: String,
    /// Details for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1024))]
    pub message: String,
    /// What was granted, in base units.
    #[schemars(range(min = 0))]
    pub allocated_amount: i64,
    /// Name of the AllowanceBucket that it is counted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub allocating_bucket: Option<String>,
    /// When the status last changed.
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
}

/// Whether a request was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AllocationStatus {
    /// It was.
    Granted,
    /// It never will be.
    Denied,
    /// It waits.
    Pending,
}

impl Resource for ResourceClaim {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ResourceClaim";
    const PLURAL: &'static str = "resourceclaims";

    fn declare() -> Declaration<ResourceClaim> {
        Declaration::namespaced()
            .planes(Planes::Both)
            // What was used and granted at any time can be asked later.
            .history(History::Everything)
            .owned_by_effects()
            // It comes with what it pays for, which is found instead.
            .unsearched()
            .status()
            .mentions("spec.resourceRef")
            .selects(&["spec.resourceRef.kind", "spec.resourceRef.name"])
            .prints("Kind", "string", ".spec.resourceRef.kind")
            .prints("Resource", "string", ".spec.resourceRef.name")
            .prints("Granted", "string", r#".status.conditions[?(@.type=="Granted")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Granted")].reason"#)
            .prints_age()
            .bucket_raw(WAITING, |claim| match is_granted(claim) {
                true => Vec::new(),
                false => {
                    ResourceClaim::deserialize(&claim.0).map(|claim| claim.waits_at()).unwrap_or_default()
                }
            })
            .bucket_raw(PAYING_FOR, |claim| claim.owners().map(|owner| owner.uid.to_owned()).collect())
            .answers("usage", "QuotaUsage", crate::usage::usage)
            .validate_raw(asks_for_each_resource_once)
            .rule_raw(is_of_its_plane)
            .rule_raw(|change, view| match view.is_effect() {
                // Made by a policy, or going with what it pays for. Its effects read it as its type.
                true => allow(),
                false => by_somebody(change, view),
            })
            .effects(takes_from_its_buckets)
            .tells_created(&[Sentence {
                when: "has($.resourceRef)",
                says: "claimed quota for {{ $.resourceRef.kind }} {{ $.resourceRef.name }} by @",
            }])
    }
}

impl ResourceClaim {
    /// Whether it has what it asks for.
    pub fn is_granted(&self) -> bool {
        self.granted().is_some_and(|condition| condition.status == "True")
    }

    /// Whether it waits for room. One that is invalid does not.
    pub fn is_waiting(&self) -> bool {
        self.status.is_some()
            && self
                .granted()
                .is_some_and(|found| found.status != "True" && found.reason != "ValidationFailed")
    }

    fn granted(&self) -> Option<&Condition> {
        self.status.as_ref()?.conditions.iter().find(|condition| condition.kind == GRANTED)
    }

    /// The buckets that it waits at.
    fn waits_at(&self) -> Vec<String> {
        let requests = self.spec.requests.iter().filter(|_| self.is_waiting());
        requests.map(|request| bucket_name(&self.spec.consumer_ref, &request.resource_type)).collect()
    }

    /// When its last change was made: the server has no clock of its own in a commit.
    fn time(&self) -> String {
        let asked = self.granted().filter(|condition| condition.reason == EVALUATING);
        let asked = asked.map(|condition| &condition.last_transition_time);
        asked.or(self.metadata.creation_timestamp.as_ref()).cloned().unwrap_or_default()
    }
}

/// Whether a stored claim is granted, without reading the rest of it.
fn is_granted(claim: &Object) -> bool {
    let conditions = claim.at("status.conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|found| found["type"] == GRANTED && found["status"] == "True")
}

fn asks_for_each_resource_once(change: &RawChange<'_>) -> Vec<FieldError> {
    let requests = change.new.and_then(|claim| claim.at("spec.requests")?.as_array());
    let asked: Vec<&Value> = requests.into_iter().flatten().map(|request| &request["resourceType"]).collect();
    let spec = Path::of("spec");
    let path = spec.field("requests");
    let repeated = (0..asked.len()).filter(|at| asked[..*at].contains(&asked[*at]));
    repeated.map(|at| FieldError::duplicate(&path.index(at).field("resourceType"), asked[at])).collect()
}

/// A claim in the control plane of a project is the project's: nobody takes from another one's quota.
fn is_of_its_plane(change: &RawChange<'_>, view: &mut View<'_>) -> Verdict {
    let (None, Some(claim), Some(project)) = (change.old, change.new, view.project()) else {
        return allow();
    };
    let consumer = claim.at("spec.consumerRef").cloned().unwrap_or_default();
    let is_its_own = |field: &str, wanted: &str| consumer[field] == wanted;
    if is_its_own("apiGroup", crate::TENANCY_GROUP)
        && is_its_own("kind", crate::PROJECT)
        && is_its_own("name", &project.name)
        && consumer.get("namespace").is_none()
    {
        return allow();
    }
    let spec = Path::of("spec");
    let why = format!("must be the Project {:?}, in whose control plane the claim is", project.name);
    Err(FieldError::invalid(&spec.field("consumerRef"), &consumer, why).into())
}

/// What holds for a claim that somebody writes or deletes by themselves.
fn by_somebody(change: &RawChange<'_>, view: &mut View<'_>) -> Verdict {
    let Some(change) = Change::<ResourceClaim>::of(change)? else { return allow() };
    is_made_by_its_policy(&change)?;
    stays_while_it_pays(&change, view)
}

/// What a claim pays for by policy is for the policy to say: a claim of somebody's own must not pass for it.
fn is_made_by_its_policy(change: &Change<ResourceClaim>) -> Verdict {
    let Some(claim) = change.after() else { return allow() };
    let policy = |claim: &ResourceClaim| {
        let keeps = claim.metadata.annotations.get(KEEPS);
        claim.metadata.labels.get(POLICY).or(keeps).cloned()
    };
    let before = change.before();
    let is_kept = before.is_some_and(|before| policy(before) == policy(claim));
    let owners = |claim: &ResourceClaim| claim.metadata.owner_references.clone();
    let is_owned_so = before.is_some_and(|before| owners(before) == owners(claim));
    match (policy(claim).is_some() || before.and_then(policy).is_some(), is_kept && is_owned_so) {
        (false, _) if claim.spec.resource_ref.resource.is_none() => allow(),
        (true, true) => allow(),
        _ => {
            let why = format!(
                "the label {POLICY}, the owners and spec.resourceRef.resource of a claim are set by its policy"
            );
            Err(Refusal::Forbidden(why))
        }
    }
}

/// A claim that a policy made for an object is not given up while the object is there.
fn stays_while_it_pays(change: &Change<ResourceClaim>, view: &mut View<'_>) -> Verdict {
    let (Some(claim), None) = (change.before(), change.after()) else { return allow() };
    let paid = &claim.spec.resource_ref;
    let Some(plural) = &paid.resource else { return allow() };
    let at = Address {
        group: paid.api_group.clone(),
        plural: plural.clone(),
        namespace: paid.namespace.clone().unwrap_or_default(),
        name: paid.name.clone(),
    };
    let object = view.reader().get(&at);
    // The owner of the claim is the object, or what owns the object.
    let owns =
        |object: &Object, uid: &str| object.uid() == uid || object.owners().any(|owner| owner.uid == uid);
    let is_paid = object
        .is_some_and(|object| claim.metadata.owner_references.iter().any(|owner| owns(&object, &owner.uid)));
    match is_paid {
        false => allow(),
        true => {
            let why =
                format!("it pays for {} {}; delete that, and the claim goes with it", paid.kind, paid.name);
            Err(Refusal::Conflict(why))
        }
    }
}

/// A claim takes from its buckets when it is made or evaluated again, keeps what it has, and gives it back when it goes.
fn takes_from_its_buckets(
    change: &Change<ResourceClaim>,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    match (change.before(), change.after()) {
        (Some(before), None) => Ok(give_back(before, view)),
        (None, Some(claim)) => Ok(evaluate(claim, view, None)),
        (Some(before), Some(after)) => {
            let is_asked =
                before.is_waiting() && after.granted().is_some_and(|found| found.reason == EVALUATING);
            match is_asked {
                true => Ok(evaluate(after, view, Some(before))),
                // What was decided stays, whatever is written to the status.
                false => Ok(before.status.as_ref().map(Effect::own_status).into_iter().collect()),
            }
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// Grants a claim that there seems to be room for; nothing if there is not. Whether there is, is found out at the commit: if
/// not, the claim is evaluated again.
fn grant(claim: &ResourceClaim, view: &mut View<'_>, waiting: Option<&ResourceClaim>) -> Option<Vec<Effect>> {
    if waiting.is_none() && claim.metadata.annotations.contains_key(KEEPS) {
        return None;
    }
    let time = claim.time();
    let consumer = &claim.spec.consumer_ref;
    let namespace = bucket_namespace(consumer);
    let was_counted = waiting.is_some_and(claim_was_counted);
    let mut root = view.root();
    let (mut allocations, mut counted) = (Vec::new(), Vec::new());
    for request in &claim.spec.requests {
        let name = bucket_name(consumer, &request.resource_type);
        let at = AllowanceBucket::address(&namespace, &name);
        let sums = Sums::peek(&at, &mut root)?;
        let waits = if was_counted { -1 } else { 0 };
        let is_new = waiting.is_none();
        let count = Counted { amount: request.amount, claims: 1, waiting: waits, is_new };
        count.add_to(sums)?;
        counted.push(count.effect(at, &time));
        allocations.push(granted(request, name, &time));
    }
    let mut effects = vec![Effect::own_status(&ResourceClaimStatus {
        conditions: vec![all_granted(allocations.len(), &time)],
        allocations,
    })];
    effects.extend(counted);
    Some(effects)
}

fn granted(request: &ResourceRequest, bucket: String, time: &str) -> Allocation {
    Allocation {
        resource_type: request.resource_type.clone(),
        status: AllocationStatus::Granted,
        reason: "QuotaAvailable".to_owned(),
        message: String::new(),
        allocated_amount: request.amount,
        allocating_bucket: Some(bucket),
        last_transition_time: time.to_owned(),
    }
}

fn all_granted(requests: usize, time: &str) -> Condition {
    let message = format!("All {requests} resource requests have been granted");
    condition(GRANTED, true, "QuotaAvailable", message, time)
}

/// Grants a claim, or lets it wait. Where others wait, a new claim waits behind them.
fn evaluate(claim: &ResourceClaim, view: &mut View<'_>, waiting: Option<&ResourceClaim>) -> Vec<Effect> {
    if let Some(effects) = grant(claim, view, waiting) {
        return effects;
    }
    let was_waiting = waiting.is_some();
    let time = claim.time();
    let consumer = &claim.spec.consumer_ref;
    let namespace = bucket_namespace(consumer);
    let mut root = view.root();
    let mut asked: Vec<(&ResourceRequest, Option<AllowanceBucket>)> = Vec::new();
    for request in &claim.spec.requests {
        asked.push((request, root.get_in(&namespace, &bucket_name(consumer, &request.resource_type))));
    }
    let is_free = |request: &ResourceRequest, bucket: &Option<AllowanceBucket>| {
        bucket.as_ref().is_some_and(|bucket| {
            bucket.fits(request.amount)
                && (was_waiting || request.amount == 0 || bucket.status.waiting_count == 0)
        })
    };
    let keeps = waiting.is_none() && claim.metadata.annotations.contains_key(KEEPS);
    let is_granted = match keeps {
        true => asked.iter().all(|(_, bucket)| bucket.is_some()),
        false => asked.iter().all(|(request, bucket)| is_free(request, bucket)),
    };
    let allocations = asked.iter().map(|(request, bucket)| {
        allocation(request, bucket.as_ref(), is_granted, is_free(request, bucket), &time)
    });
    let allocations = allocations.collect();
    let has_buckets = asked.iter().all(|(_, bucket)| bucket.is_some());
    let told = match (is_granted, has_buckets) {
        (true, _) => all_granted(asked.len(), &time),
        (false, true) => condition(GRANTED, false, "QuotaExceeded", INSUFFICIENT, &time),
        (false, false) => {
            condition(GRANTED, false, "PendingEvaluation", "Awaiting capacity evaluation", &time)
        }
    };
    let mut effects = vec![Effect::own_status(&ResourceClaimStatus { allocations, conditions: vec![told] })];
    // Where a bucket did not exist, the claim was not counted as waiting in the others either.
    let was_counted = waiting.is_some_and(claim_was_counted);
    for (request, bucket) in asked {
        let Some(mut bucket) = bucket else { continue };
        let before = bucket.status.clone();
        let status = &mut bucket.status;
        if was_counted {
            status.waiting_count = (status.waiting_count - 1).max(0);
        }
        if is_granted {
            status.allocated = status.allocated.saturating_add(request.amount);
            status.claim_count += 1;
        } else if has_buckets {
            status.waiting_count += 1;
        }
        if bucket.status != before {
            bucket.settle(&time);
            effects.push(Effect::status(&bucket).in_root());
        }
    }
    effects
}

/// Whether a claim that waits is counted by its buckets: not while one of them does not exist.
fn claim_was_counted(claim: &ResourceClaim) -> bool {
    let allocations = claim.status.iter().flat_map(|status| &status.allocations);
    let mut allocations = allocations.peekable();
    allocations.peek().is_some() && allocations.all(|allocation| allocation.allocating_bucket.is_some())
}

fn allocation(
    request: &ResourceRequest,
    bucket: Option<&AllowanceBucket>,
    is_granted: bool,
    is_free: bool,
    time: &str,
) -> Allocation {
    let (status, reason, message) = match (is_granted, bucket) {
        (true, Some(bucket)) => return granted(request, bucket.metadata.name.clone(), time),
        (_, None) => {
            (AllocationStatus::Pending, "PendingEvaluation", "Awaiting capacity evaluation".to_owned())
        }
        (false, Some(_)) if is_free => {
            let message = "Waiting for the other requests of the claim".to_owned();
            (AllocationStatus::Pending, "PendingEvaluation", message)
        }
        (false, Some(bucket)) => {
            let (asked, left) = (request.amount, bucket.status.available);
            let message = match bucket.fits(asked) {
                false => format!("Resource quota exceeded: requested {asked}, available {left}"),
                true => "Waiting for claims that came first".to_owned(),
            };
            (AllocationStatus::Pending, "QuotaExceeded", message)
        }
    };
    Allocation {
        resource_type: request.resource_type.clone(),
        status,
        reason: reason.to_owned(),
        message,
        allocated_amount: 0,
        allocating_bucket: bucket.map(|bucket| bucket.metadata.name.clone()),
        last_transition_time: time.to_owned(),
    }
}

/// What a claim had or waited for is no longer counted.
fn give_back(claim: &ResourceClaim, view: &mut View<'_>) -> Vec<Effect> {
    let (is_granted, is_counted) = (claim.is_granted(), claim.is_waiting() && claim_was_counted(claim));
    if !is_granted && !is_counted {
        return Vec::new();
    }
    let time = claim.time();
    let namespace = bucket_namespace(&claim.spec.consumer_ref);
    let mut root = view.root();
    let mut effects = Vec::new();
    let (claims, waiting) = if is_granted { (-1, 0) } else { (0, -1) };
    for allocation in claim.status.iter().flat_map(|status| &status.allocations) {
        let name = allocation.allocating_bucket.as_deref().unwrap_or_default();
        let at = AllowanceBucket::address(&namespace, name);
        let amount = -allocation.allocated_amount;
        let count = Counted { amount, claims, waiting, is_new: false };
        if Sums::peek(&at, &mut root).is_some_and(|sums| count.add_to(sums).is_some()) {
            effects.push(count.effect(at, &time));
            continue;
        }
        let Some(mut bucket) = root.get_in::<AllowanceBucket>(&namespace, name) else { continue };
        let status = &mut bucket.status;
        match is_granted {
            true => {
                status.allocated = status.allocated.saturating_sub(allocation.allocated_amount).max(0);
                status.claim_count = (status.claim_count - 1).max(0);
            }
            false => status.waiting_count = (status.waiting_count - 1).max(0),
        }
        bucket.settle(&time);
        let effect = if bucket.is_unused() { Effect::delete(at) } else { Effect::status(&bucket) };
        effects.push(effect.in_root());
    }
    effects
}

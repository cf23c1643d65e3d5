//! AllowanceBucket: how much a consumer may use of a resource, and how much it uses.

use krm::Object;
use krm::condition::Condition;
use krm::kind::{Address, Declaration, Effect, History, Metadata, Planes, Resource, SHOWN_TO_PROJECT, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ConsumerRef, condition, set_condition};
use crate::bucket_name::{bucket_name, bucket_namespace};

/// Label with the kind of the consumer.
pub const CONSUMER_KIND: &str = "quota.miloapis.com/consumer-kind";
/// Label with the name of the consumer.
pub const CONSUMER_NAME: &str = "quota.miloapis.com/consumer-name";

/// How much a consumer may use of a resource, and how much its claims use. It is written in the transactions that create,
/// change and delete grants and claims, so it is never behind them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AllowanceBucket {
    /// Standard object metadata. The name is a hash of the resource and the consumer.
    pub metadata: Metadata,
    /// Whose bucket of which resource it is. Immutable.
    pub spec: AllowanceBucketSpec,
    /// The sums. Set by the server; read-only for users.
    #[serde(default)]
    pub status: AllowanceBucketStatus,
}

/// Whose bucket of which resource it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowanceBucketSpec {
    /// The consumer.
    pub consumer_ref: ConsumerRef,
    /// The type of resource.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
}

/// The sums of a bucket, in base units of the resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AllowanceBucketStatus {
    /// Sum of the grants.
    #[schemars(range(min = 0))]
    pub limit: i64,
    /// Sum of the granted claims.
    #[schemars(range(min = 0))]
    pub allocated: i64,
    /// What is left: the limit without what is allocated, at least 0.
    #[schemars(range(min = 0))]
    pub available: i64,
    /// Number of granted claims.
    #[schemars(range(min = 0))]
    pub claim_count: i64,
    /// Number of claims that wait.
    #[schemars(range(min = 0))]
    pub waiting_count: i64,
    /// Number of grants.
    #[schemars(range(min = 0))]
    pub grant_count: i64,
    /// The grants, with what each adds to the limit.
    #[schemars(length(max = 1000))]
    pub contributing_grant_refs: Vec<ContributingGrant>,
    /// When the sums last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_reconciliation: Option<String>,
    /// `Overcommitted` is `True` while more is allocated than the limit allows, as after a grant was lowered. Until enough
    /// is released, nothing more is granted.
    pub conditions: Vec<Condition>,
}

/// A grant that adds to a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContributingGrant {
    /// Name of the ResourceGrant.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the ResourceGrant.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
    /// What it adds, in base units.
    #[schemars(range(min = 0))]
    pub amount: i64,
}

impl Resource for AllowanceBucket {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "AllowanceBucket";
    const PLURAL: &'static str = "allowancebuckets";

    fn declare() -> Declaration<AllowanceBucket> {
        Declaration::namespaced()
            .planes(Planes::Root)
            .verbs(&["get", "list", "watch"])
            // What was used and granted at any time can be asked later.
            .history(History::Everything)
            .owned_by_effects()
            .found_by_spec()
            .selects(&["spec.resourceType", "spec.consumerRef.kind", "spec.consumerRef.name"])
            .prints("Resource Type", "string", ".spec.resourceType")
            .prints_wide("Consumer", "string", ".spec.consumerRef.name")
            .prints("Limit", "integer", ".status.limit")
            .prints("Allocated", "integer", ".status.allocated")
            .prints("Available", "integer", ".status.available")
            .prints("Claims", "integer", ".status.claimCount")
            .prints_wide("Waiting", "integer", ".status.waitingCount")
            .prints_age()
            .bucket_raw(SHOWN_TO_PROJECT, |bucket| {
                let of = |field: &str| bucket.at("spec.consumerRef")?.get(field)?.as_str();
                let project = of("name").filter(|_| of("kind") == Some(crate::PROJECT));
                project.map(str::to_owned).into_iter().collect()
            })
    }
}

impl AllowanceBucket {
    /// An empty bucket.
    pub fn new(consumer: &ConsumerRef, resource_type: &str) -> AllowanceBucket {
        let labels = [(CONSUMER_KIND, &consumer.kind), (CONSUMER_NAME, &consumer.name)];
        let metadata = Metadata {
            name: bucket_name(consumer, resource_type),
            namespace: bucket_namespace(consumer),
            labels: labels.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect(),
            ..Metadata::default()
        };
        let spec =
            AllowanceBucketSpec { consumer_ref: consumer.clone(), resource_type: resource_type.to_owned() };
        AllowanceBucket { metadata, spec, status: AllowanceBucketStatus::default() }
    }

    /// Whether it has room for an amount.
    pub fn fits(&self, amount: i64) -> bool {
        self.status.allocated.saturating_add(amount) <= self.status.limit
    }

    /// Whether nothing is in it and nothing counts on it.
    pub fn is_unused(&self) -> bool {
        let status = &self.status;
        status.grant_count == 0 && status.claim_count == 0 && status.waiting_count == 0
    }

    /// Sets what follows from the sums.
    pub fn settle(&mut self, time: &str) {
        let status = &mut self.status;
        status.available = status.limit.saturating_sub(status.allocated).max(0);
        status.last_reconciliation = Some(time.to_owned());
        let over = status.allocated.saturating_sub(status.limit);
        let told = match over > 0 {
            true => {
                let message = format!(
                    "{over} more than the limit is allocated; nothing is granted until it is released"
                );
                condition("Overcommitted", true, "LimitLowered", message, time)
            }
            false => condition("Overcommitted", false, "WithinLimit", "", time),
        };
        set_condition(&mut status.conditions, told);
    }
}

/// The sums of a stored bucket that decide about a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sums {
    /// Sum of the grants.
    pub limit: i64,
    /// Sum of the granted claims.
    pub allocated: i64,
    /// Number of granted claims.
    #[serde(rename = "claimCount")]
    pub claims: i64,
    /// Number of claims that wait.
    #[serde(rename = "waitingCount")]
    pub waiting: i64,
    /// Number of grants.
    #[serde(rename = "grantCount")]
    pub grants: i64,
}

impl Sums {
    /// Those of a bucket that is read without a guard; nothing if there is none.
    pub fn peek(at: &Address, view: &mut View<'_>) -> Option<Sums> {
        #[derive(Deserialize)]
        struct Stored {
            #[serde(default)]
            status: Sums,
        }
        let json = view.reader().peek_json(at)?;
        serde_json::from_slice::<Stored>(&json).ok().map(|stored| stored.status)
    }

    /// Those of a bucket.
    pub fn of(bucket: &Object) -> Sums {
        let status = bucket.get("status").and_then(Value::as_object);
        let sum = |field: &str| status.and_then(|status| status.get(field)?.as_i64()).unwrap_or_default();
        Sums {
            limit: sum("limit"),
            allocated: sum("allocated"),
            claims: sum("claimCount"),
            waiting: sum("waitingCount"),
            grants: sum("grantCount"),
        }
    }
}

/// What a claim adds to the sums of a bucket that stays within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Added to what is allocated.
    pub amount: i64,
    /// Added to the number of granted claims.
    pub claims: i64,
    /// Added to the number of claims that wait.
    pub waiting: i64,
    /// Whether nobody may wait: the claim is new.
    pub is_new: bool,
}

impl Counted {
    /// The sums with it. Nothing if the claim has no room, if the bucket is above its limit, so that its condition has to be
    /// looked at, or if nothing would count on the bucket any more, so that it has to go.
    pub fn add_to(self, sums: Sums) -> Option<Sums> {
        let added = Sums {
            allocated: sums.allocated.checked_add(self.amount)?,
            claims: sums.claims + self.claims,
            waiting: sums.waiting + self.waiting,
            ..sums
        };
        let is_sound = added.allocated >= 0 && added.claims >= 0 && added.waiting >= 0;
        let is_within = sums.allocated <= sums.limit && added.allocated <= sums.limit;
        let is_in_turn = !self.is_new || self.amount == 0 || sums.waiting == 0;
        let is_used = added.grants > 0 || added.claims > 0 || added.waiting > 0;
        (is_sound && is_within && is_in_turn && is_used).then_some(added)
    }

    /// The effect that adds it to a bucket in the root, at the commit.
    pub fn effect(self, at: Address, time: &str) -> Effect {
        let with = serde_json::json!({"counted": self, "time": time});
        Effect::amend(at, with, |bucket, with| {
            let counted = Counted::deserialize(&with["counted"]).ok();
            let added = counted.and_then(|counted| counted.add_to(Sums::of(bucket)));
            let Some(sums) = added else { return false };
            let fields = [
                ("allocated", Value::from(sums.allocated)),
                ("available", Value::from(sums.limit - sums.allocated)),
                ("claimCount", Value::from(sums.claims)),
                ("waitingCount", Value::from(sums.waiting)),
                ("lastReconciliation", with["time"].clone()),
            ];
            fields.into_iter().for_each(|(field, value)| bucket.set_at(&format!("status.{field}"), value));
            true
        })
        .in_root()
    }
}

//! AllowanceBucket: how much a consumer may use of a resource, and how much it uses.

use krm::condition::Condition;
use krm::kind::{Bucket, Declaration, History, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConsumerRef, condition, set_condition};
use crate::bucket_name::{bucket_name, bucket_namespace};

/// Label with the kind of the consumer.
pub const CONSUMER_KIND: &str = "quota.miloapis.com/consumer-kind";
/// Label with the name of the consumer.
pub const CONSUMER_NAME: &str = "quota.miloapis.com/consumer-name";

/// The bucket of buckets of a consumer, by kind and name.
pub const OF_CONSUMER: Bucket = Bucket::new("quota.miloapis.com/buckets-of-consumer");

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
            .selects(&["spec.resourceType", "spec.consumerRef.kind", "spec.consumerRef.name"])
            .prints("Resource Type", "string", ".spec.resourceType")
            .prints_wide("Consumer", "string", ".spec.consumerRef.name")
            .prints("Limit", "integer", ".status.limit")
            .prints("Allocated", "integer", ".status.allocated")
            .prints("Available", "integer", ".status.available")
            .prints("Claims", "integer", ".status.claimCount")
            .prints_wide("Waiting", "integer", ".status.waitingCount")
            .prints_age()
            .shown_to_project(|bucket: &AllowanceBucket| {
                let consumer = &bucket.spec.consumer_ref;
                (consumer.kind == crate::PROJECT).then(|| consumer.name.clone())
            })
            .bucket(OF_CONSUMER, |bucket: &AllowanceBucket| {
                vec![format!("{}/{}", bucket.spec.consumer_ref.kind, bucket.spec.consumer_ref.name)]
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

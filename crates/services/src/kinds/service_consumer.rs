//! ServiceConsumer: a project that asks for a service, in the provider's project.

use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, Missing, OnDelete, Planes, Reference, Resource, Sentence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NameRef, Service};

/// A project that asks for a service or uses it, as its provider sees it. The service controller creates it for a
/// ServiceEntitlement; the provider approves, denies, suspends or revokes here.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServiceConsumer {
    /// Standard object metadata. The name is `<service>-<project>`.
    pub metadata: Metadata,
    /// Specification of the consumer. The provider sets `approval` and `suspended`.
    pub spec: ServiceConsumerSpec,
    /// Observed state of the consumer. Set by the service controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ServiceConsumerStatus>,
}

/// Specification of a service consumer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.consumerProjectRef == oldSelf.consumerProjectRef", "message": "consumerProjectRef is immutable"},
]))]
pub struct ServiceConsumerSpec {
    /// The Service in the root. Immutable.
    pub service_ref: NameRef,
    /// The project that asks. Immutable.
    pub consumer_project_ref: NameRef,
    /// What the project says with its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub request_message: Option<String>,
    /// Decision of the provider. Without one, the request waits, unless the service is `SelfService`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Whether the project may create nothing until the provider lifts the suspension. Defaults to false.
    #[serde(default)]
    pub suspended: bool,
}

/// Decision about a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// `Approved` entitles the project. `Denied` refuses the request, and revokes the entitlement of a project that had it.
    pub decision: Decision,
    /// Reason, which the project is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// What a provider decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Decision {
    /// The project may use the service.
    Approved,
    /// The project may not use the service.
    Denied,
}

/// Observed state of a service consumer.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceConsumerStatus {
    /// `PendingApproval`, `Active` or `Denied`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<ConsumerPhase>,
    /// When the project first became entitled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub entitled_at: Option<String>,
    /// `Ready` is `True` while the project may use the service.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// Phase of a service consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConsumerPhase {
    /// The provider has not decided.
    PendingApproval,
    /// The project may use the service.
    Active,
    /// The project may not use the service.
    Denied,
}

impl Resource for ServiceConsumer {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ServiceConsumer";
    const PLURAL: &'static str = "serviceconsumers";

    fn declare() -> Declaration<ServiceConsumer> {
        let service = Reference::to::<Service>("spec.serviceRef.name").shared().immutable();
        Declaration::cluster()
            .planes(Planes::Project)
            .status()
            .refers(service.missing(Missing::Ignore).on_delete(OnDelete::Ignore))
            .selects(&["spec.serviceRef.name", "spec.consumerProjectRef.name", "status.phase"])
            .prints("Service", "string", ".spec.serviceRef.name")
            .prints("Project", "string", ".spec.consumerProjectRef.name")
            .prints("Phase", "string", ".status.phase")
            .prints("Suspended", "boolean", ".spec.suspended")
            .prints_wide("Message", "string", ".spec.requestMessage")
            .prints_age()
            .tells_updated(&[
                Sentence {
                    when: "has($.approval) && $.approval.decision == 'Approved' && (!has(before.spec.approval) || before.spec.approval.decision != 'Approved')",
                    says: "approved @",
                },
                Sentence {
                    when: "has($.approval) && $.approval.decision == 'Denied' && has(before.spec.approval) && before.spec.approval.decision == 'Approved'",
                    says: "revoked @",
                },
                Sentence {
                    when: "has($.approval) && $.approval.decision == 'Denied' && !has(before.spec.approval)",
                    says: "denied @",
                },
            ])
    }
}

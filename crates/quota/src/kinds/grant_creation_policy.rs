//! GrantCreationPolicy: which grants a new consumer gets.

use std::collections::BTreeMap;

use krm::Object;
use krm::field::FieldError;
use krm::kind::{Change, Declaration, Metadata, OwnerReference, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resource_grant::{Allowance, ResourceGrantSpec};
use super::{ConsumerRef, ResourceGrant, Trigger};
use crate::bucket_name::bucket_namespace;

/// Gives each new object of a kind, such as each new Project, a grant, in the transaction that creates it. Consumers that
/// exist already keep what they have.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantCreationPolicy {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the policy. Set by the operators of the platform.
    pub spec: GrantCreationPolicySpec,
}

/// Specification of a policy for grants.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantCreationPolicySpec {
    /// The kind of the consumers.
    pub trigger: Trigger,
    /// What they get.
    pub target: GrantTarget,
    /// Whether the policy does nothing. Defaults to false.
    #[serde(default)]
    pub disabled: bool,
}

/// What consumers get.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantTarget {
    /// The grant.
    pub resource_grant_template: GrantTemplate,
}

/// A grant without its consumer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantTemplate {
    /// Metadata of the grant.
    #[serde(default)]
    pub metadata: TemplateMetadata,
    /// Specification of the grant.
    pub spec: GrantTemplateSpec,
}

/// Metadata of an object that a policy creates.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TemplateMetadata {
    /// Name of the object. `{{ trigger.metadata.name }}` stands for the name of the object that triggers the policy. Defaults
    /// to that name and the name of the policy, with a dash in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Labels of the object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 20))]
    pub labels: BTreeMap<String, String>,
}

/// Allowances of a grant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GrantTemplateSpec {
    /// What each consumer is given.
    #[schemars(length(min = 1, max = 20))]
    pub allowances: Vec<Allowance>,
}

impl Resource for GrantCreationPolicy {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "GrantCreationPolicy";
    const PLURAL: &'static str = "grantcreationpolicies";

    fn declare() -> Declaration<GrantCreationPolicy> {
        Declaration::cluster()
            .planes(Planes::Root)
            .prints("Trigger", "string", ".spec.trigger.resource.kind")
            .prints("Disabled", "boolean", ".spec.disabled")
            .prints_age()
            .validate(|change: &Change<GrantCreationPolicy>| -> Vec<FieldError> {
                change.after().map(|policy| policy.spec.trigger.errors()).unwrap_or_default()
            })
    }
}

impl GrantCreationPolicy {
    /// The grant for a new consumer. It goes with the consumer.
    pub fn grant_for(&self, consumer: &Object) -> ResourceGrant {
        let template = &self.spec.target.resource_grant_template;
        let (group, _) = krm::kind::split_api_version(consumer.api_version());
        let consumer_ref = ConsumerRef {
            api_group: group.to_owned(),
            kind: consumer.kind().to_owned(),
            name: consumer.name().to_owned(),
            namespace: Some(consumer.namespace().to_owned()).filter(|namespace| !namespace.is_empty()),
        };
        let owner = OwnerReference {
            api_version: consumer.api_version().to_owned(),
            kind: consumer.kind().to_owned(),
            name: consumer.name().to_owned(),
            uid: consumer.uid().to_owned(),
            ..OwnerReference::default()
        };
        let metadata = Metadata {
            name: template.metadata.name_for(consumer.name(), &self.metadata.name),
            namespace: bucket_namespace(&consumer_ref),
            labels: template.metadata.labels.clone(),
            owner_references: vec![owner],
            ..Metadata::default()
        };
        let spec = ResourceGrantSpec { consumer_ref, allowances: template.spec.allowances.clone() };
        ResourceGrant { metadata, spec, status: None }
    }
}

impl TemplateMetadata {
    /// The name of an object for a trigger.
    pub fn name_for(&self, trigger: &str, policy: &str) -> String {
        let Some(template) = &self.name else { return format!("{trigger}-{policy}") };
        ["{{ trigger.metadata.name }}", "{{trigger.metadata.name}}"]
            .iter()
            .fold(template.clone(), |name, placeholder| name.replace(placeholder, trigger))
    }
}

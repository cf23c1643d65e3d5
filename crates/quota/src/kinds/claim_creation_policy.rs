//! ClaimCreationPolicy: what objects of a kind claim of their consumer's quota.

use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Kind, Metadata, OwnerReference, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::grant_creation_policy::TemplateMetadata;
use super::resource_claim::{ClaimedResource, POLICY, ResourceClaimSpec, ResourceRequest};
use super::trigger::{Trigger, expression};
use super::{ConsumerRef, ResourceClaim};
use crate::bucket_name::bucket_namespace;

/// Most characters of the name of a claim.
const MOST_NAME: usize = 253;
/// Label of an object that its claim gets too, so that usage can be shown by city.
pub const CITY_CODE: &str = "topology.datum.net/city-code";

/// Meters a kind: creating an object claims quota in the same transaction, and deleting it releases the quota. Any kind can
/// be metered, one of a CustomResourceDefinition too. Objects that existed before the policy claim nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCreationPolicy {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the policy. Set by the operators of the platform.
    pub spec: ClaimCreationPolicySpec,
}

/// Specification of a policy for claims.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimCreationPolicySpec {
    /// The metered kind.
    pub trigger: Trigger,
    /// What its objects claim.
    pub target: ClaimTarget,
    /// What happens if there is no room: with `Refuse`, the object is not created (403); with `Wait`, it is created and its
    /// claim waits. Defaults to `Refuse`.
    #[serde(default)]
    pub when_exceeded: WhenExceeded,
    /// Whether the policy does nothing. Claims that it made stay. Defaults to false.
    #[serde(default)]
    pub disabled: bool,
}

/// What happens if there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum WhenExceeded {
    /// The object is not created.
    #[default]
    Refuse,
    /// The claim of the object waits.
    Wait,
}

/// What objects claim.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimTarget {
    /// The claim.
    pub resource_claim_template: ClaimTemplate,
}

/// A claim without its consumer and object.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClaimTemplate {
    /// Metadata of the claim.
    #[serde(default)]
    pub metadata: TemplateMetadata,
    /// Specification of the claim.
    pub spec: ClaimTemplateSpec,
}

/// Requests of a claim.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimTemplateSpec {
    /// Whose quota objects of the root take, such as that of the Organization that owns a Project. Without it, objects of the
    /// root claim nothing. In the control plane of a project it is not looked at: there, the consumer is the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_ref: Option<ConsumerTemplate>,
    /// What each object asks for. 1 to 20.
    #[schemars(length(min = 1, max = 20))]
    pub requests: Vec<RequestTemplate>,
}

/// A consumer that depends on the object.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsumerTemplate {
    /// API group of the consumer, such as `resourcemanager.miloapis.com`.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the consumer: `Project` or `Organization`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the consumer. `{{ trigger.spec.ownerRef.name }}` stands for the text at that path of the object; an object that
    /// has none there claims nothing.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// How much an object asks for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestTemplate {
    /// The type of resource.
    #[schemars(length(min = 1, max = 253))]
    pub resource_type: String,
    /// Amount in base units. Either this or `amountExpression`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000_000_000i64))]
    pub amount: Option<i64>,
    /// CEL expression on `trigger`, the object, that gives the amount, such as `trigger.spec.replicas`. When the object changes
    /// and the amount with it, the claim is replaced in the same transaction. No whole number of at least 0 is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub amount_expression: Option<String>,
}

impl Resource for ClaimCreationPolicy {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ClaimCreationPolicy";
    const PLURAL: &'static str = "claimcreationpolicies";

    fn declare() -> Declaration<ClaimCreationPolicy> {
        Declaration::cluster()
            .planes(Planes::Root)
            .prints("Trigger", "string", ".spec.trigger.resource.kind")
            .prints("When Exceeded", "string", ".spec.whenExceeded")
            .prints("Disabled", "boolean", ".spec.disabled")
            .prints_age()
            .validate(has_sound_amounts)
    }
}

impl ClaimCreationPolicy {
    /// The claim of a consumer for an object of a kind. The object owns it, so that it goes with the
    /// object even if the policy is gone by then.
    pub fn claim_for(
        &self,
        kind: &Kind,
        object: &Object,
        consumer_ref: ConsumerRef,
        requests: Vec<ResourceRequest>,
    ) -> ResourceClaim {
        let template = &self.spec.target.resource_claim_template;
        let namespace = match (object.namespace(), consumer_ref.kind.as_str()) {
            ("", crate::PROJECT) => "default".to_owned(),
            ("", _) => bucket_namespace(&consumer_ref),
            (namespace, _) => namespace.to_owned(),
        };
        let owner = OwnerReference {
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            ..OwnerReference::default()
        };
        let mut labels = template.metadata.labels.clone();
        labels.insert(POLICY.to_owned(), self.metadata.name.clone());
        labels.extend(object.label(CITY_CODE).map(|city| (CITY_CODE.to_owned(), city.to_owned())));
        let metadata = Metadata {
            name: self.claim_name(object),
            namespace,
            labels,
            owner_references: vec![owner],
            ..Metadata::default()
        };
        let resource_ref = ClaimedResource {
            api_group: kind.group.clone(),
            kind: kind.names.kind.clone(),
            name: object.name().to_owned(),
            namespace: Some(object.namespace().to_owned()).filter(|namespace| !namespace.is_empty()),
            resource: Some(kind.names.plural.clone()),
        };
        let spec = ResourceClaimSpec { consumer_ref, requests, resource_ref };
        ResourceClaim { metadata, spec, status: None }
    }

    /// The consumer whose quota an object of the root takes, if it takes any.
    pub fn consumer_in_root(&self, object: &Object) -> Option<ConsumerRef> {
        let template = self.spec.target.resource_claim_template.spec.consumer_ref.as_ref()?;
        let name = filled_in(&template.name, object)?;
        Some(ConsumerRef {
            api_group: template.api_group.clone(),
            kind: template.kind.clone(),
            name,
            namespace: None,
        })
    }

    /// The name of the claim of an object: the policy's and the object's, unless the template says otherwise.
    pub fn claim_name(&self, object: &Object) -> String {
        let template = &self.spec.target.resource_claim_template.metadata;
        let name = match template.name {
            Some(_) => template.name_for(object.name(), &self.metadata.name),
            None => format!("{}-{}", self.metadata.name, object.name()),
        };
        if name.len() <= MOST_NAME {
            return name;
        }
        // Two long names must not become one.
        let cut = name.get(..MOST_NAME - 37).unwrap_or(&self.metadata.name);
        format!("{cut}-{}", object.uid())
    }
}

/// A text with what an object has at the paths that it names; nothing if the object has no text there.
fn filled_in(template: &str, object: &Object) -> Option<String> {
    let mut parts = template.split("{{");
    let mut text = parts.next()?.to_owned();
    for part in parts {
        let (path, rest) = part.split_once("}}")?;
        let value = object.at(path.trim().strip_prefix("trigger.")?)?.as_str()?;
        text.push_str(value);
        text.push_str(rest);
    }
    Some(text).filter(|text| !text.is_empty())
}

fn has_sound_amounts(change: &Change<ClaimCreationPolicy>) -> Vec<FieldError> {
    let Some(policy) = change.after() else { return Vec::new() };
    let mut errors = policy.spec.trigger.errors();
    let at = Path::of("spec");
    let (at, template) = (at.field("target"), "resourceClaimTemplate");
    let at = at.field(template);
    let at = at.field("spec");
    let requests = at.field("requests");
    for (index, request) in policy.spec.target.resource_claim_template.spec.requests.iter().enumerate() {
        let at = requests.index(index);
        let Some(source) = &request.amount_expression else { continue };
        let field = at.field("amountExpression");
        if request.amount.is_some() {
            errors.push(FieldError::forbidden(&field, "may not be set together with amount"));
        } else if let Err(why) = expression(source) {
            errors.push(FieldError::invalid(&field, &json!(source), why));
        }
    }
    errors
}

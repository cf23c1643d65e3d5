//! PolicyBinding: gives a role to people and programs, on all objects of a kind or on one object and all that is in it.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, RoleReference, pending, prints_ready};

/// Gives a role to people and programs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PolicyBinding {
    /// What every object has.
    pub metadata: Metadata,
    /// Who gets which role on what.
    pub spec: PolicyBindingSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// Who gets which role on what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.roleRef == oldSelf.roleRef", "message": "RoleRef is immutable and cannot be changed after creation"},
    {"rule": "self.resourceSelector == oldSelf.resourceSelector", "message": "ResourceSelector is immutable and cannot be changed after creation"},
]))]
pub struct PolicyBindingSpec {
    /// The role that is given.
    pub role_ref: RoleReference,
    /// Who gets it.
    #[schemars(length(min = 1, max = 1_000))]
    pub subjects: Vec<Subject>,
    /// On what.
    pub resource_selector: ResourceSelector,
}

/// Somebody who gets a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its name; `system:authenticated-users` is the group of everybody who has proved who they are.
    #[schemars(length(min = 1, max = 1_024))]
    pub name: String,
    /// Its namespace, where its kind has them; that of the binding unless said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
    /// Its identity: somebody new of the same name gets nothing. The server fills it in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub uid: String,
}

/// What may get a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SubjectKind {
    /// A person.
    User,
    /// Several.
    Group,
    /// A program, by its Kubernetes service account.
    ServiceAccount,
    /// A program, by its machine account.
    MachineAccount,
}

/// What a role is given on: one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.resourceRef) != has(self.resourceKind)", "message": "exactly one of resourceRef or resourceKind must be specified, but not both"},
]))]
pub struct ResourceSelector {
    /// One object, and all that is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<ResourceReference>,
    /// All objects of a kind, and all that is in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_kind: Option<ResourceKind>,
}

/// One object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReference {
    /// Its group; nothing for the core one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Its kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its identity: another object of the same name is not meant. The server fills it in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub uid: String,
    /// Its namespace, where its kind has them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
}

/// All objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceKind {
    /// Its group; nothing for the core one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Its kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

impl Resource for PolicyBinding {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "PolicyBinding";
    const PLURAL: &'static str = "policybindings";

    fn declare() -> Declaration<PolicyBinding> {
        let declaration = Declaration::namespaced()
            .status()
            .selects(&["spec.roleRef.name"])
            .prepare(pending)
            .prints("Role", "string", ".spec.roleRef.name")
            .prints("Resource Kind", "string", ".spec.resourceSelector['resourceRef', 'resourceKind'].kind")
            .prints("Resource Name", "string", ".spec.resourceSelector.resourceRef.name");
        prints_ready(declaration).prints_age().validate(subjects_are_known)
    }
}

/// The server knows who is meant, or it would grant to whoever takes the name later.
fn subjects_are_known(change: &Change<PolicyBinding>) -> Vec<FieldError> {
    let Some(binding) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let list = spec.field("subjects");
    let unknown = binding.spec.subjects.iter().enumerate().filter(|(_, subject)| !subject.is_identified());
    unknown
        .map(|(at, subject)| {
            let why = format!("there is no {:?} of this name; make it first", subject.kind);
            FieldError::invalid_text(&list.index(at).field("name"), &subject.name, why)
        })
        .collect()
}

impl Subject {
    /// Whether it is clear who is meant: by a uid, or by a name that nobody else can take.
    pub fn is_identified(&self) -> bool {
        !self.uid.is_empty() || (self.kind == SubjectKind::Group && self.name.starts_with("system:"))
    }
}

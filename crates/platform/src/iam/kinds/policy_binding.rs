//! PolicyBinding: grants a role to subjects, on one object or on all objects of a kind.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Observed, RoleReference, pending, prints_ready};

/// PolicyBinding grants a Role to subjects, on one object or on all objects of a kind, and on everything that
/// those contain. You can only grant permissions that you hold yourself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PolicyBinding {
    /// Standard object metadata. In the namespace of an organization, a binding can only select that
    /// organization and what it contains.
    pub metadata: Metadata,
    /// The granted role, its subjects and the resources that it applies to.
    pub spec: PolicyBindingSpec,
    /// Observed state of the binding, written by the IAM controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Observed>,
}

/// The granted role, its subjects and the resources that it applies to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.roleRef == oldSelf.roleRef", "message": "RoleRef is immutable and cannot be changed after creation"},
    {"rule": "self.resourceSelector == oldSelf.resourceSelector", "message": "ResourceSelector is immutable and cannot be changed after creation"},
]))]
pub struct PolicyBindingSpec {
    /// The Role that is granted. It must be in the namespace of the binding or in the system namespace.
    /// Immutable.
    pub role_ref: RoleReference,
    /// Users, groups and accounts that the role is granted to. 1 to 1000.
    #[schemars(length(min = 1, max = 1_000))]
    pub subjects: Vec<Subject>,
    /// Resources that the role applies to. Immutable.
    pub resource_selector: ResourceSelector,
}

/// A user, group or account that a role is granted to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// Kind of the subject: `User`, `Group`, `ServiceAccount` or `MachineAccount`.
    pub kind: SubjectKind,
    /// Name of the subject, which must exist. The group `system:authenticated-users` contains every
    /// authenticated user. 1 to 1024 characters.
    #[schemars(length(min = 1, max = 1_024))]
    pub name: String,
    /// Namespace of the subject, if its kind is namespaced. Defaults to the namespace of the binding.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
    /// Unique identifier of the subject, so that a new subject of the same name is granted nothing. Set by
    /// the server if it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub uid: String,
}

/// Kinds that a role can be granted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SubjectKind {
    /// A person.
    User,
    /// The members of a Group, or a `system:` group.
    Group,
    /// A Kubernetes ServiceAccount.
    ServiceAccount,
    /// A MachineAccount.
    MachineAccount,
}

/// Resources that a role applies to. Exactly one field must be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.resourceRef) != has(self.resourceKind)", "message": "exactly one of resourceRef or resourceKind must be specified, but not both"},
]))]
pub struct ResourceSelector {
    /// One object and everything that it contains. Exactly one of `resourceRef` and `resourceKind` must be
    /// set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_ref: Option<ResourceReference>,
    /// All objects of a kind and everything that they contain. Exactly one of `resourceRef` and
    /// `resourceKind` must be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_kind: Option<ResourceKind>,
}

/// A reference to one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceReference {
    /// API group of the object. Empty for the core group. At most 253 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the object, such as `Project`. 1 to 63 characters.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the object, which must exist. 1 to 253 characters.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Unique identifier of the object, so that a new object of the same name is not selected. Set by the
    /// server if it is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 128))]
    pub uid: String,
    /// Namespace of the object, if its kind is namespaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub namespace: String,
}

/// All objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceKind {
    /// API group of the kind. Empty for the core group. At most 253 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Name of the kind, such as `Rack`. 1 to 63 characters.
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
            .mentions("spec.resourceSelector.resourceRef")
            .selects(&["spec.roleRef.name"])
            .prepare(pending)
            .prints("Role", "string", ".spec.roleRef.name")
            .prints("Resource Kind", "string", ".spec.resourceSelector['resourceRef', 'resourceKind'].kind")
            .prints("Resource Name", "string", ".spec.resourceSelector.resourceRef.name");
        prints_ready(declaration).prints_age().validate(subjects_are_known)
    }
}

/// Subjects must exist, so that a binding never grants to a later user of the same name.
fn subjects_are_known(change: &Change<PolicyBinding>) -> Vec<FieldError> {
    let Some(binding) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let list = spec.field("subjects");
    let unknown = binding.spec.subjects.iter().enumerate().filter(|(_, subject)| !subject.is_identified());
    unknown
        .map(|(at, subject)| {
            let why = format!("no {:?} of this name exists; create it first", subject.kind);
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

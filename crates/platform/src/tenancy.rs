//! Tenancy: organizations, their members and their projects.

pub mod controller;
mod organization;
mod organization_membership;
mod project;

pub use organization::{Organization, OrganizationSpec};
pub use organization_membership::{OrganizationMembership, OrganizationMembershipSpec};
pub use project::{OwnerReference, Project, ProjectSpec};

use apiserver::Identity;
use apiserver::call::Call;
use apiserver::plane::PlaneKind;
use krm::Object;
use krm::kind::{Kind, Resource};
use serde_json::{Value, json};

use crate::iam::Iam;
use crate::iam::directory::namespace_of_organization;
use crate::iam::index::{Grant, Index, beginning};
use crate::iam::permission::Permission;
use crate::iam::roles::SYSTEM_NAMESPACE;
use crate::iam::selector;

/// API group of these kinds.
pub const GROUP: &str = "resourcemanager.miloapis.com";
/// API version of these kinds.
pub const VERSION: &str = "v1alpha1";
/// Name of the Project kind.
pub const PROJECT: &str = "Project";
/// Name of the Organization kind.
pub const ORGANIZATION: &str = "Organization";

/// Projects have control planes. The keys are those under which Milo's services read the project of a request.
pub const PLANES: PlaneKind = PlaneKind {
    group: GROUP,
    version: VERSION,
    kind: PROJECT,
    plural: <Project as Resource>::PLURAL,
    context: [
        "iam.miloapis.com/parent-api-group",
        "iam.miloapis.com/parent-type",
        "iam.miloapis.com/parent-name",
    ],
};

/// On a binding, the uid of the membership of an organization that it comes from.
pub const OF_MEMBERSHIP: &str = "resourcemanager.miloapis.com/organization-membership";

const API_VERSION: &str = "resourcemanager.miloapis.com/v1alpha1";
const IAM_API_VERSION: &str = "iam.miloapis.com/v1alpha1";

/// Where the project of a control plane is, in the root.
pub fn project_address(plane: &str) -> krm::kind::Address {
    Project::address("", plane)
}

/// The kinds of this group.
pub fn all() -> Vec<Kind> {
    vec![Organization::kind(), OrganizationMembership::kind(), Project::kind()]
}

/// A grant that lets somebody create projects in at least one organization.
pub fn creates_somewhere(index: &Index, who: &Identity, permission: &Permission<'_>) -> Option<Grant> {
    let (text, organizations) = (permission.to_string(), selector::objects_of("", GROUP, ORGANIZATION));
    for (subject, told) in index.directory.subjects_of("", who) {
        for (selector, given) in beginning(index.policies.of(&subject)?, &organizations) {
            let holds = |role| index.holds(role, "", &text, permission);
            let Some((role, bindings)) = given.iter().find(|(role, _)| holds(role)) else { continue };
            let (selector, role, binding) = (selector.clone(), role.clone(), bindings.first()?.clone());
            return Some(Grant { subject: told, selector, role, binding });
        }
    }
    None
}

/// Why a project can't be created in an organization, or in none.
pub fn not_there(organization: Option<&str>) -> String {
    match organization {
        Some(name) => format!("in Organization {name:?}"),
        None => "spec.ownerRef does not name an Organization".to_owned(),
    }
}

/// Objects that are created together with an organization or project: its namespace, and the binding that
/// makes its creator the owner.
pub fn companions(iam: &Iam, call: &Call, object: &Object) -> Vec<Object> {
    if !call.plane.is_root() || call.kind.group != GROUP {
        return Vec::new();
    }
    match call.kind.names.kind.as_str() {
        ORGANIZATION => {
            let namespace = namespace_of_organization(object.name());
            let mut all = vec![owned("v1", "Namespace", "", &namespace, object)];
            all.extend(owner_binding(iam, call, object, &namespace, "owner", "owner"));
            all
        }
        PROJECT => {
            let organization = object.at("spec.ownerRef.name").and_then(Value::as_str);
            let namespace = organization.map_or(SYSTEM_NAMESPACE.to_owned(), namespace_of_organization);
            let name = format!("project-{}-creator", object.name());
            owner_binding(iam, call, object, &namespace, &name, "project-admin").into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The binding that makes the creator of an object its owner, if the creator is a User.
fn owner_binding(
    iam: &Iam,
    call: &Call,
    object: &Object,
    namespace: &str,
    name: &str,
    role: &str,
) -> Option<Object> {
    let index = iam.index();
    let user = index.directory.user_of(&call.who.user)?;
    let uid = index.directory.user_uid(&call.who.user)?;
    let mut binding = owned(IAM_API_VERSION, "PolicyBinding", namespace, name, object);
    let kind = &call.kind.names.kind;
    binding.set(
        "spec",
        Some(json!({
            "roleRef": { "name": role, "namespace": SYSTEM_NAMESPACE },
            "subjects": [{ "kind": "User", "name": &**user, "uid": &**uid }],
            "resourceSelector": { "resourceRef": {
                "apiGroup": GROUP, "kind": kind, "name": object.name(), "uid": object.uid(),
            } },
        })),
    );
    Some(binding)
}

/// An object that is garbage collected with its owner.
fn owned(api_version: &str, kind: &str, namespace: &str, name: &str, owner: &Object) -> Object {
    let mut object = Object::new(api_version, kind);
    object.set_meta("name", Some(name.into()));
    if !namespace.is_empty() {
        object.set_meta("namespace", Some(namespace.into()));
    }
    let by = json!([{
        "apiVersion": API_VERSION, "kind": owner.kind(), "name": owner.name(), "uid": owner.uid(), "controller": true,
    }]);
    object.set_meta("ownerReferences", Some(by));
    object
}

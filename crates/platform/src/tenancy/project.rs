//! Project: a tenant with a control plane of its own, which can be used as soon as the project exists.

use apiserver::planes::FINALIZER;
use krm::Object;
use krm::condition::{Condition, Finding};
use krm::kind::{Declaration, Metadata, OnDelete, Planes, Reference, Resource};
use krm::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Organization;
use crate::iam::kinds::prints_ready;

/// Project is a tenant with a control plane of its own, served under
/// `/apis/resourcemanager.miloapis.com/v1alpha1/projects/<name>/control-plane`. Deleting the project deletes
/// everything in that control plane.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// Standard object metadata. The name must be a DNS label of at most 63 characters.
    pub metadata: Metadata,
    /// Desired state of the project: its owner.
    #[serde(default)]
    pub spec: ProjectSpec,
    /// Observed state of the project, written by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProjectStatus>,
}

/// Desired state of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSpec {
    /// Owner of the project. If unset, the project belongs to the platform's administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_ref: Option<OwnerReference>,
}

/// A reference to the owner of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerReference {
    /// Kind of the owner. Must be `Organization`.
    pub kind: OwnerKind,
    /// Name of the owner. The Organization must exist, and cannot be deleted while it owns projects. 1 to 63
    /// characters.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
}

/// Kinds that can own a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OwnerKind {
    /// An Organization.
    Organization,
}

/// Observed state of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProjectStatus {
    /// Latest observations. `Ready` is `True` while the control plane can be used; `ResourceCleanup` reports
    /// progress while the project is being deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for Project {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = super::PROJECT;
    const PLURAL: &'static str = "projects";

    fn declare() -> Declaration<Project> {
        let owner = Reference::to::<Organization>("spec.ownerRef.name").when_kind(Organization::KIND);
        let declaration = Declaration::cluster()
            .planes(Planes::Root)
            .names(names::name_is_dns_label)
            .status()
            .refers(owner.on_delete(OnDelete::Block).tie("belong to it"))
            .selects(&["spec.ownerRef.name"])
            .prepare(begin)
            .prints("Organization", "string", ".spec.ownerRef.name");
        prints_ready(declaration).prints_age()
    }
}

/// A project is ready when it is created, and its finalizer keeps it until its control plane is empty.
fn begin(project: &mut Object, old: Option<&Object>) {
    if old.is_some() {
        return;
    }
    let mut finalizers: Vec<String> = project.finalizers().into_iter().map(str::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        finalizers.push(FINALIZER.to_owned());
    }
    project.set_finalizers(finalizers);
    let since = project.meta_text("creationTimestamp").to_owned();
    let ready = Finding::holds("Ready", "Ready", "Project is ready for use").after(&[], Some(1), &since);
    project.set("status", Some(json!({ "conditions": [ready] })));
}

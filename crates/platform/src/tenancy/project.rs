//! Project: a tenant, with a control plane of its own that is there as soon as the project is.

use apiserver::planes::{FINALIZER, PLURAL};
use krm::Object;
use krm::condition::Condition;
use krm::kind::{Declaration, Metadata, OnDelete, Planes, Reference, Resource};
use krm::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::iam::kinds::prints_ready;

/// A tenant, with a control plane of its own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// What every object has.
    pub metadata: Metadata,
    /// Whose it is.
    #[serde(default)]
    pub spec: ProjectSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProjectStatus>,
}

/// Whose a project is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSpec {
    /// Who owns it; whoever runs the platform unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_ref: Option<OwnerReference>,
}

/// Who owns a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerReference {
    /// The kind of the owner.
    pub kind: OwnerKind,
    /// Its name.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
}

/// What may own a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OwnerKind {
    /// An organization.
    Organization,
}

/// What is observed of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProjectStatus {
    /// Everything that was found: `Ready`, and `ResourceCleanup` while it is being deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Resource for Project {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = super::PROJECT;
    const PLURAL: &'static str = PLURAL;

    fn declare() -> Declaration<Project> {
        let owner =
            Reference::at("spec.ownerRef.name", super::GROUP, "organizations").when_kind(super::ORGANIZATION);
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

/// A project is ready as soon as it is there, and stays until its control plane is empty.
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
    let ready = json!({
        "type": "Ready",
        "status": "True",
        "reason": "Ready",
        "message": "Project is ready for use",
        "observedGeneration": 1,
        "lastTransitionTime": since,
    });
    project.set("status", Some(json!({ "conditions": [ready] })));
}

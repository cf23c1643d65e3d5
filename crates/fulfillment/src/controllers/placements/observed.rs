//! What a hub says of a cluster, written to the placement; and what its tenant gets.

use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use reconcile::context::Context;
use reconcile::plan::Plan;
use serde_json::{Value, json};

use crate::controllers::reach::sealed;
use crate::kinds::Cluster;
use crate::provisioners::{ClusterFacts, ClusterStep};

/// Writes what was seen into the status of a placement.
pub fn write(placement: &mut Object, step: &ClusterStep, cluster: &ClusterFacts, now: &str) {
    let mut status = placement.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut set = |field: &str, value: Option<Value>| {
        let Some(map) = status.as_object_mut() else { return };
        match value {
            Some(value) => drop(map.insert(field.to_owned(), value)),
            None => drop(map.remove(field)),
        }
    };
    set("apiHost", step.endpoint.as_ref().map(|(host, _)| host.as_str().into()));
    set("apiPort", step.endpoint.as_ref().map(|(_, port)| (*port).into()));
    set("image", step.image.as_deref().map(Into::into));
    set("nodes", (!step.nodes.is_empty()).then(|| json!(step.nodes)));
    let console = format!("console-openshift-console.apps.{}.{}", cluster.alias, cluster.domain);
    let has_console = step.is_available && !cluster.domain.is_empty();
    set("consoleHost", has_console.then(|| console.into()));
    placement.set("status", Some(status));
    let message =
        step.trouble.as_ref().map(|(reason, message)| format!("{reason}: {message}")).unwrap_or_default();
    let finding = match (step.is_available, &step.trouble) {
        (true, _) => Finding::holds("Available", "Available", message),
        (false, Some(_)) => Finding::fails("Available", "ControlPlaneFailed", message),
        (false, None) => Finding::fails("Available", "Installing", ""),
    };
    finding.tell(placement, now);
}

/// Puts kubeconfig and password of a cluster where its tenant finds them: sealed, in its project.
pub fn hand_out(
    found: &Arc<Object>,
    cluster: &Cluster,
    step: &ClusterStep,
    project: &str,
    context: &Context<'_>,
    plan: &mut Plan,
) {
    let here = context.look(project);
    let status = cluster.status.as_ref();
    let known = |reference: Option<&crate::references::SealedReference>| sealed(reference, &here);
    let kubeconfig = known(status.and_then(|status| status.kubeconfig_ref.as_ref()));
    let password = known(status.and_then(|status| status.password_ref.as_ref()));
    let mut new = Object::clone(found);
    if let Some(value) = step.kubeconfig.as_ref().filter(|value| kubeconfig.as_ref() != Some(*value)) {
        new.set_at("status.kubeconfig", value.as_str().into());
    }
    if let Some(value) = step.password.as_ref().filter(|value| password.as_ref() != Some(*value)) {
        new.set_at("status.password", value.as_str().into());
    }
    plan.change(project, found, new);
}

//! Plans: every change that is made in the portal is planned, looked at, and applied on confirmation.

use apiserver::plane::Plane;
use serde_json::{Value, json};

use crate::address::{encoded, or_dash};
use crate::kinds::Collection;
use crate::refusal::Refusal;
use crate::viewer::Viewer;

/// The path of plans in a control plane.
pub fn path(viewer: &Viewer, plane: &Plane, name: &str) -> String {
    let path = format!("{}/apis/groundplane.dev/v1alpha1/plans", viewer.api.kinds().path_of(plane));
    if name.is_empty() { path } else { format!("{path}/{}", encoded(name)) }
}

/// Plans some changes, and tells the address of the page that shows the plan.
pub async fn make(
    viewer: &Viewer,
    plane: &Plane,
    items: Vec<Value>,
    message: &str,
) -> Result<String, Refusal> {
    if items.is_empty() {
        return Err(Refusal::new(400, "There is nothing to change: select at least one object."));
    }
    let mut plan = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "Plan", "metadata": {"generateName": "portal-"},
        "spec": {"items": items, "fieldManager": "groundplane-portal"},
    });
    if !message.is_empty() {
        plan["spec"]["message"] = message.into();
    }
    let made = viewer.post(&path(viewer, plane, ""), &plan).await?;
    let name = crate::text::at(&made, "/metadata/name");
    Ok(crate::address::page(&["plans", or_dash(plane.as_str()), name], &[]))
}

/// An object as the target of an item.
pub fn target(collection: &Collection, namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": collection.api_version(), "kind": collection.kind.names.kind,
        "namespace": namespace, "name": name,
    })
}

/// A change of some fields of an object.
pub fn patch(collection: &Collection, namespace: &str, name: &str, patch: Value) -> Value {
    json!({"operation": "patch", "target": target(collection, namespace, name), "patch": patch})
}

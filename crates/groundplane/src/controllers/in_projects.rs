//! What a controller beside the server needs in projects: a role of IAM, bound on all of them, those to come included.

use reconcile::reconciler::Reconciler;
use serde_json::{Value, json};

const API_VERSION: &str = "iam.miloapis.com/v1alpha1";
/// Where bindings apply in every control plane.
const NAMESPACE: &str = "milo-system";
/// What permissions have in the place of the empty group.
const CORE: &str = "core.miloapis.com";

/// The role and its binding for a user.
pub fn manifest(reconciler: &dyn Reconciler, user: &str) -> [Value; 2] {
    let name = format!("controller-{}", reconciler.name());
    let metadata = json!({"name": name, "namespace": NAMESPACE});
    let role = json!({"apiVersion": API_VERSION, "kind": "Role", "metadata": metadata,
        "spec": {"launchStage": "Stable", "includedPermissions": permissions(reconciler)}});
    let projects = json!({"apiGroup": "resourcemanager.miloapis.com", "kind": "Project"});
    let binding = json!({"apiVersion": API_VERSION, "kind": "PolicyBinding", "metadata": metadata,
        "spec": {"roleRef": {"name": name, "namespace": NAMESPACE}, "subjects": [{"kind": "User", "name": user}],
            "resourceSelector": {"resourceKind": projects}}});
    [role, binding]
}

/// What it declares that it writes, with reading it, and the transactions and events that this takes.
fn permissions(reconciler: &dyn Reconciler) -> Vec<String> {
    let mut all = vec![format!("{CORE}/events.create"), "groundplane.dev/transactions.create".to_owned()];
    for rule in reconciler.role() {
        let group = if rule.group.is_empty() { CORE } else { rule.group };
        let whole = rule.resources.iter().map(|it| it.split('/').next().unwrap_or(it));
        all.extend(whole.map(|it| format!("{group}/{it}.get")));
        let resources = rule.resources.iter();
        all.extend(
            resources.flat_map(|it| rule.verbs.iter().map(move |verb| format!("{group}/{it}.{verb}"))),
        );
    }
    all.sort_unstable();
    all.dedup();
    all
}

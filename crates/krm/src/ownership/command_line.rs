//! `groundplane apply` carries on what the same user wrote with other commands.
//!
//! An apply and an update are different field managers, even under one name. To a user of the command line they are
//! not: `create`, `patch` and `edit` of `groundplane` or kubectl, followed by `groundplane apply`, is one person at
//! work. Kubernetes makes the same exception for kubectl (see [`super::last_applied`]), and kubectl migrates its own
//! entries (client-go's `csaupgrade`).

use super::apply::BEFORE_FIRST_APPLY;
use super::last_applied;
use super::managers::{Identity, Manager, Managers, Operation};
use super::set::FieldSet;
use crate::object::Object;

/// The manager that `groundplane apply` applies as, unless `--field-manager` names another.
pub(super) const MANAGER: &str = "groundplane";

/// What `kubectl apply` without `--server-side` writes as.
const CLIENT_SIDE_APPLY: &str = "kubectl-client-side-apply";

/// The managers that our commands and kubectl's write as.
const COMMANDS: [&str; 18] = [
    MANAGER,
    "groundplane-demo",
    "groundplane-import",
    "kubectl",
    "kubectl-annotate",
    "kubectl-autoscale",
    CLIENT_SIDE_APPLY,
    "kubectl-create",
    "kubectl-edit",
    "kubectl-expose",
    "kubectl-label",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-rollout",
    "kubectl-run",
    "kubectl-set",
    "kubectl-taint",
    // Fields that no manager had claimed.
    BEFORE_FIRST_APPLY,
];

/// Gives the applier the fields that it applies and that other commands own: they are no conflict, and once they are
/// left out of the file they go.
///
/// Of what `kubectl apply` wrote the applier gets everything, because that was a whole configuration, too. Other
/// fields stay where they are: a label that was set by hand is not in the file, and stays.
pub(super) fn take_over(managers: &mut Managers, applier: &Identity, applied: &FieldSet, live: &Object) {
    let was_applied = live.annotation(last_applied::ANNOTATION).is_some_and(|text| !text.is_empty());
    let applied = applied.with_ancestors();
    let mut carried_on: Option<Manager> = None;
    managers.0.retain_mut(|manager| {
        let other = &manager.identity;
        let is_command = COMMANDS.contains(&other.name.as_str()) && other.subresource == applier.subresource;
        if !is_command || other == applier {
            return true;
        }
        let is_client_side = other.name == CLIENT_SIDE_APPLY && other.operation == Operation::Update;
        if is_client_side && was_applied {
            carried_on = Some(manager.clone());
            return false;
        }
        manager.fields.subtract(&applied);
        !manager.fields.is_empty()
    });
    let Some(mut carried_on) = carried_on else { return };
    // The annotation belongs to kubectl: it stays, owned by nobody.
    carried_on.fields.subtract(&FieldSet::of(&[
        &["metadata", "annotations"],
        &["metadata", "annotations", last_applied::ANNOTATION],
    ]));
    match managers.position(applier) {
        Some(at) if managers.0[at].version == carried_on.version => {
            managers.0[at].fields.extend(carried_on.fields);
        }
        // Fields of another version can't be told apart by their paths: nobody owns them until they are applied.
        Some(_) => {}
        None => managers.set(Manager { identity: applier.clone(), ..carried_on }),
    }
}

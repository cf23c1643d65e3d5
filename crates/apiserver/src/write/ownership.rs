//! Field ownership of a write.

use krm::Object;
use krm::ownership::{Applier, manager_of};
use krm::status::Status;

use crate::call::Call;
use crate::request::query::WriteOptions;

/// Updates the field ownership of `new`, which the call makes from `old`.
pub fn on_write(call: &Call, old: Option<&Object>, new: &mut Object, options: &WriteOptions) {
    if call.depth > 0 && !call.kind.tracks_effects {
        return;
    }
    let api_version = call.api_version();
    let endpoint = call.kind.owned().endpoint(&api_version, &call.subresource);
    let manager = manager_of(&options.manager, &call.agent);
    let now = call.api.now();
    if let Err(error) = endpoint.update(old, new, &manager, now) {
        // The write is more important than its field ownership.
        tracing::debug!(kind = call.kind.names.kind, name = new.name(), %error, "failed to update managedFields; the write continues");
    }
}

/// Sets the owners of the fields of `new`, which the call makes from `old` by bringing back values of `past`.
pub fn on_return(call: &Call, old: &Object, new: &mut Object, past: &Object, options: &WriteOptions) {
    let api_version = call.api_version();
    let endpoint = call.kind.owned().endpoint(&api_version, &call.subresource);
    let manager = manager_of(&options.manager, &call.agent);
    if endpoint.bring_back(old, new, past, &manager, call.api.now()).is_err() {
        // The earlier state is not of today's type: the change belongs to who makes it.
        on_write(call, Some(old), new, options);
    }
}

/// The result of applying `wanted` to `old`.
pub fn apply(
    call: &Call,
    old: Option<&Object>,
    wanted: &Object,
    options: &WriteOptions,
) -> Result<Object, Status> {
    let api_version = call.api_version();
    let endpoint = call.kind.owned().endpoint(&api_version, &call.subresource);
    let applier = Applier { manager: &options.manager, force: options.force.unwrap_or(false) };
    let now = call.api.now();
    endpoint.apply(old, wanted, applier, now).map_err(|error| error.status())
}

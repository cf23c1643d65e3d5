//! Field ownership of a write.

use krm::Object;
use krm::ownership::{Applier, manager_of};
use krm::status::Status;

use crate::call::Call;
use crate::request::query::WriteOptions;

/// Updates the field ownership of `new`, which the call makes from `old`.
pub fn on_write(call: &Call, old: Option<&Object>, new: &mut Object, options: &WriteOptions) {
    let api_version = call.api_version();
    let endpoint = call.kind.owned().endpoint(&api_version, &call.subresource);
    let manager = manager_of(&options.manager, &call.agent);
    let now = call.api.now();
    if let Err(error) = endpoint.update(old, new, &manager, now) {
        // The write is more important than its field ownership.
        tracing::debug!(kind = call.kind.names.kind, name = new.name(), %error, "failed to update managedFields; the write continues");
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

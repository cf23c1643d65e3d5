//! Secrets without their values, for those who may see that one is there and not what it holds.

use krm::Object;
use krm::status::Status;
use serde_json::Value;

use crate::call::Call;

/// Marks a secret that is shown without its values. It can't be written back: the values would be lost.
pub const REDACTED: &str = "groundplane.dev/redacted";
/// Where the audit log says whether a request was shown values.
pub const AUDITED: &str = "groundplane.dev/secret-values";
/// Where kubectl keeps what it applied, values and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Takes the values out of a secret: its keys stay, each with nothing in it, so that clients can still read it.
pub fn redact(object: &mut Object) {
    for field in ["data", "stringData"] {
        let Some(mut values) = object.get(field).cloned() else { continue };
        for value in values.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
            *value = Value::from("");
        }
        object.set(field, Some(values));
    }
    let mut notes = object.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    notes.remove(LAST_APPLIED);
    notes.insert(REDACTED.to_owned(), "true".into());
    object.set_meta("annotations", Some(notes.into()));
}

/// Why a JSON patch is refused: its operations copy values to where they can be seen, and compare them.
pub fn can_copy(call: &Call) -> Status {
    let why = "a JSON patch can copy values, which takes the permission to reveal them; apply the secret, or send a merge \
               patch";
    Status::forbidden(&call.kind.resource(), &call.name, why)
}

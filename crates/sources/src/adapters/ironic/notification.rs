//! Versioned notifications of Ironic, as its message bus and its log have them.

use serde_json::Value;

use crate::adapter::Change;

/// What a notification is about. `None` for those that change nothing of what is copied.
pub fn decode(body: &Value) -> Option<Change> {
    // oslo.messaging wraps a message in an envelope whose message is text.
    if let Some(inner) = body["oslo.message"].as_str() {
        return decode(&serde_json::from_str(inner).ok()?);
    }
    let kind = body["event_type"].as_str()?;
    let data = &body["payload"]["ironic_object.data"];
    let mut parts = kind.strip_prefix("baremetal.")?.split('.');
    let (object, action, phase) = (parts.next()?, parts.next()?, parts.next()?);
    if !matches!(phase, "end" | "success") {
        return None;
    }
    match (object, action) {
        ("node", "delete") => Some(Change::Removed(data["uuid"].as_str()?.to_owned())),
        ("node", _) => Some(Change::Host(data["uuid"].as_str()?.to_owned())),
        ("port", _) => Some(Change::Host(data["node_uuid"].as_str()?.to_owned())),
        ("chassis" | "portgroup", _) => Some(Change::Everything),
        _ => None,
    }
}

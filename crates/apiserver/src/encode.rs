//! Objects as bytes: what is stored is what readers get.
//!
//! `apiVersion` and `kind` come first, so that another version of the same object is another beginning, and a list
//! whose items don't repeat their type cuts it off. The rest has sorted keys. The place of `resourceVersion` is left
//! to the store.

use bytes::Bytes;
use krm::Object;
use krm::status::Status;
use serde_json::Value;
use store::{Body, Entry};

/// The bytes of an object with a place for its version.
pub fn body(object: &Object) -> Result<Body, Status> {
    with_end(object, b"}")
}

/// The same, but never the bytes that are stored: those the store would take for no change. A space that readers skip makes
/// the difference.
pub fn body_unlike(stored: &[u8], object: &Object) -> Result<Body, Status> {
    with_end(object, if stored.ends_with(SPACED) { b"}" } else { SPACED })
}

const SPACED: &[u8] = b" }";

fn with_end(object: &Object, end: &[u8]) -> Result<Body, Status> {
    let mut bytes = Vec::with_capacity(1024);
    bytes.push(b'{');
    for field in ["apiVersion", "kind"] {
        if let Some(value) = object.get(field) {
            member(&mut bytes, field, value)?;
        }
    }
    separate(&mut bytes);
    bytes.extend_from_slice(b"\"metadata\":{");
    let mut stamp = None;
    let mut stamp_here = |bytes: &mut Vec<u8>| {
        separate(bytes);
        bytes.extend_from_slice(b"\"resourceVersion\":\"");
        stamp = Some(bytes.len());
        bytes.push(b'"');
    };
    let mut stamped = false;
    for (field, value) in object.metadata().into_iter().flatten() {
        if field == "resourceVersion" {
            continue;
        }
        if !stamped && field.as_str() > "resourceVersion" {
            stamp_here(&mut bytes);
            stamped = true;
        }
        member(&mut bytes, field, value)?;
    }
    if !stamped {
        stamp_here(&mut bytes);
    }
    bytes.push(b'}');
    for (field, value) in &object.0 {
        if !matches!(field.as_str(), "apiVersion" | "kind" | "metadata") {
            member(&mut bytes, field, value)?;
        }
    }
    bytes.extend_from_slice(end);
    let at = stamp.unwrap_or(bytes.len());
    Body::stamped(bytes, at).ok_or_else(|| Status::internal("the object is too large to be stored"))
}

fn separate(bytes: &mut Vec<u8>) {
    if bytes.last().is_some_and(|last| *last != b'{') {
        bytes.push(b',');
    }
}

fn member(bytes: &mut Vec<u8>, field: &str, value: &Value) -> Result<(), Status> {
    separate(bytes);
    serde_json::to_writer(&mut *bytes, field).map_err(Status::internal)?;
    bytes.push(b':');
    bytes.extend_from_slice(&krm::encode::to_json(value));
    Ok(())
}

/// The bytes of an object as a client gets them that asked for nothing special.
pub fn plain(object: &Object) -> Bytes {
    krm::encode::to_json(&Value::Object(object.0.clone())).into()
}

/// Reads stored bytes.
pub fn read(bytes: &[u8]) -> Result<Object, Status> {
    serde_json::from_slice(bytes)
        .map(Object)
        .map_err(|error| Status::internal(format_args!("failed to decode a stored object: {error}")))
}

/// Whether a stored object that is not sealed is marked as being deleted. Asked with every write: it is read only where the
/// word is in it at all.
pub fn is_deleting(entry: &Entry) -> bool {
    const MARK: &[u8] = b"\"deletionTimestamp\"";
    let bytes = entry.bytes();
    bytes.windows(MARK.len()).any(|part| part == MARK) && read(bytes).is_ok_and(|object| object.is_deleting())
}

/// The beginning of every object of a kind at one version: `{"apiVersion":"…","kind":"…"`.
pub fn beginning(api_version: &str, kind: &str) -> String {
    format!("{{\"apiVersion\":\"{api_version}\",\"kind\":\"{kind}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use store::Version;

    #[test]
    fn the_version_stands_among_the_metadata_in_order() {
        let object = Object::from_value(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "resourceVersion": "old", "uid": "u"}, "data": {"k": "v"}
        }))
        .unwrap();
        let body = body(&object).unwrap();
        assert_eq!(
            body.at(Version::new(7)),
            r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","uid":"u"},"data":{"k":"v"}}"#
        );
        let spaced = super::body_unlike(b"{}", &object).unwrap().at(Version::new(7));
        assert!(
            spaced.ends_with(b"} }") && read(&spaced).unwrap() == read(&body.at(Version::new(7))).unwrap()
        );
        assert_eq!(
            super::body_unlike(&spaced, &object).unwrap().at(Version::new(7)),
            body.at(Version::new(7))
        );
        let bare = Object::from_value(json!({"apiVersion": "v1", "kind": "X", "metadata": {}})).unwrap();
        assert_eq!(
            super::body(&bare).unwrap().at(Version::new(1)),
            r#"{"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"1"}}"#
        );
    }
}

//! Objects by their names, as commands print and read them.

use serde_json::Value;

/// `configmap/a`, `kettle.example.com/whistler`.
pub fn of_object(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or("");
    let group =
        object["apiVersion"].as_str().and_then(krm::names::group_version).map_or("", |(group, _)| group);
    format!("{}/{}", typed(kind, group), object["metadata"]["name"].as_str().unwrap_or(""))
}

/// `configmap`, `kettle.example.com`.
pub fn typed(kind: &str, group: &str) -> String {
    match group {
        "" => kind.to_lowercase(),
        group => format!("{}.{group}", kind.to_lowercase()),
    }
}

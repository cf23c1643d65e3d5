//! Objects of all control planes at once.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The group and the plural of projects, each of which has a control plane.
pub const PROJECTS: (&str, &str) = ("resourcemanager.miloapis.com", "projects");

const ANNOTATION: &str = "groundplane.dev/plane";

/// An object, and the control plane that it is in.
#[derive(Debug, Clone, PartialEq)]
pub struct InPlane<T> {
    /// The project; `None` for the root. [`Client::in_plane`](crate::Client::in_plane) takes it.
    pub project: Option<String>,
    /// The object as it is there.
    pub object: T,
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for InPlane<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<InPlane<T>, D::Error> {
        let mut value = Value::deserialize(from)?;
        let project = Some(of(&value).to_owned()).filter(|project| !project.is_empty());
        // The server added it: an object that is written back must not have it.
        if let Some(metadata) = value["metadata"].as_object_mut()
            && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        {
            annotations.remove(ANNOTATION);
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        let object = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(InPlane { project, object })
    }
}

/// The project of an object; empty for the root.
pub(crate) fn of(object: &Value) -> &str {
    object["metadata"]["annotations"][ANNOTATION].as_str().unwrap_or("")
}

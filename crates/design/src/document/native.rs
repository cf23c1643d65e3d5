//! Our directory layout: one document per file, in three directories, in our own format.

use std::path::PathBuf;

use super::{Document, DocumentId};
use crate::{
    secrets,
    yaml::{self, Map, Node},
};

/// The API version of our own documents.
pub const API_VERSION: &str = "design.groundplane.dev/v1alpha1";

/// The directory and subdirectory of each kind.
const FOLDERS: [(&str, &str); 9] = [
    ("Region", "formation/regions"),
    ("Rack", "formation/racks"),
    ("Network", "formation/networks"),
    ("NetworkLink", "formation/links"),
    ("BaremetalNode", "formation/nodes"),
    ("HardwareProfile", "hardware/profiles"),
    ("DriverPackage", "hardware/drivers"),
    ("HostProfile", "profiles/hosts"),
    ("BootAction", "profiles/boot-actions"),
];

/// Whether a document is part of a design, in any of the dialects.
pub fn is_of_a_design(document: &Document) -> bool {
    is_schema_of_a_design(&document.id)
}

/// Whether a document of this schema is part of a design.
pub fn is_schema_of_a_design(id: &DocumentId) -> bool {
    let parts = id.schema_parts();
    parts.is_some_and(|(namespace, kind, _)| {
        ["drydock", "design.groundplane.dev"].contains(&namespace) && folder_of(kind).is_some()
    })
}

/// The path of a document in our layout, and its content.
pub fn file_of(document: &Document) -> (PathBuf, String) {
    let kind = document.id.kind().unwrap_or_default();
    let folder = folder_of(kind).unwrap_or("formation");
    let text = yaml::write(&in_our_envelope(document, kind).into());
    (PathBuf::from(folder).join(format!("{}.yaml", file_name(document.name()))), text)
}

/// Whether a document says something that others must not see.
pub fn holds_secrets(document: &Document) -> bool {
    secrets::without_secrets(&document.data, &|path, _| secrets::is_secret_path(path)) != document.data
}

fn folder_of(kind: &str) -> Option<&'static str> {
    FOLDERS.iter().find(|(known, _)| *known == kind).map(|(_, folder)| *folder)
}

fn in_our_envelope(document: &Document, kind: &str) -> Map {
    let at = &document.at;
    let mut metadata = Map::new();
    metadata.insert("name", at.clone(), Node::new(document.name(), at.clone()));
    if let Some(labels) = document.metadata.get("labels").filter(|labels| labels.value.as_map().is_some()) {
        metadata.insert("labels", at.clone(), labels.clone());
    }
    let mut map = Map::new();
    map.insert("apiVersion", at.clone(), Node::new(API_VERSION, at.clone()));
    map.insert("kind", at.clone(), Node::new(kind, at.clone()));
    map.insert("metadata", at.clone(), Node::new(metadata, at.clone()));
    map.insert("spec", at.clone(), document.data.clone());
    map
}

/// A document name as a safe file name.
fn file_name(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().map(kept).collect();
    if name.starts_with('.') { format!("_{name}") } else { name }
}

//! One document: its schema, name and data.

use std::{fmt, sync::Arc};

use thiserror::Error;

use crate::{
    model::DocumentRef,
    object, secrets,
    yaml::{Map, Node, Position},
};

/// What names a document among all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId {
    /// `namespace/Kind/version`, for both envelopes.
    pub schema: String,
    /// The name.
    pub name: String,
}

impl DocumentId {
    /// The parts of a schema of the form `namespace/Kind/version`; nothing if it has another form.
    pub fn schema_parts(&self) -> Option<(&str, &str, &str)> {
        let mut parts = self.schema.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(namespace), Some(kind), Some(version), None) => Some((namespace, kind, version)),
            _ => None,
        }
    }

    /// The kind: `BaremetalNode` of `drydock/BaremetalNode/v1`.
    pub fn kind(&self) -> Option<&str> {
        self.schema_parts().map(|(_, kind, _)| kind)
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.schema, self.name)
    }
}

/// How the API version of our own documents begins.
const NATIVE: &str = "design.groundplane.dev/";

/// Which form a document was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// `schema`, `metadata`, `data`.
    Deckhand,
    /// `apiVersion: drydock/v1`, `kind`, `metadata`, `spec`.
    Legacy,
    /// `apiVersion: design.groundplane.dev/v1alpha1`, `kind`, `metadata`, `spec`.
    Native,
}

/// A document as it was read: named, its payload not yet understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Which form it was written in.
    pub envelope: Envelope,
    /// What it is and what it is called.
    pub id: DocumentId,
    /// All of `metadata`, a map.
    pub metadata: Node,
    /// The payload: `data` or `spec`; null when absent.
    pub data: Node,
    /// Where the document begins.
    pub at: Position,
    /// What is wrong with its name; then it goes by `Unknown` and is no part of a design.
    pub nameless: Option<DocumentError>,
}

/// A document without a usable envelope; its author has to change it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct DocumentError {
    /// Where.
    pub at: Position,
    /// What is missing or wrong.
    pub message: String,
}

impl Document {
    /// Takes the envelope off one YAML document. Pegleg's wrapping of a document that it manages is taken off too, unless
    /// the document in it is encrypted.
    pub fn from_node(node: Node) -> Result<Self, DocumentError> {
        let node = match managed(&node) {
            Some(inner) => inner.clone(),
            None => node,
        };
        let refuse = |at: &Position, message: String| DocumentError { at: at.clone(), message };
        if node.value.as_map().is_none() {
            return Err(refuse(&node.at, format!("a document must be a map, found {}", node.value.kind())));
        }
        let (envelope, schema) = match (node.get("schema"), node.get("apiVersion"), node.get("kind")) {
            (Some(schema), ..) => (Envelope::Deckhand, text(schema, "schema")?),
            (None, Some(version), Some(kind)) => {
                let is_native = version.value.as_str().is_some_and(|version| version.starts_with(NATIVE));
                (if is_native { Envelope::Native } else { Envelope::Legacy }, legacy_schema(version, kind)?)
            }
            _ => {
                let message = "a document requires `schema`, or `apiVersion` and `kind`".to_owned();
                return Err(refuse(&node.at, message));
            }
        };
        let (name, nameless) = match name_of(&node, &schema) {
            Ok(name) => (name, None),
            Err(error) => ("Unknown".to_owned(), Some(error)),
        };
        let nowhere = Node { value: Map::new().into(), at: node.at.clone() };
        let metadata = node.get("metadata").filter(|metadata| metadata.value.as_map().is_some());
        let payload = match envelope {
            Envelope::Deckhand => "data",
            Envelope::Legacy | Envelope::Native => "spec",
        };
        let nothing = || Node { value: Default::default(), at: node.at.clone() };
        let mut document = Self {
            envelope,
            id: DocumentId { schema, name },
            metadata: metadata.cloned().unwrap_or(nowhere),
            data: node.get(payload).cloned().unwrap_or_else(nothing),
            at: node.at,
            nameless,
        };
        document.claim_values();
        Ok(if envelope == Envelope::Native { object::in_file(document) } else { document })
    }

    /// Every value remembers the document it was written in, through layering and substitution.
    fn claim_values(&mut self) {
        let is_secret = secrets::is_secret_document(&self.id.schema, &self.metadata, &self.data);
        let reference = Arc::new(DocumentRef::of(self));
        let file = self.at.file.of_document(Arc::clone(&reference), is_secret);
        self.data.move_to(&file);
        self.metadata.move_to(&self.at.file.of_document(reference, false));
        self.at.file = file;
    }

    /// Whether everything that it says is secret.
    pub fn is_secret(&self) -> bool {
        self.at.file.is_secret()
    }

    /// The document's name.
    pub fn name(&self) -> &str {
        &self.id.name
    }

    /// The document's schema, `namespace/Kind/version`.
    pub fn schema(&self) -> &str {
        &self.id.schema
    }
}

fn managed(node: &Node) -> Option<&Node> {
    let schema = node.get("schema")?.value.as_str()?;
    let data = node
        .get("data")
        .filter(|data| schema.starts_with(secrets::MANAGED) && data.get("encrypted").is_none())?;
    data.get("managedDocument").filter(|inner| inner.get("schema").is_some())
}

/// The name in the metadata.
fn name_of(node: &Node, schema: &str) -> Result<String, DocumentError> {
    let refuse = |at: &Position, message: String| Err(DocumentError { at: at.clone(), message });
    let Some(metadata) = node.get("metadata") else {
        return refuse(&node.at, format!("a document of {schema} has no `metadata`"));
    };
    if metadata.value.as_map().is_none() {
        return refuse(&metadata.at, format!("`metadata` must be a map, found {}", metadata.value.kind()));
    }
    let Some(name) = metadata.get("name") else {
        return refuse(&metadata.at, format!("a document of {schema} has no `metadata.name`"));
    };
    match name.value.text().filter(|_| !name.value.is_null()) {
        Some(text) => Ok(text),
        None => refuse(&name.at, format!("`metadata.name` must be a string, found {}", name.value.kind())),
    }
}

/// `drydock/v1` and `Network` name what the current form calls `drydock/Network/v1`.
fn legacy_schema(version: &Node, kind: &Node) -> Result<String, DocumentError> {
    let api_version = text(version, "apiVersion")?;
    let kind = text(kind, "kind")?;
    Ok(match api_version.split_once('/') {
        Some((namespace, version)) => format!("{namespace}/{kind}/{version}"),
        None => format!("{kind}/{api_version}"),
    })
}

fn text(node: &Node, key: &str) -> Result<String, DocumentError> {
    node.value.as_str().map(str::to_owned).ok_or_else(|| DocumentError {
        at: node.at.clone(),
        message: format!("`{key}` must be a string, found {}", node.value.kind()),
    })
}

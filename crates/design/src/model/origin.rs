//! The origin of a value: document, file, line and column.

use std::{fmt, sync::Arc};

use crate::{
    document::{Document, Envelope},
    yaml::Position,
};

/// A document as messages and provenance name it: `HostProfile/defaults`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentRef {
    /// The kind, such as `HostProfile`.
    pub kind: String,
    /// The name from the metadata.
    pub name: String,
    /// `namespace/Kind/version`; documents of the legacy envelope have none.
    pub schema: Option<String>,
    /// The Deckhand layer it was written for, where it says so.
    pub layer: Option<String>,
}

impl DocumentRef {
    /// The document by its kind and name.
    pub fn of(document: &Document) -> Self {
        Self {
            kind: document.id.kind().unwrap_or(document.schema()).to_owned(),
            name: document.name().to_owned(),
            schema: (document.envelope != Envelope::Legacy).then(|| document.schema().to_owned()),
            layer: layer(document),
        }
    }
}

/// The Deckhand layer a document says it is for.
fn layer(document: &Document) -> Option<String> {
    let definition = document.metadata.get("layeringDefinition")?;
    definition.get("layer")?.value.as_str().map(str::to_owned)
}

impl fmt::Display for DocumentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

/// The document that set a value, and the place it did so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The place in its file.
    pub at: Position,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.document, self.at)?;
        match &self.document.layer {
            Some(layer) => write!(f, " in layer {layer}"),
            None => Ok(()),
        }
    }
}

/// A value together with what set it. No value of a design exists without its origin.
#[derive(Clone, Debug)]
pub struct Set<T> {
    /// What was set.
    pub value: T,
    /// By which document, where.
    pub by: Origin,
}

impl<T> Set<T> {
    /// The same origin for another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Set<U> {
        Set { value: change(self.value), by: self.by }
    }
}

/// Equal when the values are: who set something does not change what it says.
impl<T: PartialEq> PartialEq for Set<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A field that a document may leave out.
pub type Field<T> = Option<Set<T>>;

/// A map of texts in the order written.
pub type Texts = indexmap::IndexMap<String, Set<String>>;

/// The text of a field, if it is set.
pub fn text(field: &Field<String>) -> Option<&str> {
    field.as_ref().map(|set| set.value.as_str())
}

/// The texts of a list, without their origins.
pub fn values(list: &[Set<String>]) -> impl Iterator<Item = &str> {
    list.iter().map(|set| set.value.as_str())
}

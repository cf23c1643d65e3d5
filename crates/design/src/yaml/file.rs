//! Where values come from: a file, the source that brought it to a server, and the document in it.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use crate::model::DocumentRef;

/// A file, or one document of it. All positions in a document share it, so it costs a value one pointer.
#[derive(Clone, Debug)]
pub struct File {
    name: Arc<str>,
    source: Option<Arc<str>>,
    document: Option<Arc<DocumentRef>>,
    is_secret: bool,
}

impl File {
    /// A file by the name that messages use.
    pub fn named(name: &str) -> Arc<Self> {
        Arc::new(Self { name: name.into(), source: None, document: None, is_secret: false })
    }

    /// One document of the file.
    pub(crate) fn of_document(&self, document: Arc<DocumentRef>, is_secret: bool) -> Arc<Self> {
        Arc::new(Self { document: Some(document), is_secret, ..self.clone() })
    }

    /// A file that a source brought to a server. A value that was written there has an empty file name.
    pub(crate) fn of_source(name: &str, source: Option<&str>) -> Self {
        Self { name: name.into(), source: source.map(Into::into), document: None, is_secret: false }
    }

    /// The same place, for a value that holds a secret.
    pub(crate) fn secret(&self) -> Arc<Self> {
        Arc::new(Self { is_secret: true, ..self.clone() })
    }

    /// The field manager that brought it to a server.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The document as it was written, before layers were rendered.
    pub fn document(&self) -> Option<&Arc<DocumentRef>> {
        self.document.as_ref()
    }

    /// Whether what is written here must not be shown.
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }
}

impl Deref for File {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

/// `source ipam: addresses.yaml`, or the part that is known.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, &*self.name) {
            (Some(source), "") => write!(f, "source {source}"),
            (Some(source), name) => write!(f, "source {source}: {name}"),
            (None, "") => f.write_str("the server"),
            (None, name) => f.write_str(name),
        }
    }
}

impl File {
    fn key(&self) -> (&str, &Option<Arc<str>>) {
        (&self.name, &self.source)
    }
}

impl PartialEq for File {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for File {}

impl PartialOrd for File {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for File {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for File {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

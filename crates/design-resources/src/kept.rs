//! Compiled designs that are kept: each state is compiled once, and a change compiles what it reaches.

use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use design::document::Document;
use design::object::{ITEMS, KINDS, document_of};
use krm::Object;
use krm::kind::{Address, Parsed, QueryContext, Resource as _};
use serde_json::Value;

use crate::compiled_design::{CompiledDesign, Stages, State, as_document};
use crate::kinds::design::DesignSpec;
use crate::kinds::{Design, DesignRevision, GROUP};

/// The current documents of a design, compiled for whoever asks: what they may not read is left out, and then nothing is kept.
pub fn current(design: &Design, look: &dyn QueryContext) -> Arc<CompiledDesign> {
    let key = format!("design/{}/{}", design.metadata.namespace, design.metadata.name);
    let kept = look.recall(&key).and_then(|kept| kept.downcast::<Mutex<Kept>>().ok());
    let kept = kept.unwrap_or_default();
    let seen = Seen::by(design, look);
    if look.is_incomplete() {
        return Kept::default().compiled(design, &seen, look);
    }
    // Whoever asks meanwhile waits for what is being compiled instead of compiling it too.
    let compiled = locked(&kept).compiled(design, &seen, look);
    look.keep(&key, kept as Parsed);
    compiled
}

/// The field managers of the current documents of a design.
pub fn sources(design: &Design, look: &dyn QueryContext) -> BTreeSet<String> {
    let key = format!("design/{}/{}", design.metadata.namespace, design.metadata.name);
    let kept = look.recall(&key).and_then(|kept| kept.downcast::<Mutex<Kept>>().ok()).unwrap_or_default();
    let kept = locked(&kept);
    kept.documents.values().flat_map(|one| one.sources.iter().cloned()).collect()
}

/// A revision, compiled. It never changes.
pub fn revision(namespace: &str, name: &str, look: &dyn QueryContext) -> Option<Arc<CompiledDesign>> {
    let address = DesignRevision::address(namespace, name);
    // The version tells a revision from a later one of the same name, and whether it may be read.
    let key = format!("revision/{namespace}/{name}/{}", look.version(&address)?);
    if let Some(kept) = look.recall(&key).and_then(|kept| kept.downcast().ok()) {
        return Some(kept);
    }
    let revision = DesignRevision::read(&*look.get(&address)?)?;
    let compiled = Arc::new(CompiledDesign::of(revision.spec.state()));
    look.keep(&key, Arc::clone(&compiled) as Arc<dyn Any + Send + Sync>);
    Some(compiled)
}

fn locked(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kinds of a design's documents, and the objects of each with their versions.
#[derive(PartialEq, Eq)]
struct Seen(Vec<(GroupResource, Versions)>);

/// Group and plural of a kind.
type GroupResource = (String, String);
/// Names and versions of objects.
type Versions = Vec<(String, u64)>;

impl Seen {
    fn by(design: &Design, look: &dyn QueryContext) -> Seen {
        let namespace = &design.metadata.namespace;
        let ours = KINDS.iter().chain([&ITEMS]).map(|(_, plural)| (GROUP.to_owned(), (*plural).to_owned()));
        let theirs = design.spec.kinds.iter().flatten();
        // Only CRDs are read: the status of a design, which is computed from all objects, must not tell of other kinds.
        let theirs = theirs.filter(|kind| look.is_defined_in_namespaces(&kind.group, &kind.resource));
        let theirs = theirs.map(|kind| (kind.group.clone(), kind.resource.clone()));
        let of = |(group, plural): (String, String)| {
            let versions = look.versions_in(&group, &plural, namespace);
            ((group, plural), versions)
        };
        Seen(ours.chain(theirs).map(of).collect())
    }
}

/// One object of a design.
struct KeptDocument {
    version: u64,
    /// Nothing if the design does not take it.
    document: Option<Arc<Document>>,
    sources: Vec<String>,
}

/// What is known of the current documents of a design.
#[derive(Default)]
struct Kept {
    spec: DesignSpec,
    seen: Option<Seen>,
    documents: HashMap<(usize, String), KeptDocument>,
    stages: Stages,
    compiled: Option<Arc<CompiledDesign>>,
}

impl Kept {
    fn compiled(&mut self, design: &Design, seen: &Seen, look: &dyn QueryContext) -> Arc<CompiledDesign> {
        let is_same_selection = self.spec.match_labels == design.spec.match_labels
            && self.spec.kinds == design.spec.kinds
            && self.spec.layers == design.spec.layers;
        if let (Some(compiled), true, true) =
            (&self.compiled, is_same_selection, self.seen.as_ref() == Some(seen))
        {
            return Arc::clone(compiled);
        }
        if !is_same_selection {
            *self = Kept { spec: design.spec.clone(), ..Kept::default() };
        }
        self.read(design, seen, look);
        let mut documents: Vec<Arc<Document>> =
            self.documents.values().filter_map(|one| one.document.clone()).collect();
        documents.sort_by(|a, b| design::object::order(a).cmp(&design::object::order(b)));
        let layers = design.spec.layers.clone().unwrap_or_default();
        let compiled = Arc::new(self.stages.compile(State { documents, layers }));
        self.compiled = Some(Arc::clone(&compiled));
        self.seen = Some(Seen(seen.0.clone()));
        compiled
    }

    /// Reads the objects that changed.
    fn read(&mut self, design: &Design, seen: &Seen, look: &dyn QueryContext) {
        let mut before = std::mem::take(&mut self.documents);
        for (index, ((group, plural), versions)) in seen.0.iter().enumerate() {
            for (name, version) in versions {
                let key = (index, name.clone());
                let known = before.remove(&key).filter(|known| known.version == *version);
                let one = known.or_else(|| {
                    let at = Address {
                        group: group.clone(),
                        plural: plural.clone(),
                        namespace: design.metadata.namespace.clone(),
                        name: name.clone(),
                    };
                    Some(KeptDocument::of(&*look.get(&at)?, *version, group == GROUP, &design.spec))
                });
                if let Some(one) = one {
                    self.documents.insert(key, one);
                }
            }
        }
    }
}

impl KeptDocument {
    fn of(object: &Object, version: u64, is_ours: bool, spec: &DesignSpec) -> KeptDocument {
        if !is_ours {
            let document = as_document(object).map(Arc::new);
            return KeptDocument { version, document, sources: Vec::new() };
        }
        let value = Value::Object(object.0.clone());
        let taken = spec.takes(object);
        let document = document_of(&value, &|_, _| None).filter(|_| taken).map(Arc::new);
        KeptDocument { version, document, sources: if taken { sources_of(&value) } else { Vec::new() } }
    }
}

fn sources_of(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let own = entries.filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty));
    own.filter_map(|entry| entry["manager"].as_str().map(str::to_owned)).collect()
}

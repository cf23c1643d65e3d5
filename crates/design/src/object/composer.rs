//! Renders the documents of a design again and again: only what others depend on, and only if that changed.

use std::{collections::HashMap, sync::Arc};

use super::{Composed, compose};
use crate::{
    deckhand::{MissingValue, Problem, needed},
    document::Document,
    yaml::{Node, Value},
};

/// Renders states of one design, one after another.
#[derive(Debug, Default)]
pub struct Composer {
    layers: Vec<String>,
    /// The documents that take part in layering and substitution, as they were written.
    written: Vec<Arc<Document>>,
    /// What they became, by the position in `written`; nothing for one that only exists as a parent.
    rendered: Vec<Option<Arc<Document>>>,
    missing: Vec<MissingValue>,
}

/// Documents after layering and substitution.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The documents. Those that take no part are given back as they are.
    pub documents: Vec<Arc<Document>>,
    /// Values that documents ask for and that are not there.
    pub missing: Vec<MissingValue>,
}

impl Composer {
    /// Renders layers in their order, and copies values between documents where they ask for it.
    pub fn compose(
        &mut self,
        documents: &[Arc<Document>],
        layers: &[String],
    ) -> Result<Shared, Vec<Problem>> {
        let takes_part = needed(documents, takes_from_others);
        let part: Vec<Arc<Document>> = documents
            .iter()
            .zip(&takes_part)
            .filter(|(_, part)| **part)
            .map(|(one, _)| Arc::clone(one))
            .collect();
        let is_same = self.layers == layers
            && self.written.len() == part.len()
            && self.written.iter().zip(&part).all(|(a, b)| Arc::ptr_eq(a, b));
        if !is_same {
            self.render(part, layers)?;
        }
        let mut rendered = self.rendered.iter();
        let documents =
            documents.iter().zip(takes_part).filter_map(|(document, takes_part)| match takes_part {
                true => rendered.next().and_then(Clone::clone),
                false => (!is_abstract(document)).then(|| Arc::clone(document)),
            });
        Ok(Shared { documents: documents.collect(), missing: self.missing.clone() })
    }

    fn render(&mut self, part: Vec<Arc<Document>>, layers: &[String]) -> Result<(), Vec<Problem>> {
        let written = part.iter().map(|document| Document::clone(document)).collect();
        let before = std::mem::take(self);
        let Composed { documents, missing } = compose(written, layers)?;
        let known: HashMap<_, _> =
            before.rendered.into_iter().flatten().map(|one| (one.id.clone(), one)).collect();
        // Several layers may have a document of one name; where it was written tells which is left.
        let mut left: HashMap<_, Document> =
            documents.into_iter().map(|one| ((one.id.clone(), one.at.clone()), one)).collect();
        self.rendered = part
            .iter()
            .map(|written| {
                let new = left.remove(&(written.id.clone(), written.at.clone()))?;
                let old = known.get(&new.id).filter(|old| is_same_document(old, &new));
                Some(old.cloned().unwrap_or_else(|| Arc::new(new)))
            })
            .collect();
        (self.layers, self.written, self.missing) = (layers.to_vec(), part, missing);
        Ok(())
    }
}

/// Whether others decide what a document becomes.
fn takes_from_others(document: &Document) -> bool {
    let has = |key: &str| document.metadata.get(key).is_some_and(|one| !one.value.is_null());
    let definition = document.metadata.get("layeringDefinition");
    has("substitutions")
        || has("replacement")
        || definition.is_some_and(|one| one.get("parentSelector").is_some())
}

fn is_abstract(document: &Document) -> bool {
    let flag = document.metadata.get("layeringDefinition").and_then(|definition| definition.get("abstract"));
    flag.is_some_and(|flag| flag.value.as_bool() == Some(true))
}

/// Whether two documents say the same, in the same places.
fn is_same_document(a: &Document, b: &Document) -> bool {
    a.envelope == b.envelope && a.at == b.at && a.metadata == b.metadata && is_same_node(&a.data, &b.data)
}

fn is_same_node(a: &Node, b: &Node) -> bool {
    a.at == b.at
        && a.at.file.is_secret() == b.at.file.is_secret()
        && match (&a.value, &b.value) {
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len()
                    && a.entries().zip(b.entries()).all(|((key, one), (other, two))| {
                        key == other && one.key_at == two.key_at && is_same_node(&one.value, &two.value)
                    })
            }
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_node(a, b))
            }
            (a, b) => a == b,
        }
}

//! The document that wrote a value, by position. Layering and substitution move values, but keep their position.

use std::{collections::HashMap, sync::Arc};

use super::Document;
use crate::{model::DocumentRef, yaml::Position};

/// The documents as they were written, by file and line.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    /// Where each document of a file begins, in order.
    by_file: HashMap<Arc<str>, Vec<(u32, DocumentRef)>>,
}

impl Writers {
    /// Of documents before they are rendered.
    pub fn of(documents: &[Document]) -> Self {
        let mut writers = Self::default();
        for document in documents {
            let file = writers.by_file.entry(Arc::clone(&document.at.file)).or_default();
            file.push((document.at.line, DocumentRef::of(document)));
        }
        for file in writers.by_file.values_mut() {
            file.sort_by_key(|(line, _)| *line);
        }
        writers
    }

    /// The document that holds a place.
    pub fn of_place(&self, at: &Position) -> Option<&DocumentRef> {
        let file = self.by_file.get(&at.file)?;
        let after = file.partition_point(|(line, _)| *line <= at.line);
        file.get(after.checked_sub(1)?).map(|(_, document)| document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    #[test]
    fn a_place_belongs_to_the_document_above_it() {
        let text = "---\nschema: a/B/v1\nmetadata: {name: one, layeringDefinition: {layer: global}}\ndata: 1\n---\nschema: a/B/v1\nmetadata: {name: two}\ndata: 2\n";
        let documents = parse("f.yaml", text.as_bytes()).unwrap().documents;
        let writers = Writers::of(&documents);
        let writer = |i: usize| writers.of_place(&documents[i].data.at).unwrap();
        assert_eq!((writer(0).to_string().as_str(), writer(0).layer.as_deref()), ("B/one", Some("global")));
        assert_eq!(writer(1).to_string(), "B/two");
    }
}

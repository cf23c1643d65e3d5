//! Which documents others depend on: parents, what replaces them, and sources of substitutions.

use std::{borrow::Borrow, collections::HashMap};

use super::definition::Definition;
use crate::document::{Document, DocumentId};

/// The documents that are wanted, and all that they need, each by index.
pub fn needed<D: Borrow<Document>>(documents: &[D], is_wanted: impl Fn(&Document) -> bool) -> Vec<bool> {
    let documents: Vec<&Document> = documents.iter().map(Borrow::borrow).collect();
    let definitions: Vec<Definition> =
        documents.iter().map(|document| Definition::of(document).unwrap_or_default()).collect();
    let mut by_id: HashMap<&DocumentId, Vec<usize>> = HashMap::new();
    let mut by_label: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (index, (document, definition)) in documents.iter().zip(&definitions).enumerate() {
        by_id.entry(&document.id).or_default().push(index);
        for (key, value) in &definition.labels {
            by_label.entry((key, value.value.text().unwrap_or_default())).or_default().push(index);
        }
    }
    let mut is_needed = vec![false; documents.len()];
    let mut left: Vec<usize> = (0..documents.len()).filter(|&index| is_wanted(documents[index])).collect();
    while let Some(index) = left.pop() {
        if std::mem::replace(&mut is_needed[index], true) {
            continue;
        }
        let definition = &definitions[index];
        let named = definition.substitutions.iter().map(|one| &one.source.id).chain([&documents[index].id]);
        left.extend(named.filter_map(|id| by_id.get(id)).flatten());
        let selector = &definition.parent_selector;
        let first = selector
            .first()
            .and_then(|(key, value)| by_label.get(&(key.as_str(), value.value.text().unwrap_or_default())));
        let is_parent = |other: &&usize| {
            documents[**other].schema() == documents[index].schema()
                && selector.iter().all(|pair| definitions[**other].labels.contains(pair))
        };
        left.extend(first.into_iter().flatten().filter(is_parent));
    }
    is_needed
}

/// The order of layers that the first policy among documents gives.
pub fn layer_order(documents: &[Document]) -> Option<Vec<String>> {
    super::layers::LayerOrder::of(documents, &mut Vec::new()).ok()?.map(super::layers::LayerOrder::into_names)
}

//! The order of documents does not matter where the rules do not depend on it.

use std::collections::{BTreeMap, BTreeSet};

use design::{
    deckhand::{ProblemKind, render},
    document::Document,
};
use proptest::prelude::*;

use crate::documents;

const LAYERS: [&str; 3] = ["global", "type", "site"];

const ACTIONS: [&str; 4] = [
    "[]",
    "[{method: merge, path: .}]",
    "[{method: replace, path: .own}]",
    "[{method: merge, path: .}, {method: delete, path: .own}]",
];

/// A document of few layers, labels, selectors and sources, so that many match; mistakes included.
#[derive(Clone, Debug)]
struct Drawn {
    layer: usize,
    label: usize,
    selector: usize,
    actions: usize,
    source: usize,
    is_abstract: bool,
}

impl Drawn {
    fn any() -> impl Strategy<Value = Self> {
        (0..3usize, 0..4usize, 0..6usize, 0..4usize, 0..24usize, any::<bool>()).prop_map(
            |(layer, label, selector, actions, source, is_abstract)| Self {
                layer,
                label,
                selector,
                actions,
                source,
                is_abstract,
            },
        )
    }

    /// The text of the document with a number; a source beyond the last document means none.
    fn text(&self, number: usize, count: usize) -> String {
        let Self { label, selector, source, is_abstract, .. } = self;
        let (layer, actions) = (LAYERS[self.layer], ACTIONS[self.actions]);
        let substitution = "{src: {schema: a/Thing/v1, name: dN, path: .own}, dest: {path: .got}}";
        let taken =
            if *source < count { substitution.replace('N', &source.to_string()) } else { String::new() };
        format!(
            "---
schema: a/Thing/v1
metadata:
  name: d{number}
  labels: {{role: r{label}}}
  substitutions: [{taken}]
  layeringDefinition:
    abstract: {is_abstract}
    layer: {layer}
    parentSelector: {{role: r{selector}}}
    actions: {actions}
data: {{own: {number}, of{number}: 1}}
"
        )
    }
}

fn site() -> impl Strategy<Value = Vec<Document>> {
    prop::collection::vec(Drawn::any(), 1..10).prop_map(|drawn| {
        let texts = drawn.iter().enumerate().map(|(number, document)| document.text(number, drawn.len()));
        documents(&texts.collect::<String>())
    })
}

/// The data of every document, or the problems. Of cycles it only counts that there are some: which are met,
/// of those that share documents, depends on where one begins.
fn outcome(documents: Vec<Document>) -> Result<BTreeMap<String, String>, BTreeSet<String>> {
    let rendered = render(documents).map_err(|problems| {
        let told = problems.iter().map(|problem| match problem.kind {
            ProblemKind::Cycle => "a cycle".to_owned(),
            _ => problem.to_string(),
        });
        told.collect::<BTreeSet<_>>()
    })?;
    let json = |document: &Document| serde_json::to_string(&document.data).expect("values are JSON");
    Ok(rendered.iter().map(|document| (document.id.to_string(), json(document))).collect())
}

fn site_and_shuffled() -> impl Strategy<Value = (Vec<Document>, Vec<Document>)> {
    site().prop_flat_map(|site| (Just(site.clone()), Just(site).prop_shuffle()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_gives_the_same((given, shuffled) in site_and_shuffled()) {
        prop_assert_eq!(outcome(given), outcome(shuffled));
    }
}

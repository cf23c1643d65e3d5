//! Duplicate documents of a kind and name are an error.

use std::collections::HashSet;

use crate::{inherit::Refusal, model::Design};

pub(super) fn of(design: &Design) -> Vec<Refusal> {
    let mut seen = HashSet::new();
    let mut told = HashSet::new();
    let ours = design.outcomes.iter().filter(|outcome| !outcome.document.kind.starts_with("promenade/"));
    let documents = ours.map(|outcome| &outcome.document);
    let again = documents.filter(|document| !seen.insert((&document.kind, &document.name)));
    let once = again.filter(|document| told.insert((&document.kind, &document.name)));
    once.map(|document| Refusal::DuplicateName { document: document.to_string() }).collect()
}

//! The map rule: the parent's keys in their order without those that `!key` removes, then what the child adds.
//!
//! A key that is overridden keeps its place; one that is removed and written again goes last.

use super::{
    field_path::FieldPath,
    ledger::{Ledger, Manner},
};
use crate::model::Texts;

pub(super) fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Texts, child: &Texts) -> Texts {
    if child.is_empty() {
        return parent.clone();
    }
    let mut merged = Texts::with_capacity(parent.len() + child.len());
    let has_markers = child.keys().any(|key| key.starts_with('!'));
    for (key, value) in parent {
        match has_markers.then(|| child.get(&format!("!{key}"))).flatten() {
            Some(marker) => {
                ledger.note(&FieldPath::In(path, key), Manner::Removed, &value.value, &value.by, &marker.by)
            }
            None => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    for (key, value) in child.iter().filter(|(key, _)| !key.starts_with('!')) {
        if let Some(lost) = merged.insert(key.clone(), value.clone()) {
            ledger.note(&FieldPath::In(path, key), Manner::Overridden, &lost.value, &lost.by, &value.by);
        }
    }
    merged
}

//! The list rule: the child's entries first, then those of the parent that it neither repeats nor removes with `!`.

use super::{
    field_path::FieldPath,
    ledger::{Ledger, Manner},
};
use crate::model::Set;

pub(super) fn merge(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &[Set<String>],
    child: &[Set<String>],
) -> Vec<Set<String>> {
    if child.is_empty() {
        return parent.to_vec();
    }
    let mut merged: Vec<Set<String>> =
        child.iter().filter(|entry| !entry.value.starts_with('!')).cloned().collect();
    let own = merged.len();
    for entry in parent {
        let remover = child.iter().find(|marker| marker.value.strip_prefix('!') == Some(&entry.value));
        let repeater = merged[..own].iter().find(|own| own.value == entry.value);
        match (repeater, remover) {
            (Some(own), _) => {
                ledger.note(
                    &FieldPath::Entry(path, &entry.value),
                    Manner::Overridden,
                    &entry.value,
                    &entry.by,
                    &own.by,
                );
            }
            (None, Some(marker)) => {
                ledger.note(
                    &FieldPath::Entry(path, &entry.value),
                    Manner::Removed,
                    &entry.value,
                    &entry.by,
                    &marker.by,
                );
            }
            (None, None) => merged.push(entry.clone()),
        }
    }
    merged
}

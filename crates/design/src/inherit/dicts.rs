//! The map rule: the parent's keys in their order without those that `!key` removes, then what the child adds.
//!
//! A key that is overridden keeps its place; one that is removed and written again goes last.

use super::ledger::{Ledger, Manner};
use crate::model::Texts;

pub(super) fn merge(ledger: &mut Ledger, path: &str, parent: &Texts, child: &Texts) -> Texts {
    let mut merged = Texts::with_capacity(parent.len() + child.len());
    for (key, value) in parent {
        match child.get(&format!("!{key}")) {
            Some(marker) => {
                ledger.note(&format!("{path}.{key}"), Manner::Removed, &value.value, &value.by, &marker.by)
            }
            None => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    for (key, value) in child.iter().filter(|(key, _)| !key.starts_with('!')) {
        if let Some(lost) = merged.insert(key.clone(), value.clone()) {
            ledger.note(&format!("{path}.{key}"), Manner::Overridden, &lost.value, &lost.by, &value.by);
        }
    }
    merged
}

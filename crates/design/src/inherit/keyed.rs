//! The rule for lists whose members have names: interfaces, devices, partitions, volume groups, volumes.
//!
//! The parent's members in their order, each merged with the child's of the same name or dropped for its `!name`, whichever
//! the child writes first; then what the child adds. A new member is merged over a bare one, which strips its markers.

use super::{
    field_path::FieldPath,
    ledger::{Ledger, Manner},
};
use crate::model::Set;

/// A member of a list that levels of inheritance find by its name.
pub(super) trait Member: Clone {
    fn name(&self) -> &Set<String>;
    fn bare(name: Set<String>) -> Self;
    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self;
}

pub(super) fn merge<M: Member>(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &[M],
    child: &[M],
) -> Vec<M> {
    if child.is_empty() {
        return parent.to_vec();
    }
    let mut merged = Vec::with_capacity(parent.len() + child.len());
    for member in parent {
        let path = FieldPath::In(path, &member.name().value);
        match child.iter().find_map(|own| Verdict::of(own, member)) {
            Some(Verdict::Merge(own)) => merged.push(M::merge(ledger, &path, member, own)),
            Some(Verdict::Drop(marker)) => {
                let name = member.name();
                ledger.note(&path, Manner::Removed, &name.value, &name.by, &marker.by);
            }
            None => merged.push(member.clone()),
        }
    }
    for own in child {
        let name = &own.name().value;
        if name.starts_with('!') || parent.iter().any(|member| member.name().value == *name) {
            continue;
        }
        let bare = M::bare(own.name().clone());
        merged.push(M::merge(ledger, &FieldPath::In(path, name), &bare, own));
    }
    merged
}

/// What a member of the child does to one of the parent.
enum Verdict<'c, M> {
    Merge(&'c M),
    Drop(&'c Set<String>),
}

impl<'c, M: Member> Verdict<'c, M> {
    fn of(own: &'c M, member: &M) -> Option<Self> {
        let (own_name, name) = (own.name(), &member.name().value);
        if own_name.value == *name {
            Some(Self::Merge(own))
        } else if own_name.value.strip_prefix('!') == Some(name) {
            Some(Self::Drop(own_name))
        } else {
            None
        }
    }
}

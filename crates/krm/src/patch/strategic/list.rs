//! Merging lists: of maps by a key, of plain values as sets.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::layout::FieldLayout;
use super::order::{Identity, Ranks, arrange};
use super::{DIRECTIVE, no_merge_key, unknown_directive};
use crate::golang::{plain, type_of};
use crate::patch::PatchError;

/// Merges the items of a patch into a list.
pub(super) fn merge(
    changes: &[Value],
    items: &mut Vec<Value>,
    place: FieldLayout<'_>,
    merge_key: &str,
) -> Result<(), PatchError> {
    if changes.is_empty() && items.is_empty() {
        return Ok(());
    }
    check_types(items, changes)?;
    let of_maps = changes.first().or(items.first()).is_some_and(Value::is_object);
    let (wanted, before) = match of_maps {
        true => merge_maps(changes, items, place, merge_key)?,
        false => merge_plain(changes, items, merge_key)?,
    };
    *items = arrange(std::mem::take(items), merge_key, &wanted, &before)?;
    Ok(())
}

/// Takes plain values out of a list.
pub(super) fn delete(
    gone: &[Value],
    items: &mut Vec<Value>,
    place: FieldLayout<'_>,
    merge_key: &str,
) -> Result<(), PatchError> {
    if gone.first().or(items.first()).is_some_and(Value::is_object) {
        return merge(gone, items, place, merge_key);
    }
    if !gone.is_empty() || !items.is_empty() {
        check_types(items, gone)?;
    }
    let gone: HashSet<Identity> = gone.iter().map(Identity::of).collect();
    items.retain(|item| !gone.contains(&Identity::of(item)));
    Ok(())
}

fn merge_plain(
    changes: &[Value],
    items: &mut Vec<Value>,
    merge_key: &str,
) -> Result<(Ranks, Ranks), PatchError> {
    let ranks = (Ranks::of(changes, merge_key)?, Ranks::of(items.iter(), merge_key)?);
    let mut seen = HashSet::new();
    items.extend(changes.iter().cloned());
    items.retain(|item| seen.insert(Identity::of(item)));
    Ok(ranks)
}

fn merge_maps(
    changes: &[Value],
    items: &mut Vec<Value>,
    place: FieldLayout<'_>,
    merge_key: &str,
) -> Result<(Ranks, Ranks), PatchError> {
    if merge_key.is_empty() {
        let kind = place.node().go_kind();
        return Err(PatchError::Failed(format!("cannot merge lists without merge key for {kind}")));
    }
    let changes = follow_directives(changes, items, merge_key)?;
    let mut places: HashMap<Identity, usize> = HashMap::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if let Some(key) = item.get(merge_key) {
            places.entry(Identity::of(key)).or_insert(at);
        }
    }
    let known = items.len();
    for change in changes.iter().copied() {
        let identity = Identity::of_item(change, merge_key)?;
        match (places.get(&identity), change) {
            (Some(at), Value::Object(change)) if identity != Identity::Odd => {
                if let Value::Object(item) = &mut items[*at] {
                    super::merge(change, item, place)?;
                }
            }
            _ => {
                places.insert(identity, items.len());
                items.push(change.clone());
            }
        }
    }
    Ok((Ranks::of(changes, merge_key)?, Ranks::of(&items[..known], merge_key)?))
}

/// Does what the items of a patch say that are but directives. Gives the others, unless they are to replace the list.
fn follow_directives<'a>(
    changes: &'a [Value],
    items: &mut Vec<Value>,
    merge_key: &str,
) -> Result<Vec<&'a Value>, PatchError> {
    let mut gone = HashSet::new();
    let mut plain = Vec::with_capacity(changes.len());
    let mut replace = false;
    for change in changes {
        let Value::Object(fields) = change else { continue };
        match fields.get(DIRECTIVE) {
            None => plain.push(change),
            Some(directive) if directive == "delete" => {
                let key = fields.get(merge_key).ok_or_else(|| no_merge_key(change, merge_key))?;
                gone.insert(Identity::of(key));
            }
            Some(directive) if directive == "replace" => replace = true,
            Some(directive) if directive == "merge" => {
                let why = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Failed(why.to_owned()));
            }
            Some(directive) => return Err(unknown_directive(directive, fields)),
        }
    }
    if replace {
        *items = plain.into_iter().cloned().collect();
        return Ok(Vec::new());
    }
    if !gone.is_empty() {
        items.retain(|item| item.get(merge_key).is_none_or(|key| !gone.contains(&Identity::of(key))));
    }
    Ok(plain)
}

/// Checks that all items are of one type, and no lists.
fn check_types(items: &[Value], changes: &[Value]) -> Result<(), PatchError> {
    let mut all = items.iter().chain(changes);
    let first = all.next();
    if first.is_some_and(Value::is_array) {
        return Err(PatchError::Inapplicable("lists of lists are not supported".to_owned()));
    }
    let kind = first.map(type_of);
    match all.all(|item| Some(type_of(item)) == kind) && !first.is_some_and(Value::is_null) {
        true => Ok(()),
        false => Err(PatchError::Failed(format!(
            "list element types are not identical: [{} {}]",
            plain(&Value::from(items.to_vec())),
            plain(&Value::from(changes.to_vec()))
        ))),
    }
}

//! The order of items in merged lists: what the patch asks for first, then the order they had.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::layout::FieldLayout;
use super::{SET_ORDER, drop_directives, list, no_merge_key, wrong_type};
use crate::golang::plain;
use crate::patch::PatchError;

/// What tells an item of a list apart: itself, or its merge key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    Null,
    Bool(bool),
    Integer(i64),
    /// By its bits.
    Float(u64),
    Text(String),
    /// Maps and lists are not compared: such a thing is nowhere else.
    Odd,
}

impl Identity {
    pub(super) fn of(value: &Value) -> Identity {
        match value {
            Value::Null => Identity::Null,
            Value::Bool(flag) => Identity::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Identity::Integer(integer),
                None => Identity::Float(number.as_f64().unwrap_or_default().to_bits()),
            },
            Value::String(text) => Identity::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => Identity::Odd,
        }
    }

    /// That of an item in a list with this merge key, or in one of plain values when that is empty.
    pub(super) fn of_item(item: &Value, merge_key: &str) -> Result<Identity, PatchError> {
        if merge_key.is_empty() {
            return Ok(Identity::of(item));
        }
        let fields = item.as_object().ok_or_else(|| wrong_type("map[string]interface {}", item))?;
        fields.get(merge_key).map(Identity::of).ok_or_else(|| no_merge_key(item, merge_key))
    }
}

/// Where each item of a list stands first.
pub(super) struct Ranks(HashMap<Identity, usize>);

impl Ranks {
    pub(super) fn of<'a>(
        items: impl IntoIterator<Item = &'a Value>,
        merge_key: &str,
    ) -> Result<Ranks, PatchError> {
        let mut ranks = HashMap::new();
        for (rank, item) in items.into_iter().enumerate() {
            ranks.entry(Identity::of_item(item, merge_key)?).or_insert(rank);
        }
        Ok(Ranks(ranks))
    }

    pub(super) fn get(&self, identity: &Identity) -> Option<usize> {
        self.0.get(identity).copied().filter(|_| *identity != Identity::Odd)
    }
}

/// Puts the items of a list in order: those of the patch as `wanted` has them, the others as they were, and each of the others
/// before the first of the patch that it stood before.
pub(super) fn arrange(
    items: Vec<Value>,
    merge_key: &str,
    wanted: &Ranks,
    before: &Ranks,
) -> Result<Vec<Value>, PatchError> {
    let mut asked = Vec::new();
    let mut others = Vec::new();
    for item in items {
        let identity = Identity::of_item(&item, merge_key)?;
        let rank = before.get(&identity);
        match wanted.get(&identity) {
            Some(place) => asked.push((place, rank, item)),
            None => others.push((rank, item)),
        }
    }
    asked.sort_by_key(|(place, _, _)| *place);
    others.sort_by_key(|(rank, _)| *rank);
    let mut arranged = Vec::with_capacity(asked.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, rank, item) in asked {
        while let Some((_, other)) = others.next_if(|(other, _)| other.is_some() && *other < rank) {
            arranged.push(other);
        }
        arranged.push(item);
    }
    arranged.extend(others.map(|(_, other)| other));
    Ok(arranged)
}

/// Merges the lists whose order a patch sets. Gives their names: they are done with.
pub(super) fn set_orders<'a>(
    changes: &'a Map<String, Value>,
    fields: &mut Map<String, Value>,
    place: FieldLayout<'_>,
) -> Result<BTreeSet<&'a str>, PatchError> {
    let mut done = BTreeSet::new();
    for (key, wanted) in changes.iter().filter(|(key, _)| key.starts_with(SET_ORDER)) {
        let wanted = items_of(wanted)?;
        let list = key.strip_prefix(SET_ORDER).and_then(|rest| rest.strip_prefix('/'));
        let list = list.ok_or_else(malformed)?;
        if set_order(list, wanted, changes.get(list), fields, place)? {
            done.insert(list);
        }
    }
    Ok(done)
}

/// Merges one list and puts it in order; says whether there was one.
fn set_order(
    key: &str,
    wanted: &[Value],
    change: Option<&Value>,
    fields: &mut Map<String, Value>,
    place: FieldLayout<'_>,
) -> Result<bool, PatchError> {
    if let Some(field) = fields.get(key) {
        items_of(field)?;
    }
    let change = change.map(items_of).transpose()?;
    let (below, rule) = place.list(key)?;
    let merge_key = rule.merge_key();
    check_order(change.unwrap_or_default(), wanted, merge_key)?;
    let wanted = Ranks::of(wanted, merge_key)?;
    let present = match fields.get_mut(key) {
        Some(Value::Array(items)) => Some(std::mem::take(items)),
        _ => None,
    };
    let (before, merged) = match (present, change) {
        (None, None) => return Ok(false),
        (Some(items), None) => (Ranks::of(&items, merge_key)?, items),
        (None, Some(change)) => {
            let mut added = Value::from(change.to_vec());
            drop_directives(&mut added);
            let added = match added {
                Value::Array(items) => items,
                _ => Vec::new(),
            };
            (Ranks::of(&[], merge_key)?, added)
        }
        (Some(mut items), Some(change)) => {
            let before = Ranks::of(&items, merge_key)?;
            match rule.merges() {
                true => list::merge(change, &mut items, below, merge_key)?,
                false => items = change.to_vec(),
            }
            (before, items)
        }
    };
    let arranged = arrange(merged, merge_key, &wanted, &before)?;
    fields.insert(key.to_owned(), Value::Array(arranged));
    Ok(true)
}

/// Checks that the items of a patch come in the order it asks for, and that it asks for all of them.
fn check_order(change: &[Value], wanted: &[Value], merge_key: &str) -> Result<(), PatchError> {
    if change.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let mut places = wanted.iter();
    for item in change.iter().filter(|item| item.get(super::DIRECTIVE).is_none()) {
        let identity = Identity::of_item(item, merge_key)?;
        loop {
            let Some(place) = places.next() else {
                return Err(PatchError::Failed(format!(
                    "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
                    plain(&Value::from(change.to_vec())),
                    plain(&Value::from(wanted.to_vec()))
                )));
            };
            if Identity::of_item(place, merge_key)? == identity {
                break;
            }
        }
    }
    Ok(())
}

fn items_of(value: &Value) -> Result<&[Value], PatchError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| wrong_type("[]interface {}", value))
}

fn malformed() -> PatchError {
    PatchError::Malformed("invalid patch format of setElementOrder list".to_owned())
}

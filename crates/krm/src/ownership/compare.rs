//! What changed between two states of an object, field by field.

use serde_json::{Map, Value};

use super::element::Element;
use super::items::element_of;
use super::set::FieldSet;
use super::types::{Case, Fields, Items, List, Shape, Type};
use super::values::equal;
use crate::object::Object;

/// What changed between two states of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Fields that were there and are gone.
    pub removed: FieldSet,
    /// Fields that have another value.
    pub modified: FieldSet,
    /// Fields that were not there.
    pub added: FieldSet,
}

/// Compares two states of an object that have been checked to be of the type.
pub(super) fn compare(ty: &Type, old: &Object, new: &Object) -> Change {
    compare_entries(ty.root(), ty.fields(), Some(&old.0), Some(&new.0))
}

impl Change {
    /// The same without these fields and all below them.
    pub(super) fn without(mut self, ignored: Option<&FieldSet>) -> Change {
        if let Some(ignored) = ignored {
            self.removed.subtract_recursively(ignored);
            self.modified.subtract_recursively(ignored);
            self.added.subtract_recursively(ignored);
        }
        self
    }

    /// Attaches what changed at and below one step. Steps come in order.
    fn push(&mut self, element: &Element, field: FieldChange) {
        let FieldChange { removed, modified, added, below } = field;
        for (set, member, below) in [
            (&mut self.removed, removed, below.removed),
            (&mut self.modified, modified, below.modified),
            (&mut self.added, added, below.added),
        ] {
            if member || !below.is_empty() {
                set.push(element.clone(), member, below);
            }
        }
    }

    fn extend(&mut self, other: Change) {
        self.removed.extend(other.removed);
        self.modified.extend(other.modified);
        self.added.extend(other.added);
    }
}

/// What happened to a field, and below it.
#[derive(Default)]
struct FieldChange {
    removed: bool,
    modified: bool,
    added: bool,
    below: Change,
}

impl FieldChange {
    /// What happened to a field that is one value.
    fn leaf(old: Option<&Value>, new: Option<&Value>) -> FieldChange {
        let mut change = FieldChange::presence(old, new);
        change.modified = old.zip(new).is_some_and(|(old, new)| !equal(old, new));
        change
    }

    /// Whether the field came or went.
    fn presence(old: Option<&Value>, new: Option<&Value>) -> FieldChange {
        FieldChange { removed: new.is_none(), added: old.is_none(), ..FieldChange::default() }
    }

    fn changed(&self) -> bool {
        let below = &self.below;
        self.removed
            || self.modified
            || self.added
            || !below.removed.is_empty()
            || !below.modified.is_empty()
            || !below.added.is_empty()
    }
}

fn compare_field(shape: Shape<'_>, old: Option<&Value>, new: Option<&Value>) -> FieldChange {
    match (old, new) {
        (Some(one), None) | (None, Some(one)) => compare_as(shape, shape.case(one), old, new),
        (Some(before), Some(after)) => {
            let change = compare_as(shape, shape.case(after), old, new);
            if shape.treats_alike(before, after) {
                return change;
            }
            // The value turned into one of another kind: what was below the old one is gone, too.
            let mut both = compare_as(shape, shape.case(before), old, new);
            both.modified |= change.modified;
            both.below.extend(change.below);
            both
        }
        (None, None) => FieldChange::default(),
    }
}

fn compare_as(shape: Shape<'_>, case: Case<'_>, old: Option<&Value>, new: Option<&Value>) -> FieldChange {
    match case {
        Case::Map(fields) if !fields.atomic => {
            let (before, after) = (entries(old), entries(new));
            if before.is_none() && after.is_none() {
                return FieldChange::leaf(old, new);
            }
            let below = compare_entries(shape, fields, before, after);
            FieldChange { below, ..FieldChange::presence(old, new) }
        }
        Case::List(list) if !matches!(list.items, Items::Atomic) => {
            let (before, after) = (items(old), items(new));
            if before.is_empty() && after.is_empty() {
                return FieldChange::leaf(old, new);
            }
            FieldChange {
                below: compare_items(shape, list, before, after),
                ..FieldChange::presence(old, new)
            }
        }
        _ => FieldChange::leaf(old, new),
    }
}

/// The entries of a map that has some.
fn entries(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object).filter(|map| !map.is_empty())
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn compare_entries(
    shape: Shape<'_>,
    fields: &Fields,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Change {
    let mut change = Change::default();
    let mut old = old.into_iter().flatten().peekable();
    let mut new = new.into_iter().flatten().peekable();
    loop {
        let name = match (old.peek(), new.peek()) {
            (Some((before, _)), Some((after, _))) => (*before).min(*after),
            (Some((one, _)), None) | (None, Some((one, _))) => *one,
            (None, None) => return change,
        };
        let before = old.next_if(|(key, _)| *key == name).map(|(_, value)| value);
        let after = new.next_if(|(key, _)| *key == name).map(|(_, value)| value);
        let field = compare_field(shape.entry_or_untyped(fields, name), before, after);
        if field.changed() {
            change.push(&Element::field(name.as_str()), field);
        }
    }
}

fn compare_items(shape: Shape<'_>, list: &List, old: &[Value], new: &[Value]) -> Change {
    let shape = shape.item(list);
    let mut change = Change::default();
    let (old, new) = (identified(list, old), identified(list, new));
    let (mut old, mut new) = (old.as_slice(), new.as_slice());
    while let Some(element) = first_of(old, new) {
        let (before, after);
        (before, old) = split_same(old, element);
        (after, new) = split_same(new, element);
        let item = compare_item(shape, before, after);
        if item.changed() {
            change.push(element, item);
        }
    }
    change
}

/// Compares the items known by one element; of a set that is one there may be several from before it was one.
fn compare_item(shape: Shape<'_>, old: &[Identified<'_>], new: &[Identified<'_>]) -> FieldChange {
    match (old, new) {
        ([] | [_], [] | [_]) => compare_field(shape, first(old), first(new)),
        ([_, _, ..], [_, _, ..]) => {
            let same = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equal(old.1, new.1));
            FieldChange { modified: !same, ..FieldChange::default() }
        }
        ([_, _, ..], _) => {
            let single = first(new).map(|new| compare_field(shape, None, Some(new)));
            FieldChange { removed: true, ..single.unwrap_or_default() }
        }
        (_, _) => {
            let single = first(old).map(|old| compare_field(shape, Some(old), None));
            FieldChange { added: true, ..single.unwrap_or_default() }
        }
    }
}

/// An item and what it is known by.
type Identified<'v> = (Element, &'v Value);

fn first<'v>(items: &[Identified<'v>]) -> Option<&'v Value> {
    items.first().map(|(_, item)| *item)
}

fn first_of<'e>(left: &'e [Identified<'_>], right: &'e [Identified<'_>]) -> Option<&'e Element> {
    match (left.first(), right.first()) {
        (Some((left, _)), Some((right, _))) => Some(left.min(right)),
        (left, right) => left.or(right).map(|(element, _)| element),
    }
}

fn split_same<'i, 'v>(
    items: &'i [Identified<'v>],
    element: &Element,
) -> (&'i [Identified<'v>], &'i [Identified<'v>]) {
    items.split_at(items.iter().take_while(|(item, _)| item == element).count())
}

/// Items with what they are known by, sorted by it; those known by the same keep their order.
fn identified<'v>(list: &List, items: &'v [Value]) -> Vec<Identified<'v>> {
    let mut identified: Vec<Identified<'v>> =
        items.iter().filter_map(|item| Some((element_of(list, item).ok()?, item))).collect();
    identified.sort_by(|left, right| left.0.cmp(&right.0));
    identified
}

//! The fields that a value has.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::element::Element;
use super::items::element_of;
use super::set::FieldSet;
use super::types::{Case, Fields, Items, List, Shape, Type};
use crate::object::Object;

/// The fields of an object that has been checked to be of the type: what applying it owns.
///
/// Fields of structs are in the set when they are leaves; entries of maps and items of lists always are.
pub(super) fn fields_of(ty: &Type, object: &Object) -> FieldSet {
    fields_of_entries(ty.root(), ty.fields(), &object.0)
}

/// Whether a value is one field, and the fields below it.
fn fields_below(shape: Shape<'_>, value: &Value) -> (bool, FieldSet) {
    match shape.case(value) {
        Case::Map(fields) if !fields.atomic => {
            let entries = value.as_object().map(|map| fields_of_entries(shape, fields, map));
            (false, entries.unwrap_or_default())
        }
        Case::List(list) if !matches!(list.items, Items::Atomic) => {
            let items = value.as_array().map_or(&[][..], Vec::as_slice);
            (false, fields_of_items(shape, list, items))
        }
        _ => (true, FieldSet::new()),
    }
}

fn fields_of_entries(shape: Shape<'_>, fields: &Fields, map: &Map<String, Value>) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, value) in map {
        let (leaf, below) = fields_below(shape.entry_or_untyped(fields, name), value);
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        let member = leaf || empty || !fields.declares(name);
        if member || !below.is_empty() {
            set.push(Element::field(name.as_str()), member, below);
        }
    }
    set
}

fn fields_of_items(shape: Shape<'_>, list: &List, items: &[Value]) -> FieldSet {
    let mut known: BTreeMap<Element, Option<&Value>> = BTreeMap::new();
    for item in items {
        let Ok(element) = element_of(list, item) else { continue };
        // Of an item that is there twice nothing is owned but that it is there.
        known.entry(element).and_modify(|twice| *twice = None).or_insert(Some(item));
    }
    let mut set = FieldSet::new();
    for (element, item) in known {
        let below = item.map(|item| fields_below(shape.item(list), item).1);
        set.push(element, true, below.unwrap_or_default());
    }
    set
}

/// The set with every field of a struct that has fields of the set below it.
pub(super) fn with_structs(ty: &Type, set: &FieldSet) -> FieldSet {
    with_structs_below(Some(ty.root()), set)
}

fn with_structs_below(shape: Option<Shape<'_>>, set: &FieldSet) -> FieldSet {
    let mut all = FieldSet::new();
    let atom = shape.map(Shape::atom);
    let fields = atom.and_then(|atom| atom.map.as_ref());
    let list = atom.and_then(|atom| atom.list.as_ref());
    for (element, member, below) in set.steps() {
        let (is_struct, below_shape) = match (element, shape) {
            (Element::Field(name), Some(shape)) => match fields {
                Some(fields) => (fields.declares(name), shape.entry(fields, name)),
                None => (false, None),
            },
            (Element::Key(_), Some(shape)) => (false, list.map(|list| shape.item(list))),
            _ => (false, None),
        };
        let member = member || (is_struct && !below.is_empty());
        all.push(element.clone(), member, with_structs_below(below_shape, below));
    }
    all
}

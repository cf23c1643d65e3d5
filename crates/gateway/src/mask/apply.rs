//! Applies masks to messages.

use std::collections::{BTreeMap, HashMap};

use prost_reflect::{DynamicMessage, FieldDescriptor, MapKey, ReflectMessage, Value};

use super::{MaskError, Node};

/// Applies what a mask names of a message.
pub fn message(node: &Node, onto: &mut DynamicMessage, from: &DynamicMessage) -> Result<(), MaskError> {
    match node {
        Node::Nothing | Node::Keys(_) | Node::Items(_) => Ok(()),
        Node::Whole => {
            *onto = from.clone();
            Ok(())
        }
        Node::Fields(fields) => {
            for (number, node) in fields {
                if let Some(descriptor) = onto.descriptor().get_field(*number) {
                    field(node, &descriptor, onto, from)?;
                }
            }
            Ok(())
        }
    }
}

fn field(
    node: &Node,
    field: &FieldDescriptor,
    onto: &mut DynamicMessage,
    from: &DynamicMessage,
) -> Result<(), MaskError> {
    let given = from.has_field(field).then(|| from.get_field(field));
    if *node == Node::Whole {
        match given {
            Some(value) => onto.set_field(field, value.into_owned()),
            None => onto.clear_field(field),
        }
        return Ok(());
    }
    // Nothing to set, and nothing to clear.
    if given.is_none() && !onto.has_field(field) {
        return Ok(());
    }
    let default;
    let given = match &given {
        Some(given) => &**given,
        None => {
            default = Value::default_value_for_field(field);
            &default
        }
    };
    let was_there = onto.has_field(field);
    match (onto.get_field_mut(field), given, node) {
        (Value::Message(onto), Value::Message(from), node) => message(node, onto, from)?,
        (Value::Map(onto), Value::Map(from), Node::Keys(keys)) => entries(keys, field, onto, from)?,
        (Value::List(onto), Value::List(from), Node::Items(items)) => {
            list(items, field.name(), onto, from)?;
        }
        _ => {}
    }
    // A message that was made to clear a field in it is nothing that anybody has set.
    let is_empty = matches!(&*onto.get_field(field), Value::Message(made) if made.fields().next().is_none());
    if !was_there && is_empty {
        onto.clear_field(field);
    }
    Ok(())
}

fn entries(
    keys: &BTreeMap<String, Node>,
    field: &FieldDescriptor,
    onto: &mut HashMap<MapKey, Value>,
    from: &HashMap<MapKey, Value>,
) -> Result<(), MaskError> {
    for (key, node) in keys {
        let key = MapKey::String(key.clone());
        match (from.get(&key), node) {
            (None, Node::Whole) => {
                onto.remove(&key);
            }
            (Some(value), Node::Whole) => {
                onto.insert(key, value.clone());
            }
            (given, node) => {
                let Some(value) = default_of(field) else { continue };
                let Value::Message(nothing) = &value else { continue };
                let nothing = nothing.clone();
                let given = match given {
                    Some(Value::Message(given)) => given,
                    _ => &nothing,
                };
                let was_there = onto.contains_key(&key);
                if !was_there && given.fields().next().is_none() {
                    continue;
                }
                if let Value::Message(onto) = onto.entry(key).or_insert(value) {
                    message(node, onto, given)?;
                }
            }
        }
    }
    Ok(())
}

fn default_of(field: &FieldDescriptor) -> Option<Value> {
    let entry = field.kind().as_message()?.clone();
    Some(Value::default_value(&entry.map_entry_value_field().kind()))
}

fn list(
    items: &BTreeMap<usize, Node>,
    name: &str,
    onto: &mut Vec<Value>,
    from: &[Value],
) -> Result<(), MaskError> {
    for (index, node) in items {
        let Some(given) = from.get(*index) else { continue };
        if *index > onto.len() {
            return Err(MaskError::BeyondEnd { field: name.to_owned(), index: *index, length: onto.len() });
        }
        match (onto.get_mut(*index), given, node) {
            (Some(Value::Message(onto)), Value::Message(given), node) if *node != Node::Whole => {
                message(node, onto, given)?;
            }
            (Some(onto), given, _) => *onto = given.clone(),
            (None, given, _) => onto.push(given.clone()),
        }
    }
    // From the end, so that each index still means the item that it meant.
    for (index, node) in items.iter().rev().filter(|(index, _)| from.get(**index).is_none()) {
        match (node, onto.get_mut(*index)) {
            (_, None) => {}
            (Node::Whole, Some(_)) => {
                onto.remove(*index);
            }
            (node, Some(Value::Message(item))) => {
                let nothing = DynamicMessage::new(item.descriptor());
                message(node, item, &nothing)?;
            }
            (_, Some(_)) => {}
        }
    }
    Ok(())
}

//! Changes objects by what differs between two messages.

use std::collections::BTreeSet;

use krm::status::Status;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};
use serde_json::{Map, Value as Json, json};

use super::{Names, is_condition, to_json};

/// What a change needs to know.
pub struct Context<'a> {
    pub names: &'a Names,
    pub now: &'a str,
}

/// Whether a field is one of the object itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    Top,
    Below,
}

impl Context<'_> {
    /// Changes one field.
    pub fn field(
        &self,
        field: &FieldDescriptor,
        old: &DynamicMessage,
        new: &DynamicMessage,
        onto: &mut Map<String, Json>,
        depth: Depth,
    ) -> Result<(), Status> {
        let value = |message: &DynamicMessage| {
            message.has_field(field).then(|| message.get_field(field).into_owned())
        };
        let (old, new) = (value(old), value(new));
        if old == new {
            return Ok(());
        }
        let key = field.json_name();
        if let (Some(of), false) = (inner(&field.kind()), field.is_list() || field.is_map()) {
            let nothing = DynamicMessage::new(of.clone());
            let message = |value: &Option<Value>| match value {
                Some(Value::Message(message)) => message.clone(),
                _ => nothing.clone(),
            };
            // What a kind always has becomes empty; anything else goes.
            if new.is_none() && depth == Depth::Below {
                onto.remove(key);
                return Ok(());
            }
            let (old, new) = (message(&old), message(&new));
            if old == new {
                return Ok(());
            }
            let inside = onto.entry(key).or_insert_with(|| json!({}));
            let Some(inside) = inside.as_object_mut() else { return Ok(()) };
            return self.message(of, &old, &new, inside);
        }
        if field.is_map() {
            return self.map(field, old.as_ref(), new.as_ref(), onto);
        }
        if let (true, Some(Value::List(items))) = (is_list_of_conditions(field), &new) {
            let conditions = self.conditions(field, items, onto.get(key))?;
            onto.insert(key.to_owned(), conditions);
            return Ok(());
        }
        match new {
            Some(new) => {
                onto.insert(key.to_owned(), to_json::field(field, &new, self.names)?);
            }
            None => {
                onto.remove(key);
            }
        }
        Ok(())
    }

    fn message(
        &self,
        of: &MessageDescriptor,
        old: &DynamicMessage,
        new: &DynamicMessage,
        onto: &mut Map<String, Json>,
    ) -> Result<(), Status> {
        for field in of.fields() {
            self.field(&field, old, new, onto, Depth::Below)?;
        }
        Ok(())
    }

    fn map(
        &self,
        field: &FieldDescriptor,
        old: Option<&Value>,
        new: Option<&Value>,
        onto: &mut Map<String, Json>,
    ) -> Result<(), Status> {
        let entries = |value: Option<&Value>| value.and_then(Value::as_map).cloned().unwrap_or_default();
        let (old, new) = (entries(old), entries(new));
        let entry = field.kind();
        let Some(of) = entry.as_message().map(|entry| entry.map_entry_value_field()) else { return Ok(()) };
        let inside = onto.entry(field.json_name()).or_insert_with(|| json!({}));
        let Some(inside) = inside.as_object_mut() else { return Ok(()) };
        let keys: BTreeSet<&MapKey> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let MapKey::String(text) = key else { continue };
            match (old.get(key), new.get(key), inner(&of.kind())) {
                (old, new, _) if old == new => {}
                (_, None, _) => {
                    inside.remove(text);
                }
                (old, Some(Value::Message(new)), Some(of)) => {
                    let nothing = DynamicMessage::new(of.clone());
                    let old = old.and_then(Value::as_message).unwrap_or(&nothing);
                    let slot = inside.entry(text.clone()).or_insert_with(|| json!({}));
                    if let Some(slot) = slot.as_object_mut() {
                        self.message(of, old, new, slot)?;
                    }
                }
                (_, Some(new), _) => {
                    inside.insert(text.clone(), to_json::field(&of, new, self.names)?);
                }
            }
        }
        if inside.is_empty() {
            onto.remove(field.json_name());
        }
        Ok(())
    }

    /// Conditions, with those that only resources have, and without losing what only resources say of the others.
    fn conditions(
        &self,
        field: &FieldDescriptor,
        items: &[Value],
        before: Option<&Json>,
    ) -> Result<Json, Status> {
        let before = before.and_then(Json::as_array).cloned().unwrap_or_default();
        let kind = field.kind();
        let types = kind.as_message().and_then(|of| of.get_field_by_name("type"));
        let types = types.and_then(|of| of.kind().as_enum().cloned());
        let is_known = |condition: &Json| {
            let named = condition["type"].as_str().unwrap_or_default();
            let mut values = types.iter().flat_map(|types| types.values());
            values.any(|value| {
                value.number() != 0 && super::from_json::short(value.parent_enum(), value.name()) == named
            })
        };
        let mut conditions: Vec<Json> =
            before.iter().filter(|condition| !is_known(condition)).cloned().collect();
        let mut seen = BTreeSet::new();
        for item in items {
            let Value::Message(item) = item else { continue };
            let mut condition = to_json::message(item, self.names)?;
            let named = condition.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
            if named.is_empty() || !seen.insert(named.clone()) {
                let why = format!("status.conditions: the type {named:?} is missing or not the only one");
                return Err(Status::bad_request(why));
            }
            let earlier = before.iter().find(|condition| condition["type"] == named.as_str());
            condition.entry("status").or_insert_with(|| "Unknown".into());
            if condition["status"] == "Unspecified" {
                condition.insert("status".to_owned(), "Unknown".into());
            }
            let since = earlier.filter(|earlier| Some(&earlier["status"]) == condition.get("status"));
            let since = since.and_then(|earlier| earlier["lastTransitionTime"].as_str()).unwrap_or(self.now);
            condition.entry("lastTransitionTime").or_insert_with(|| since.into());
            condition.entry("reason").or_insert_with(|| named.as_str().into());
            condition.entry("message").or_insert_with(|| "".into());
            conditions.push(Json::Object(condition));
        }
        Ok(Json::Array(conditions))
    }
}

/// The message of a field whose parts are changed one by one.
fn inner(kind: &Kind) -> Option<&MessageDescriptor> {
    kind.as_message().filter(|of| of.package_name() != "google.protobuf")
}

fn is_list_of_conditions(field: &FieldDescriptor) -> bool {
    field.is_list() && field.kind().as_message().is_some_and(is_condition)
}

//! Metadata of messages and of resources.

use std::collections::{BTreeSet, HashMap};

use krm::Object;
use krm::status::Status;
use prost_reflect::{DynamicMessage, MapKey, MessageDescriptor, Value};
use serde_json::{Map, Value as Json};

use fulfillment::CREATOR;

use super::{About, from_json};
use crate::collection::GROUP;

/// The tenant of what is in the root.
pub const SHARED: &str = "shared";
/// Annotations that are not shown, and not changed: the creator, and what kubectl keeps for itself.
const HIDDEN: [&str; 2] = [CREATOR, "kubectl.kubernetes.io/last-applied-configuration"];
/// The longest name.
const LONGEST: usize = 63;

/// The metadata of an object.
pub fn show(of: MessageDescriptor, object: &Object, about: &About<'_>) -> DynamicMessage {
    let mut shown = DynamicMessage::new(of.clone());
    let mut set = |name: &str, value: Value| {
        // The public metadata lacks some fields.
        let _ = shown.try_set_field_by_name(name, value);
    };
    for (name, from) in
        [("creation_timestamp", "creationTimestamp"), ("deletion_timestamp", "deletionTimestamp")]
    {
        let kind = of.get_field_by_name(name).map(|field| field.kind());
        let time = kind.and_then(|kind| from_json::timestamp(kind.as_message()?, object.meta_text(from)));
        if let Some(time) = time {
            set(name, Value::Message(time));
        }
    }
    let texts = |texts: Vec<String>| Value::List(texts.into_iter().map(Value::String).collect());
    let finalizers: BTreeSet<String> = object.finalizers().into_iter().map(short_finalizer).collect();
    set("finalizers", texts(finalizers.into_iter().collect()));
    set("creators", texts(object.annotation(CREATOR).map(str::to_owned).into_iter().collect()));
    set("tenants", texts(vec![if about.plane.is_empty() { SHARED } else { about.plane }.to_owned()]));
    let named = object.get("displayName").and_then(Json::as_str);
    set("name", Value::String(named.unwrap_or_else(|| object.name()).to_owned()));
    let map = |pairs: Vec<(&str, &str)>| {
        let entry =
            |(key, value): (&str, &str)| (MapKey::String(key.to_owned()), Value::String(value.to_owned()));
        Value::Map(pairs.into_iter().map(entry).collect())
    };
    set("labels", map(object.labels().collect()));
    set("annotations", map(object.annotations().filter(|(key, _)| !HIDDEN.contains(key)).collect()));
    set("version", Value::I32(about.version));
    shown
}

/// Changes the metadata of an object by what differs between two messages.
pub fn change(object: &mut Object, old: &DynamicMessage, new: &DynamicMessage) -> Result<(), Status> {
    let part = |message: &DynamicMessage, name: &str| -> Option<Value> {
        let metadata = message.get_field_by_name("metadata")?;
        Some(metadata.as_message()?.get_field_by_name(name)?.into_owned())
    };
    let changed = |name: &str| {
        let (old, new) = (part(old, name), part(new, name));
        if old == new { None } else { new }
    };
    if let Some(Value::String(name)) = changed("name") {
        check_name(&name)?;
        // The name of the object need not be repeated.
        let is_own = name.is_empty() || name == object.name();
        object.set("displayName", (!is_own).then(|| name.into()));
    }
    for (field, kept) in [("labels", &[][..]), ("annotations", &HIDDEN[..])] {
        let Some(Value::Map(entries)) = changed(field) else { continue };
        object.set_meta(field, texts(&entries, object.meta(field), kept));
    }
    if let Some(Value::List(finalizers)) = changed("finalizers") {
        let finalizers: BTreeSet<String> =
            finalizers.iter().filter_map(|finalizer| finalizer.as_str().map(long_finalizer)).collect();
        object.set_finalizers(finalizers.into_iter().collect());
    }
    Ok(())
}

fn texts(entries: &HashMap<MapKey, Value>, before: Option<&Json>, kept: &[&str]) -> Option<Json> {
    let kept = kept.iter().filter_map(|key| Some(((*key).to_owned(), before?.get(key)?.clone())));
    let mut map: Map<String, Json> = kept.collect();
    for (key, value) in entries {
        if let (MapKey::String(key), Value::String(value)) = (key, value)
            && !HIDDEN.contains(&key.as_str())
        {
            map.insert(key.clone(), value.as_str().into());
        }
    }
    (!map.is_empty()).then_some(Json::Object(map))
}

/// Finalizers of resources have a domain; those of this API need none.
fn long_finalizer(finalizer: &str) -> String {
    match finalizer.contains('/') {
        true => finalizer.to_owned(),
        false => format!("{GROUP}/{finalizer}"),
    }
}

fn short_finalizer(finalizer: &str) -> String {
    let short = finalizer.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix('/'));
    short.unwrap_or(finalizer).to_owned()
}

/// What is wrong with a name.
pub fn check_name(name: &str) -> Result<(), Status> {
    let wrong = |why: String| Err(Status::bad_request(format!("field 'metadata.name': {why}")));
    if name.chars().count() > LONGEST {
        return wrong(format!("must have at most {LONGEST} characters, but has {}", name.chars().count()));
    }
    for (at, c) in name.chars().enumerate() {
        if !matches!(c, 'a'..='z' | '0'..='9' | '-') {
            return wrong(format!(
                "must have only lower-case letters, digits and hyphens, but has '{c}' at position {at}"
            ));
        }
    }
    match name.starts_with('-') || name.ends_with('-') {
        true => wrong("must not begin or end with a hyphen".to_owned()),
        false => Ok(()),
    }
}

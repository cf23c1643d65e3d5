//! What a Source applies: the fields that it owns, and those that it sets now.

use krm::Object;
use serde_json::{Map, Value as Json};

/// The configuration that a manager applies so that `old` becomes `new`: what it owns already stays, what differs is added,
/// and what is gone is left out.
pub fn wanted(old: &Object, new: &Object, manager: &str) -> Object {
    let mut wanted = owned(old, manager);
    for field in ["apiVersion", "kind"] {
        wanted.insert(field.to_owned(), new.get(field).cloned().unwrap_or_default());
    }
    set_changed(&old.0, &new.0, &mut wanted);
    wanted.remove("status");
    let mut wanted = Object(wanted);
    wanted.set_meta("name", Some(new.name().into()));
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "namespace"] {
        wanted.set_meta(field, None);
    }
    wanted
}

/// The fields that a manager has applied, with their values now.
fn owned(object: &Object, manager: &str) -> Map<String, Json> {
    let entries = object.meta("managedFields").and_then(Json::as_array);
    let mut own = entries.into_iter().flatten().filter(|entry| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry["subresource"].as_str().is_none_or(str::is_empty)
    });
    let fields = own.next().and_then(|entry| entry["fieldsV1"].as_object());
    fields.map(|fields| part(fields, &object.0)).unwrap_or_default()
}

/// The part of an object that a set of fields names. Items of lists are taken by their values.
fn part(fields: &Map<String, Json>, from: &Map<String, Json>) -> Map<String, Json> {
    let mut part = Map::new();
    for (name, below) in fields {
        let Some((name, value)) = name.strip_prefix("f:").and_then(|name| Some((name, from.get(name)?)))
        else {
            continue;
        };
        let value = match (below.as_object().filter(|below| !below.is_empty()), value) {
            (Some(below), Json::Object(inner)) => Json::Object(self::part(below, inner)),
            (Some(below), Json::Array(items)) => {
                let is_named = |item: &&Json| below.contains_key(&format!("v:{item}"));
                Json::Array(items.iter().filter(is_named).cloned().collect())
            }
            _ => value.clone(),
        };
        part.insert(name.to_owned(), value);
    }
    part
}

fn set_changed(old: &Map<String, Json>, new: &Map<String, Json>, wanted: &mut Map<String, Json>) {
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        wanted.remove(name);
    }
    for (name, value) in new {
        match (old.get(name), value) {
            (Some(before), value) if before == value => {}
            (before, Json::Object(inner)) => {
                let nothing = Map::new();
                let before = before.and_then(Json::as_object).unwrap_or(&nothing);
                let slot = wanted.entry(name.clone()).or_insert_with(|| Json::Object(Map::new()));
                if let Json::Object(slot) = slot {
                    set_changed(before, inner, slot);
                }
            }
            (_, value) => {
                wanted.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Json) -> Object {
        Object::from_value(value).unwrap()
    }

    #[test]
    fn a_source_keeps_what_it_applied_before_and_adds_what_changes() {
        let old = object(json!({
            "apiVersion": "v", "kind": "Host",
            "metadata": {"name": "a", "uid": "u", "managedFields": [{
                "manager": "bcm", "operation": "Apply",
                "fieldsV1": {"f:spec": {"f:rack": {}, "f:title": {}}},
            }]},
            "spec": {"rack": "1", "title": "One", "class": "theirs"},
        }));
        let mut new = old.clone();
        new.set_at("spec.rack", "2".into());
        new.set_at("spec.bootIp", "192.0.2.1".into());
        let spec = new.0.get_mut("spec").and_then(Json::as_object_mut).unwrap();
        spec.remove("title");
        let wanted = wanted(&old, &new, "bcm");
        assert_eq!(wanted.get("spec"), Some(&json!({"rack": "2", "bootIp": "192.0.2.1"})));
        assert_eq!(wanted.name(), "a");
        assert_eq!(wanted.uid(), "");
    }
}

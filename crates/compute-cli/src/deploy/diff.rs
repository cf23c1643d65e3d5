//! What a deploy changes, in lines that people read: the usual fields in words, all others by their path.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::text::{at, list};

/// The changes from one state of a workload to another.
pub fn lines(before: Option<&Value>, after: &Value) -> Vec<String> {
    let none = Value::Null;
    let before = before.unwrap_or(&none);
    let mut found = Vec::new();
    compare("metadata.labels", &before["metadata"]["labels"], &after["metadata"]["labels"], &mut found);
    compare("", &before["spec"], &after["spec"], &mut found);
    found
}

/// Where a placement has instances: `cities=[DFW, IAD]`.
pub fn places(placement: &Value) -> String {
    let texts = |pointer: &str, name: &str| {
        list(placement, pointer)
            .map(|one| one.as_str().unwrap_or_else(|| at(one, name)).to_owned())
            .collect::<Vec<_>>()
    };
    let cities = texts("/cityCodes", "");
    if !cities.is_empty() {
        return format!("cities=[{}]", cities.join(", "));
    }
    let locations = texts("/locations", "/name");
    match locations.is_empty() {
        true => "locations by selector".to_owned(),
        false => format!("locations=[{}]", locations.join(", ")),
    }
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(_), Value::Object(_)) => {
            let keys = |value: &Value| {
                value.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect::<Vec<_>>()
            };
            let all: BTreeSet<String> = keys(before).into_iter().chain(keys(after)).collect();
            for key in all {
                compare(&joined(path, &key), &before[&key], &after[&key], found);
            }
        }
        (Value::Array(old), Value::Array(new)) if is_named(old) && is_named(new) => {
            for one in new {
                match old.iter().find(|other| other["name"] == one["name"]) {
                    Some(other) => compare(&element(path, one), other, one, found),
                    None => found.push(added(path, one)),
                }
            }
            for one in old.iter().filter(|one| !new.iter().any(|other| other["name"] == one["name"])) {
                found.push(removed(path, one));
            }
        }
        (Value::Null, Value::Object(map)) if !path.contains('.') || map.len() < 4 => {
            for (key, value) in map {
                compare(&joined(path, key), &Value::Null, value, found);
            }
        }
        (Value::Null, Value::Array(new)) if is_named(new) => {
            new.iter().for_each(|one| found.push(added(path, one)));
        }
        (Value::Array(old), Value::Null) if is_named(old) => {
            old.iter().for_each(|one| found.push(removed(path, one)));
        }
        _ => found.push(format!("{}: {} → {}", words(path), shown(before), shown(after))),
    }
}

fn added(path: &str, one: &Value) -> String {
    match path {
        "placements" => format!("+ new placement {:?}: {}", at(one, "/name"), places(one)),
        _ => format!("+ {}: {}", words(&element(path, one)), shown(&without_name(one))),
    }
}

fn removed(path: &str, one: &Value) -> String {
    match path {
        "placements" => format!("- removed placement {:?}", at(one, "/name")),
        _ => format!("- {}", words(&element(path, one))),
    }
}

fn without_name(one: &Value) -> Value {
    let mut one = one.clone();
    one.as_object_mut().map(|object| object.remove("name"));
    one
}

fn is_named(list: &[Value]) -> bool {
    list.iter().all(|one| one["name"].is_string())
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn element(path: &str, one: &Value) -> String {
    format!("{path}[{}]", at(one, "/name"))
}

/// A path as people say it.
fn words(path: &str) -> String {
    let container = "template.spec.runtime.sandbox.containers[";
    if let Some((name, rest)) = path.strip_prefix(container).and_then(|rest| rest.split_once(']')) {
        let of = if name == "app" { String::new() } else { format!(" of container {name:?}") };
        return match rest.strip_prefix('.').unwrap_or(rest) {
            "" => format!("container {name:?}"),
            field => {
                format!("{}{of}", field.replace("env[", "env ").replace("].value", "").trim_end_matches(']'))
            }
        };
    }
    if let Some((name, rest)) = path.strip_prefix("placements[").and_then(|rest| rest.split_once("].")) {
        let field = match rest {
            "scaleSettings.minReplicas" => "min replicas",
            "scaleSettings.maxReplicas" => "max replicas",
            "cityCodes" => "cities",
            other => other,
        };
        return format!("placement {name:?} {field}");
    }
    match path {
        "template.spec.runtime.resources.instanceType" => "instance type".to_owned(),
        other => other.strip_prefix("template.spec.").unwrap_or(other).to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            format!("[{}]", texts.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workload(image: &str, min: i64, env: Value) -> Value {
        json!({"metadata": {"name": "web"}, "spec": {
            "template": {"spec": {"runtime": {"sandbox": {"containers": [{"name": "app", "image": image, "env": env}]}}}},
            "placements": [{"name": "default", "cityCodes": ["DFW"], "scaleSettings": {"minReplicas": min}}]}})
    }

    #[test]
    fn changes_are_told_in_words() {
        let before =
            workload("acme/web:1", 2, json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]));
        let mut after =
            workload("acme/web:2", 3, json!([{"name": "A", "value": "5"}, {"name": "C", "value": "3"}]));
        after["spec"]["placements"][0]["scaleSettings"]["maxReplicas"] = json!(10);
        after["spec"]["placements"]
            .as_array_mut()
            .unwrap()
            .push(json!({"name": "eu", "cityCodes": ["LHR"], "scaleSettings": {"minReplicas": 1}}));
        after["metadata"]["labels"] = json!({"team": "web"});
        assert_eq!(
            lines(Some(&before), &after),
            [
                "metadata.labels.team: none → web",
                "placement \"default\" max replicas: none → 10",
                "placement \"default\" min replicas: 2 → 3",
                "+ new placement \"eu\": cities=[LHR]",
                "env A: 1 → 5",
                "+ env C: {\"value\":\"3\"}",
                "- env B",
                "image: acme/web:1 → acme/web:2",
            ]
        );
        assert_eq!(lines(Some(&after), &before)[2], "placement \"default\" min replicas: 3 → 2");
        assert!(lines(Some(&before), &before).is_empty());
    }

    #[test]
    fn a_new_workload_is_told_whole() {
        let told = lines(None, &workload("acme/web:1", 1, Value::Null));
        assert!(told.iter().any(|line| line == "+ new placement \"default\": cities=[DFW]"), "{told:?}");
        assert!(told.iter().any(|line| line.contains("acme/web:1")), "{told:?}");
    }
}

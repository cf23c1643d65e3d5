//! Rollouts as people are told of them: what a revision changed, and how far a rollout is.

use std::collections::BTreeMap;

use krm::Object;
use serde_json::{Value, json};

use crate::hash::template_hash;
use crate::names::RESTARTED_AT;
use crate::template::{in_city, list};

/// Hash of the template of a workload.
pub fn hash_of(workload: &Object) -> Option<String> {
    workload.at("spec.template").map(template_hash)
}

/// Whether a deployment has a template of its workload, as it is in the deployment's city.
pub fn has_template(template: &Value, deployment: &Object) -> bool {
    let city = deployment.at("spec.cityCode").and_then(Value::as_str).unwrap_or_default();
    deployment.at("spec.template").map(template_hash) == Some(template_hash(&in_city(template, city)))
}

/// What changed between two states of a workload, in a line.
pub fn describe(before: Option<&Object>, after: &Object) -> String {
    let Some(before) = before else { return "initial deploy".to_owned() };
    let none = json!({});
    let (old, new) = (before.get("spec").unwrap_or(&none), after.get("spec").unwrap_or(&none));
    let mut changes = Vec::new();
    for (name, image) in images(new) {
        match images(old).get(&name) {
            Some(before) if *before != image => changes.push(format!("image: {before} → {image}")),
            None => changes.push(format!("+ container {name:?}")),
            _ => {}
        }
    }
    placements(old, new, &mut changes);
    if old["template"] != new["template"] && changes.iter().all(|change| !change.starts_with("image")) {
        changes.push(of_template(&old["template"], &new["template"]));
    }
    for (field, label) in
        [("paused", "paused"), ("surge", "surge"), ("canary", "canary"), ("autoRollback", "auto rollback")]
    {
        let (was, is) = (&old["rollout"][field], &new["rollout"][field]);
        if was != is {
            changes.push(format!("{label}: {} → {}", shown(was), shown(is)));
        }
    }
    if old["rollout"]["promoted"] != new["rollout"]["promoted"] {
        changes.push("promoted".to_owned());
    }
    match changes.is_empty() {
        true if old == new => "no changes".to_owned(),
        true => "settings changed".to_owned(),
        false => changes.join(", "),
    }
}

fn placements(old: &Value, new: &Value, changes: &mut Vec<String>) {
    let by_name = |spec: &Value| -> BTreeMap<String, Value> {
        let all = list(&spec["placements"]);
        all.filter_map(|placement| Some((placement["name"].as_str()?.to_owned(), placement.clone())))
            .collect()
    };
    let (was, is) = (by_name(old), by_name(new));
    let several = is.len() > 1;
    for (name, placement) in &is {
        let of = if several { format!("placement {name:?} ") } else { String::new() };
        let Some(before) = was.get(name) else {
            changes.push(format!("+ new placement {name:?}: {}", places(placement)));
            continue;
        };
        for (field, label) in [("minReplicas", "min replicas"), ("maxReplicas", "max replicas")] {
            let (before, after) = (&before["scaleSettings"][field], &placement["scaleSettings"][field]);
            if before != after {
                changes.push(format!("{of}{label}: {} → {}", shown(before), shown(after)));
            }
        }
        if places(before) != places(placement) {
            changes.push(format!("{of}{} → {}", places(before), places(placement)));
        }
    }
    changes.extend(
        was.keys().filter(|name| !is.contains_key(*name)).map(|name| format!("- removed placement {name:?}")),
    );
}

/// Where a placement is, in words.
fn places(placement: &Value) -> String {
    let names = |list_of: &Value, field: Option<&str>| -> Vec<String> {
        let name = |item: &Value| field.map_or(item, |field| &item[field]).as_str().map(str::to_owned);
        list(list_of).filter_map(name).collect()
    };
    let cities = names(&placement["cityCodes"], None);
    let locations = names(&placement["locations"], Some("name"));
    match (cities.is_empty(), locations.is_empty()) {
        (false, _) => format!("cities=[{}]", cities.join(", ")),
        (_, false) => format!("locations=[{}]", locations.join(", ")),
        _ => "selected locations".to_owned(),
    }
}

fn of_template(old: &Value, new: &Value) -> String {
    let annotations = |template: &Value| template["metadata"]["annotations"].clone();
    let mut same = new.clone();
    same["metadata"]["annotations"] = annotations(old);
    let mut before = old.clone();
    before["metadata"]["annotations"] = annotations(old);
    if same == before {
        let (old, new) = (annotations(old), annotations(new));
        let restarted = new
            .as_object()
            .into_iter()
            .flatten()
            .find(|(key, value)| key.starts_with(RESTARTED_AT) && old.get(key.as_str()) != Some(value));
        if let Some((key, _)) = restarted {
            let city = key.strip_prefix(RESTARTED_AT).and_then(|rest| rest.strip_prefix('.'));
            return city.map_or("restart".to_owned(), |city| format!("restart in {city}"));
        }
    }
    let parts = [
        ("env", "environment"),
        ("envFrom", "environment"),
        ("command", "command"),
        ("args", "command"),
        ("ports", "ports"),
        ("volumeAttachments", "volumes"),
    ];
    let containers = |template: &Value| template["spec"]["runtime"]["sandbox"]["containers"].clone();
    let (old_containers, new_containers) = (containers(old), containers(new));
    let mut changed: Vec<&str> = Vec::new();
    for (before, after) in list(&old_containers).zip(list(&new_containers)) {
        for (field, label) in parts {
            if before[field] != after[field] && !changed.contains(&label) {
                changed.push(label);
            }
        }
    }
    match changed.is_empty() {
        true => "template changed".to_owned(),
        false => format!("{} changed", changed.join(" and ")),
    }
}

fn images(spec: &Value) -> BTreeMap<String, String> {
    let containers = list(&spec["template"]["spec"]["runtime"]["sandbox"]["containers"]);
    let image = |container: &Value| {
        Some((container["name"].as_str()?.to_owned(), container["image"].as_str()?.to_owned()))
    };
    containers.filter_map(image).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The first image of a workload, or `(vm)`.
pub fn image_of(workload: &Object) -> String {
    let none = json!({});
    let spec = workload.get("spec").unwrap_or(&none);
    images(spec).into_values().next().unwrap_or_else(|| "(vm)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(image: &str, least: i64, extra: Value) -> Object {
        let mut spec = json!({
            "template": {"spec": {"runtime": {"sandbox": {"containers": [{"name": "app", "image": image}]}}}},
            "placements": [{"name": "default", "cityCodes": ["DFW"], "scaleSettings": {"minReplicas": least}}],
        });
        for (path, value) in extra.as_object().unwrap() {
            *spec.pointer_mut(path).unwrap() = value.clone();
        }
        Object::from_value(json!({ "spec": spec })).unwrap()
    }

    #[test]
    fn a_revision_says_what_it_changed() {
        let first = workload("a:1", 2, json!({}));
        assert_eq!(describe(None, &first), "initial deploy");
        let scaled = workload("a:2", 3, json!({}));
        assert_eq!(describe(Some(&first), &scaled), "image: a:1 → a:2, min replicas: 2 → 3");
        let moved = workload("a:1", 2, json!({"/placements/0/cityCodes": ["DFW", "IAD"]}));
        assert_eq!(describe(Some(&first), &moved), "cities=[DFW] → cities=[DFW, IAD]");
        assert_eq!(describe(Some(&first), &first), "no changes");
        let mut restarted = first.clone();
        restarted.set_at(
            "spec.template.metadata",
            json!({"annotations": {"compute.datumapis.com/restartedAt.DFW": "now"}}),
        );
        assert_eq!(describe(Some(&first), &restarted), "restart in DFW");
    }
}

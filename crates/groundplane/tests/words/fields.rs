//! Descriptions of the fields in a schema.

use serde_json::Value;

/// The shortest description that can say what a field means.
const SHORTEST: usize = 20;
/// The fewest words of one.
const FEWEST: usize = 4;
/// Fields that every object has; Kubernetes describes them.
const STANDARD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Whether a group is one of Kubernetes' own, whose kinds Kubernetes documents.
pub fn is_of_kubernetes(group: &str) -> bool {
    group.is_empty() || group.ends_with(".k8s.io")
}

/// Adds what is wrong with the descriptions of a schema and of all its fields, and gives how many fields there are.
pub fn check(at: &str, schema: &Value, faults: &mut Vec<String>) -> usize {
    let name = at.rsplit(['.', ' ']).next().unwrap_or(at);
    faults.extend(fault(name, schema).map(|why| format!("{at}: {why}")));
    let mut checked = 1;
    for (name, field) in properties(schema).filter(|(name, _)| !STANDARD.contains(&name.as_str())) {
        checked += field_and_below(&format!("{at}.{name}"), name, field, faults);
    }
    checked
}

fn field_and_below(at: &str, name: &str, field: &Value, faults: &mut Vec<String>) -> usize {
    faults.extend(fault(name, field).map(|why| format!("{at}: {why}")));
    let mut checked = 1;
    // The items of a list and the values of a map have no name of their own; their fields do.
    for inner in [field, &field["items"], &field["items"]["items"], &field["additionalProperties"]] {
        for (name, field) in properties(inner) {
            checked += field_and_below(&format!("{at}.{name}"), name, field, faults);
        }
    }
    checked
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// What is wrong with a description.
fn fault(name: &str, schema: &Value) -> Option<String> {
    let Some(text) = schema["description"].as_str().filter(|text| !text.trim().is_empty()) else {
        return Some("no description".to_owned());
    };
    let what = if words(text) == words(&spelled(name)) {
        "repeats the name"
    } else if text.chars().count() < SHORTEST || text.split_whitespace().count() < FEWEST {
        "too short to give a meaning and a unit or constraint"
    } else if !text.trim_end().ends_with('.') {
        "does not end with a full stop"
    } else {
        return None;
    };
    Some(format!("{what}: {text:?}"))
}

/// Words without articles, as they are compared.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(str::to_lowercase);
    words.filter(|word| !["a", "an", "the", "its", "of"].contains(&word.as_str())).collect()
}

/// `heightU` as `height U`.
fn spelled(name: &str) -> String {
    name.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain([c])).collect()
}

#[test]
fn descriptions_that_say_nothing_are_found() {
    let with = |text: &str| serde_json::json!({ "description": text });
    for (name, text, wanted) in [
        ("name", "", "no description"),
        ("observedGeneration", "The observed generation.", "repeats the name"),
        ("height", "How high.", "too short"),
        ("height", "Height of the rack in rack units", "full stop"),
    ] {
        let found = fault(name, &with(text)).unwrap_or_default();
        assert!(found.starts_with(wanted) || found.contains(wanted), "{text:?}: {found:?}");
    }
    assert_eq!(fault("heightU", &with("Height of the rack in rack units, 1 to 60.")), None);
    let schema = serde_json::json!({ "description": "A kind that is described well.", "properties": {
        "metadata": {},
        "spec": { "description": "Desired state of the object.", "properties": {
            "ports": { "type": "array", "description": "Ports of the device, in order.", "items": { "properties": {
                "speed": { "description": "Fast." },
            } } },
        } },
    } });
    let mut faults = Vec::new();
    assert_eq!(check("g/v1 Thing", &schema, &mut faults), 4);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].starts_with("g/v1 Thing.spec.ports.speed: too short"), "{faults:?}");
}

//! Recorded requests about definitions, replayed on a small world that holds nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::field::Path;
use crate::names::name_is_dns_subdomain;
use crate::{FieldError, Object, Status, status::Subject};

const NOW: &str = "2026-01-02T03:04:05Z";

/// Definitions by name, and what became of the last request.
#[derive(Default)]
struct World {
    definitions: BTreeMap<String, Object>,
}

impl World {
    fn create(&mut self, body: &Value, dry: bool) -> Result<Object, Vec<FieldError>> {
        let mut object = decoded(body);
        default(&mut object);
        prepare_for_create(&mut object);
        let metadata = Path::of("metadata");
        let faults = name_is_dns_subdomain(object.name(), false);
        let mut errors: Vec<FieldError> = faults
            .into_iter()
            .map(|fault| FieldError::invalid_text(&metadata.field("name"), object.name(), fault))
            .collect();
        errors.extend(validate_create(&object));
        if !errors.is_empty() {
            return Err(errors);
        }
        if !dry {
            self.definitions.insert(object.name().to_owned(), object.clone());
        }
        Ok(object)
    }

    fn patch(&mut self, name: &str, patch: &Value, status: bool) -> Result<Object, Vec<FieldError>> {
        let old = self.definitions[name].clone();
        let mut merged = Value::Object(old.0.clone());
        merge(&mut merged, patch);
        let mut new = decoded(&merged);
        default(&mut new);
        let errors = if status {
            prepare_for_status_update(&mut new, &old);
            validate_status_update(&new)
        } else {
            prepare_for_update(&mut new, &old);
            validate_update(&new, &old)
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        self.definitions.insert(name.to_owned(), new.clone());
        Ok(new)
    }

    /// What the server does by itself once it has answered.
    fn settle(&mut self) {
        self.definitions.retain(|_, object| !object.is_deleting());
        for name in self.definitions.keys().cloned().collect::<Vec<_>>() {
            let taken = TakenNames::of(self.definitions.values());
            let object = self.definitions.get_mut(&name).unwrap();
            accept_names(object, &taken, NOW);
            establish(object, NOW);
        }
    }
}

fn decoded(body: &Value) -> Object {
    let mut object = Object::from_value(body.clone()).unwrap();
    let unknown = decode(&mut object).unwrap();
    assert_eq!(unknown, Vec::<String>::new());
    object
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let map = target.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

fn steps(scenario: &str) -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/scenarios");
    let file = PathBuf::from(folder).join(format!("{scenario}.golden.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let golden: Value = serde_json::from_str(&text.replace("${x}", "x").replace("<time>", NOW)).unwrap();
    golden["steps"].as_array().unwrap().clone()
}

/// Replays a scenario; gives how many answers were compared.
fn replay(scenario: &str) -> usize {
    let mut world = World::default();
    let mut compared = 0;
    for step in steps(scenario) {
        let (request, response) = (&step["request"], &step["response"]);
        let path = request["path"].as_str().unwrap_or("");
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let Some(rest) = path.strip_prefix(all) else { continue };
        let (name, status) = match rest.trim_start_matches('/').strip_suffix("/status") {
            Some(name) => (name, true),
            None => (rest.trim_start_matches('/'), false),
        };
        let body = &request["body"];
        let context = format!("{scenario}, step {} {}", step["step"], step["note"]);
        let outcome = match request["method"].as_str().unwrap() {
            "POST" => world.create(body, false),
            "PATCH" if !world.definitions.contains_key(name) => world.create(body, false),
            "PATCH" => world.patch(name, body, status),
            "GET" if response["status"] == 200 => Ok(world.definitions[name].clone()),
            "DELETE" => {
                let object = world.definitions.get_mut(name).unwrap();
                mark_for_deletion(object, NOW);
                Ok(object.clone())
            }
            // Resource versions are looked at elsewhere.
            _ => continue,
        };
        compared += compare(&outcome, response, &context);
        world.settle();
    }
    compared
}

fn compare(outcome: &Result<Object, Vec<FieldError>>, response: &Value, context: &str) -> usize {
    let body = &response["body"];
    match outcome {
        Ok(object) => {
            assert!(response["status"].as_i64().unwrap() < 300, "{context}: taken, but was refused: {body}");
            if body.is_null() {
                return 0;
            }
            for part in ["spec", "status"] {
                assert_eq!(object.get(part), body.get(part), "{context}: {part}");
            }
            let finalizers = object.meta("finalizers");
            assert_eq!(finalizers, body["metadata"].get("finalizers"), "{context}: finalizers");
            assert_eq!(Some(object.generation()), body["metadata"]["generation"].as_i64(), "{context}");
        }
        Err(errors) => {
            let subject = Subject::new("apiextensions.k8s.io", "CustomResourceDefinition");
            let status = serde_json::to_value(Status::invalid(&subject, "x", errors)).unwrap();
            assert_eq!(causes(&status), causes(body), "{context}");
        }
    }
    1
}

fn causes(status: &Value) -> Vec<String> {
    let list = status["details"]["causes"].as_array().into_iter().flatten();
    let link = "https://github.com/kubernetes/enhancements/pull/1111";
    let mut texts: Vec<String> = list.map(|cause| cause.to_string().replace(link, "<url>")).collect();
    texts.sort();
    texts
}

#[test]
fn names_groups_and_versions_are_refused_as_kubernetes_refuses_them() {
    assert_eq!(replay("crd/invalid-names"), 13);
}

#[test]
fn lists_that_are_sets_or_maps_are_refused_as_kubernetes_refuses_them() {
    assert_eq!(replay("crd/invalid-lists"), 13);
}

#[test]
fn subresources_columns_and_conversions_are_refused_as_kubernetes_refuses_them() {
    assert_eq!(replay("crd/invalid-subresources-columns"), 16);
}

#[test]
fn rules_are_refused_as_kubernetes_refuses_them() {
    assert_eq!(replay("crd/invalid-cel"), 16);
}

#[test]
fn a_minimal_definition_is_filled_in() {
    assert_eq!(replay("crd/defaults"), 3);
}

#[test]
fn a_definition_changes_within_its_rules() {
    assert_eq!(replay("crd/update-rules"), 12);
}

#[test]
fn a_version_leaves_only_when_nothing_is_stored_in_it() {
    assert_eq!(replay("crd/new-version"), 4);
}

#[test]
fn names_go_to_who_asks_first_and_are_free_again_after_it() {
    assert_eq!(replay("crd/name-conflict"), 4);
}

#[test]
fn a_definition_comes_and_goes() {
    assert_eq!(replay("crd/lifecycle"), 3);
}

#[test]
fn a_definition_is_applied() {
    assert_eq!(replay("crd/apply-crd"), 4);
}

#[test]
fn fixtures_are_taken() {
    for kind in ["bags", "gadgets", "probes", "rulers", "widgets"] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/fixtures");
        let text = std::fs::read_to_string(format!("{folder}/{kind}.json")).unwrap();
        let body = serde_json::from_str(&text).unwrap();
        let outcome = World::default().create(&body, true);
        assert!(outcome.is_ok(), "{kind}: {outcome:?}");
    }
}

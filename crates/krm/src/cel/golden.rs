//! Recorded requests about objects with rules, replayed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::FieldError;
use crate::schema::Schema;
use crate::status::{Status, Subject};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube");

struct World {
    schema: Schema,
    rules: Rules,
    objects: BTreeMap<String, Value>,
}

impl World {
    fn of_rulers() -> World {
        let text = std::fs::read_to_string(format!("{CASES}/fixtures/rulers.json")).unwrap();
        let definition: Value = serde_json::from_str(&text).unwrap();
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        World {
            schema: Schema::parse(schema).unwrap(),
            rules: Rules::compile(schema).unwrap(),
            objects: BTreeMap::new(),
        }
    }

    fn judge(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = self.schema.validate(new, old);
        match blocked_by(&errors) {
            Some(blocked) => errors.push(blocked),
            None => {
                let old = old.map(|object| Old { object, passed: false });
                let verdict = self.rules.check(&self.schema, new, old);
                assert_eq!(verdict.warnings, Vec::<String>::new());
                errors.extend(verdict.errors);
            }
        }
        errors
    }

    fn write(&mut self, name: &str, mut new: Value) -> Vec<FieldError> {
        self.schema.prune(&mut new);
        self.schema.default(&mut new);
        let errors = self.judge(&new, self.objects.get(name));
        if errors.is_empty() {
            self.objects.insert(name.to_owned(), new);
        }
        errors
    }
}

fn merge(target: &mut Value, patch: &Value) {
    let (Value::Object(map), Value::Object(patch)) = (&mut *target, patch) else {
        *target = patch.clone();
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => {
                map.remove(key);
            }
            value => merge(map.entry(key.clone()).or_insert(json!({})), value),
        }
    }
}

fn causes(errors: &[FieldError]) -> Vec<String> {
    let status = Status::invalid(&Subject::new("g", "k"), "n", errors);
    let status = serde_json::to_value(status).unwrap();
    recorded(&status)
}

fn recorded(status: &Value) -> Vec<String> {
    let list = status["details"]["causes"].as_array().into_iter().flatten();
    let mut texts: Vec<String> = list.map(Value::to_string).collect();
    texts.sort();
    texts
}

/// Replays a scenario; gives how many answers were compared.
fn replay(scenario: &str) -> usize {
    let text = std::fs::read_to_string(format!("{CASES}/scenarios/cel/{scenario}.golden.json")).unwrap();
    let golden: Value = serde_json::from_str(&text).unwrap();
    let mut world = World::of_rulers();
    let mut compared = 0;
    for step in golden["steps"].as_array().unwrap() {
        let (request, response) = (&step["request"], &step["response"]);
        let (name, new) = match request["method"].as_str().unwrap() {
            "POST" => {
                let mut body = request["body"].clone();
                if let Some(prefix) = body["metadata"]["generateName"].as_str() {
                    body["metadata"]["name"] = format!("{prefix}12345").into();
                }
                (body["metadata"]["name"].as_str().unwrap().to_owned(), body)
            }
            "PATCH" => {
                let name = request["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
                let mut object = world.objects[&name].clone();
                merge(&mut object, &request["body"]);
                (name, object)
            }
            _ => continue,
        };
        let errors = world.write(&name, new);
        let context = format!("{scenario}, step {} {}", step["step"], step["note"]);
        assert_eq!(causes(&errors), recorded(&response["body"]), "{context}");
        let taken = response["status"].as_i64().unwrap() < 300;
        assert_eq!(errors.is_empty(), taken, "{context}");
        compared += 1;
    }
    compared
}

#[test]
fn new_objects_are_judged_as_kubernetes_judges_them() {
    assert_eq!(replay("create-rules"), 17);
}

#[test]
fn libraries_answer_as_those_of_kubernetes() {
    assert_eq!(replay("libraries"), 22);
}

#[test]
fn an_old_value_may_be_optional() {
    assert_eq!(replay("optional-old-self"), 7);
}

#[test]
fn rules_at_the_root_see_the_name() {
    assert_eq!(replay("root-rule"), 3);
}

#[test]
fn changes_are_judged_by_what_was_before() {
    assert_eq!(replay("transition"), 14);
}

#[test]
fn rules_wait_until_the_schema_is_satisfied() {
    assert_eq!(replay("with-schema-errors"), 6);
}

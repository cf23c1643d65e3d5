//! Alternatives of a type, brought into the one form a structural schema has for them: everything declared outside,
//! and the choice inside.

use serde_json::{Map, Value, json};

use super::PRESERVE;

/// Brings the branches of a `oneOf` or `anyOf`, which are structural already, into the schema around them.
pub(super) fn merge(schema: &mut Map<String, Value>, combination: &str, branches: Vec<Map<String, Value>>) {
    let (nulls, mut branches): (Vec<_>, Vec<_>) = branches.into_iter().partition(is_null);
    if !nulls.is_empty() || branches.iter().any(|branch| branch.contains_key("nullable")) {
        schema.insert("nullable".into(), json!(true));
    }
    if branches.len() == 1 {
        for (keyword, value) in branches.remove(0) {
            schema.entry(keyword).or_insert(value);
        }
    } else if !branches.is_empty()
        && branches.iter().all(|branch| is_of(branch, "string") && branch.contains_key("enum"))
    {
        merge_enums(schema, &branches);
    } else if is_int_or_string(&branches) {
        schema.insert("x-kubernetes-int-or-string".into(), json!(true));
    } else if !branches.is_empty() && branches.iter().all(|branch| is_of(branch, "object")) {
        hoist(schema, combination, branches);
    } else {
        schema.remove("type");
        schema.insert(PRESERVE.into(), json!(true));
    }
}

fn is_of(branch: &Map<String, Value>, name: &str) -> bool {
    branch.get("type").and_then(Value::as_str) == Some(name)
}

/// What is left of a schema that only null fits.
fn is_null(branch: &Map<String, Value>) -> bool {
    branch.contains_key("nullable") && !branch.contains_key("type") && !branch.contains_key("enum")
}

fn is_int_or_string(branches: &[Map<String, Value>]) -> bool {
    let whole = branches.iter().any(|branch| is_of(branch, "integer"));
    let text = branches.iter().any(|branch| is_of(branch, "string"));
    branches.len() == 2 && whole && text
}

/// Variants without data that have descriptions of their own: one enum.
fn merge_enums(schema: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let mut values: Vec<Value> = Vec::new();
    for value in branches.iter().filter_map(|branch| branch.get("enum")?.as_array()).flatten() {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    schema.insert("type".into(), json!("string"));
    schema.insert("enum".into(), Value::Array(values));
}

/// Objects of several forms: one object with the fields of all, and what each form needs.
fn hoist(schema: &mut Map<String, Value>, combination: &str, branches: Vec<Map<String, Value>>) {
    let mut properties = take_object(schema, "properties");
    let mut choices = Vec::new();
    let mut shared: Option<Vec<Value>> = None;
    for mut branch in branches {
        let required = take_list(&mut branch, "required");
        let fields = take_object(&mut branch, "properties");
        choices.push(choice(&fields, &required));
        shared = Some(match shared {
            None => required,
            Some(shared) => shared.into_iter().filter(|name| required.contains(name)).collect(),
        });
        for (name, field) in fields {
            match properties.get_mut(&name) {
                None => {
                    properties.insert(name, field);
                }
                Some(known) => unite(known, field),
            }
        }
        if branch.get(PRESERVE).is_some() {
            schema.insert(PRESERVE.into(), json!(true));
        }
    }
    let mut required = take_list(schema, "required");
    required.extend(shared.into_iter().flatten());
    required.dedup();

    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert(combination.into(), Value::Array(choices));
}

/// What tells one form from the others: the fields it needs, and the values it fixes.
fn choice(fields: &Map<String, Value>, required: &[Value]) -> Value {
    let is_fixed =
        |field: &Value| field.get("enum").and_then(Value::as_array).is_some_and(|one| one.len() == 1);
    let fixed: Map<String, Value> = fields
        .iter()
        .filter(|(_, field)| is_fixed(field))
        .map(|(name, field)| (name.clone(), json!({"enum": field["enum"]})))
        .collect();
    let mut choice = Map::new();
    if !fixed.is_empty() {
        choice.insert("properties".into(), Value::Object(fixed));
    }
    if !required.is_empty() {
        choice.insert("required".into(), json!(required));
    }
    Value::Object(choice)
}

/// One declaration for a field that two forms have.
fn unite(known: &mut Value, other: Value) {
    if *known == other {
        return;
    }
    let enums = (known.get("enum").and_then(Value::as_array), other.get("enum").and_then(Value::as_array));
    if let (Some(mine), Some(theirs)) = enums {
        let mut values = mine.clone();
        values.extend(theirs.iter().filter(|value| !mine.contains(value)).cloned());
        known["enum"] = Value::Array(values);
        if let Some(known) = known.as_object_mut() {
            // It is a word about one form only.
            known.remove("description");
        }
        return;
    }
    *known = json!({PRESERVE: true});
}

fn take_object(schema: &mut Map<String, Value>, keyword: &str) -> Map<String, Value> {
    match schema.remove(keyword) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn take_list(schema: &mut Map<String, Value>, keyword: &str) -> Vec<Value> {
    match schema.remove(keyword) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

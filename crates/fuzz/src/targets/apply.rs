//! Server-side apply, several managers in turn: applying twice is applying once, what was applied is there, what
//! nobody applies any more is gone.

use std::sync::LazyLock;

use krm::Object;
use krm::ownership::{Applier, ApplyError, Endpoint, Origin, Type, Versions};
use krm::time::Moment;
use serde_json::{Map, Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::{recorded, values};

pub const TARGET: Target = Target {
    name: "apply",
    check,
    seeds,
    words: &[
        "\"f:spec\":",
        "\"k:{\\\"name\\\":\\\"a\\\"}\":",
        "\"v:\\\"a\\\"\":",
        "\"i:0\":",
        "\".\":{}",
        "\"managedFields\":",
        "\"fieldsV1\":",
        "\0",
    ],
};

const VERSION: &str = "example.com/v1";
const MANAGERS: [&str; 3] = ["ann", "bob", "kubectl"];

static VERSIONS: LazyLock<Versions> = LazyLock::new(|| {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let inner = json!({"type": "object", "properties": {
        "name": {"type": "string"}, "port": {"type": "integer", "default": 1}, "value": {"type": "string"}, "params": texts,
    }});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "share": {"x-kubernetes-int-or-string": true},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "args": {"type": "array", "items": {"type": "string"}},
            "params": texts,
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}, "b": texts}},
            "items": {
                "type": "array", "items": inner.clone(),
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            },
            "pairs": {
                "type": "array", "items": inner,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
            },
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }});
    Versions::new("Thing", Origin::Custom).with(VERSION, Type::from_schema(&schema))
});

fn endpoint() -> Endpoint<'static> {
    Endpoint { versions: &VERSIONS, api_version: VERSION, subresource: "", resets: &[] }
}

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    if choices.flag() {
        return check_read(choices.rest());
    }
    let mut live: Option<Object> = None;
    let mut only_applied = true;
    for at in 1..8 {
        if choices.is_over() {
            break;
        }
        let manager = choices.one_of(&MANAGERS);
        let now = Moment::of_seconds(at * 10);
        match (choices.below(4), &live) {
            (0, Some(before)) => {
                only_applied = false;
                live = Some(updated(before, &mut choices, manager, now));
            }
            _ => live = applied(live, &config(&mut choices), manager, choices.flag(), now),
        }
    }
    if let Some(live) = live.filter(|_| only_applied) {
        everybody_leaves(live);
    }
}

/// A write that is no apply: who changed a field owns it, and the same once more changes nothing.
fn updated(before: &Object, choices: &mut Choices<'_>, manager: &str, now: Moment) -> Object {
    let mut new = before.clone();
    new.set("spec", config(choices).get("spec").cloned());
    new.set_meta("uid", Some("u".into()));
    if endpoint().update(Some(before), &mut new, manager, now).is_err() {
        return before.clone();
    }
    entries_are_apart(&new);
    let mut again = new.clone();
    let later = endpoint().update(Some(&new), &mut again, "third", Moment::of_seconds(999));
    assert_eq!((later, &again), (Ok(()), &new), "nothing changed");
    new
}

fn applied(live: Option<Object>, config: &Object, manager: &str, force: bool, now: Moment) -> Option<Object> {
    let applier = Applier { manager, force };
    match endpoint().apply(live.as_ref(), config, applier, now) {
        Ok(new) => {
            let later = endpoint().apply(Some(&new), config, applier, Moment::of_seconds(999));
            if is_settled(&new, config) {
                let later = later.map(|later| told(&later));
                assert_eq!(later, Ok(told(&new)), "{manager} applied {config:?} twice");
            }
            entries_are_apart(&new);
            if let (Some(new), Some(config)) = (new.get("spec"), config.get("spec")) {
                assert!(says(new, config), "{config} was applied, {new} is there");
            }
            Some(new)
        }
        Err(ApplyError::Conflicts(conflicts)) => {
            assert!(!force && !conflicts.is_empty(), "conflicts in spite of force: {conflicts:?}");
            assert_eq!(conflicts.status().code, 409);
            live
        }
        Err(_) => live,
    }
}

/// Whether applying a configuration once more has to change nothing. As in Kubernetes, an empty list that is applied goes with
/// the last item that nobody applies any more, and comes back with the next apply; and what nobody owns is taken over then.
fn is_settled(object: &Object, config: &Object) -> bool {
    let entries = object.meta("managedFields").and_then(Value::as_array);
    let by_apply = |entry: &Value| entry["operation"] == "Apply";
    entries.is_some_and(|entries| entries.iter().all(by_apply))
        && !has_empty(config.get("spec").unwrap_or(&Value::Null))
}

fn has_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty() || fields.values().any(has_empty),
        Value::Array(items) => items.is_empty() || items.iter().any(has_empty),
        _ => false,
    }
}

/// What an object says and who owns it, without when it was written.
fn told(object: &Object) -> Value {
    let mut object = Value::Object(object.0.clone());
    let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
        entry.remove("time");
    }
    object
}

/// When each manager applies an object without fields, nothing is left.
fn everybody_leaves(mut live: Object) {
    for manager in MANAGERS {
        let left = endpoint().apply(
            Some(&live),
            &thing(Map::new()),
            Applier { manager, force: true },
            Moment::of_seconds(500),
        );
        live = left.unwrap_or_else(|error| panic!("{manager} can't leave {live:?}: {error}"));
    }
    let spec = live.get("spec").cloned().unwrap_or_default();
    assert!(is_empty(&spec), "{spec} is nobody's");
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// No two entries are of one manager, operation, version and subresource.
fn entries_are_apart(object: &Object) {
    let entries = object.meta("managedFields").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut keys: Vec<String> = entries
        .iter()
        .map(|entry| {
            ["manager", "operation", "apiVersion", "subresource"]
                .map(|field| entry[field].to_string())
                .join(" ")
        })
        .collect();
    keys.sort();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all, "{entries:?}");
}

/// Whether every field of `part` is in `whole`; items by their keys, atomic ones as they are.
fn says(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(name, part)| {
            let whole = whole.get(name).unwrap_or(&Value::Null);
            if matches!(name.as_str(), "args" | "whole") { whole == part } else { says(whole, part) }
        }),
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| says(whole, part)))
        }
        // What loses its last entry becomes null, even if it is applied empty.
        (Value::Null, Value::Object(empty)) => empty.is_empty(),
        (Value::Null, Value::Array(empty)) => empty.is_empty(),
        // Null where others have entries says nothing about those.
        (Value::Object(_) | Value::Array(_), Value::Null) => true,
        _ => whole == part,
    }
}

fn thing(spec: Map<String, Value>) -> Object {
    let mut thing = Object::new(VERSION, "Thing");
    thing.set_meta("name", Some("a".into()));
    if !spec.is_empty() {
        thing.set("spec", Some(Value::Object(spec)));
    }
    thing
}

fn config(choices: &mut Choices<'_>) -> Object {
    let mut spec = Map::new();
    let count = choices.below(6);
    for _ in 0..count {
        let (name, value) = match choices.below(9) {
            0 => ("size", json!(choices.below(3))),
            1 => ("share", if choices.flag() { json!(1) } else { json!("50%") }),
            2 => ("tags", distinct(list(choices))),
            3 => ("args", list(choices)),
            4 => ("params", texts(choices)),
            5 => ("whole", json!({"a": choices.one_of(&["x", "y"]), "b": texts(choices)})),
            6 => ("items", items(choices, false)),
            7 => ("pairs", items(choices, true)),
            _ => ("free", Value::Object(values::object(choices, 2))),
        };
        spec.insert(name.to_owned(), value);
    }
    thing(spec)
}

fn texts(choices: &mut Choices<'_>) -> Value {
    let count = choices.below(4);
    let pairs =
        (0..count).map(|_| (choices.one_of(&["a", "b", "c"]).to_owned(), json!(choices.one_of(&["x", "y"]))));
    Value::Object(pairs.collect())
}

fn list(choices: &mut Choices<'_>) -> Value {
    let count = choices.below(4);
    (0..count).map(|_| json!(choices.one_of(&["a", "b", "c"]))).collect()
}

fn distinct(list: Value) -> Value {
    let mut seen = std::collections::BTreeSet::new();
    list.as_array().into_iter().flatten().filter(|item| seen.insert(item.to_string())).cloned().collect()
}

fn items(choices: &mut Choices<'_>, with_port: bool) -> Value {
    let count = choices.below(4);
    let mut seen = std::collections::BTreeSet::new();
    let mut items = Vec::new();
    for _ in 0..count {
        let mut item = json!({"name": choices.one_of(&["a", "b", "c"])});
        if with_port {
            item["port"] = json!(choices.below(2));
        }
        if !seen.insert(item.to_string()) {
            continue;
        }
        if choices.flag() {
            item["value"] = json!(choices.one_of(&["x", "y"]));
        }
        if choices.below(3) == 0 {
            item["params"] = texts(choices);
        }
        items.push(item);
    }
    Value::Array(items)
}

/// Two objects as somebody might send them, with a zero byte between them: one is there, the other applied to it.
fn check_read(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let mut object = || {
        let mut object = Object(krm::decode::read_apply(parts.next()?).ok()?.0);
        object.set_type(VERSION, "Thing");
        Some(object)
    };
    let (Some(live), Some(config)) = (object(), object()) else { return };
    let mut new = config.clone();
    let _ = endpoint().update(Some(&live), &mut new, "ann", Moment::of_seconds(1));
    for force in [false, true] {
        if let Ok(new) =
            endpoint().apply(Some(&live), &config, Applier { manager: "ann", force }, Moment::of_seconds(1))
        {
            let again = endpoint().apply(
                Some(&new),
                &config,
                Applier { manager: "ann", force },
                Moment::of_seconds(2),
            );
            if is_settled(&new, &config) {
                assert_eq!(again.map(|again| told(&again)), Ok(told(&new)));
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let live: &[u8] = br#"{"metadata":{"uid":"u","managedFields":[{"manager":"bob","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:size":{},"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:tags":{"v:\"a\"":{}}}}}]},"spec":{"size":1,"items":[{"name":"a"}],"tags":["a"]}}"#;
    let read = recorded::bodies("application/apply-patch+yaml").into_iter();
    let read = read.map(|body| [&[1], live, b"\0", body.as_slice()].concat());
    read.chain(noise()).collect()
}

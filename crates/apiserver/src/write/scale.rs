//! The scale of an object: how many it wants and has, in a form common to all kinds.

use krm::Object;
use krm::kind::Scale;
use krm::status::Status;
use serde_json::{Map, Value, json};

/// The scale of an object.
pub fn of(scale: &Scale, object: &Object) -> Result<Object, Status> {
    let wanted = number(object, &scale.spec_replicas);
    let Some(wanted) = wanted else {
        let why = format!("the spec replicas field {:?} does not exist", scale.spec_replicas);
        return Err(Status::internal(why));
    };
    let mut status = json!({ "replicas": number(object, &scale.status_replicas).unwrap_or(0) });
    let selector = scale.selector.as_deref().and_then(|path| at(object, path)).and_then(Value::as_str);
    if let Some(selector) = selector.filter(|text| !text.is_empty()) {
        status["selector"] = selector.into();
    }
    let mut made = Object::new("autoscaling/v1", "Scale");
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        made.set_meta(field, object.meta(field).cloned());
    }
    let spec = if wanted == 0 { json!({}) } else { json!({ "replicas": wanted }) };
    made.set("spec", Some(spec));
    made.set("status", Some(status));
    Ok(made)
}

/// The object with the number that a scale asks for.
pub fn apply(scale: &Scale, mut object: Object, asked: &Object) -> Result<Object, Status> {
    let replicas = match asked.at("spec.replicas") {
        None | Some(Value::Null) => 0,
        Some(value) => value
            .as_i64()
            .ok_or_else(|| Status::bad_request("the number of replicas in the scale is no number"))?,
    };
    set(&mut object.0, &scale.spec_replicas, Value::from(replicas));
    for field in ["resourceVersion", "uid"] {
        if !asked.meta_text(field).is_empty() {
            object.set_meta(field, asked.meta(field).cloned());
        }
    }
    Ok(object)
}

fn number(object: &Object, path: &str) -> Option<i64> {
    at(object, path)?.as_i64()
}

fn at<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    object.at(path.strip_prefix('.').unwrap_or(path))
}

fn set(map: &mut Map<String, Value>, path: &str, value: Value) {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut map = map;
    let Some((parents, last)) = path.rsplit_once('.') else {
        map.insert(path.to_owned(), value);
        return;
    };
    for step in parents.split('.') {
        let below = map.entry(step).or_insert_with(|| Value::Object(Map::new()));
        if !below.is_object() {
            *below = Value::Object(Map::new());
        }
        let Value::Object(below) = below else { return };
        map = below;
    }
    map.insert(last.to_owned(), value);
}

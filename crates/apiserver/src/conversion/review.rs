//! ConversionReview: the request to a conversion webhook and the validation of its response.

use krm::Object;
use krm::field::Path;
use krm::kind::Converter;
use serde_json::{Map, Value, json};

const GROUP: &str = "apiextensions.k8s.io";

/// What the webhook is asked, in the first version of reviews that both sides know.
pub fn request(converter: &Converter, uid: &str, desired: &str, objects: &[Object]) -> Option<Value> {
    let version =
        converter.review_versions.iter().find(|version| matches!(version.as_str(), "v1" | "v1beta1"))?;
    let objects: Vec<&Map<String, Value>> = objects.iter().map(|object| &object.0).collect();
    Some(json!({
        "kind": "ConversionReview", "apiVersion": format!("{GROUP}/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": desired, "objects": objects},
    }))
}

/// The objects in an answer to that.
pub fn objects(request: &Value, answer: &[u8], uid: &str) -> Result<Vec<Value>, String> {
    let answer: Value = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let response = &answer["response"];
    // The beta does not say whose answer it is.
    if request["apiVersion"] == format!("{GROUP}/v1") {
        if answer["apiVersion"] != request["apiVersion"] || answer["kind"] != "ConversionReview" {
            let (api_version, kind) = (text(&answer["apiVersion"]), text(&answer["kind"]));
            return Err(format!(
                "expected webhook response of {GROUP}/v1, Kind=ConversionReview, got {api_version}, Kind={kind}"
            ));
        }
        if response.is_null() {
            return Err("no response provided".to_owned());
        }
        if response["uid"] != uid {
            return Err(format!("expected response.uid={uid:?}, got {:?}", text(&response["uid"])));
        }
    }
    if response.is_null() {
        return Err("no response provided".to_owned());
    }
    let result = &response["result"];
    if result["status"] != "Success" {
        let message = text(&result["message"]);
        return Err(match message.is_empty() {
            true => format!("response.result.status was '{}', not 'Success'", text(&result["status"])),
            false => message,
        });
    }
    Ok(response["convertedObjects"].as_array().cloned().unwrap_or_default())
}

/// What is wrong with an object that a webhook made.
pub struct Fault {
    /// Whether it is not even of the type that was asked for.
    pub is_of_type: bool,
    /// What of it is wrong: `object` or `metadata`.
    pub what: &'static str,
    /// Why.
    pub why: String,
}

/// The object that a webhook made of another, with the metadata that it may not change.
pub fn checked(original: &Object, converted: Value, desired: &str) -> Result<Object, Fault> {
    let fault = |what, why| Fault { is_of_type: false, what, why };
    let typed = |why| Fault { is_of_type: true, what: "object", why };
    let Some(converted) = Object::from_value(converted) else {
        return Err(typed("json: cannot unmarshal it into an object".to_owned()));
    };
    if converted.api_version() != desired {
        let received = converted.api_version();
        return Err(typed(format!("invalid groupVersion (expected {desired}, received {received})")));
    }
    if converted.kind() != original.kind() {
        let (expected, received) = (original.kind(), converted.kind());
        return Err(typed(format!("invalid kind (expected {expected}, received {received})")));
    }
    let same = [
        ("name", original.name(), converted.name()),
        ("namespace", original.namespace(), converted.namespace()),
        ("UID", original.uid(), converted.uid()),
    ];
    if let Some((what, was, is)) = same.into_iter().find(|(_, was, is)| was != is) {
        return Err(fault("object", format!("must have the same {what}: {was} != {is}")));
    }
    let Some(metadata) = converted.get("metadata") else {
        return Err(fault("metadata", "missing metadata in converted object".to_owned()));
    };
    let Some(metadata) = metadata.as_object() else {
        return Err(fault("metadata", "invalid metadata in converted object".to_owned()));
    };
    for field in ["labels", "annotations"] {
        words(field, metadata.get(field)).map_err(|why| fault("metadata", why))?;
    }
    Ok(converted.with_metadata_of(original))
}

/// Labels and annotations are what a webhook may change, and they stay labels and annotations.
fn words(field: &str, value: Option<&Value>) -> Result<(), String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(()) };
    let Some(map) = value.as_object() else {
        return Err(format!("invalid metadata.{field} in converted object"));
    };
    if let Some((key, _)) = map.iter().find(|(_, value)| !value.is_string()) {
        return Err(format!("metadata.{field}[{key}] must be a string in converted object"));
    }
    let alone = Map::from_iter([("name".to_owned(), "a".into()), (field.to_owned(), value.clone())]);
    let rule = krm::names::name_is_path_segment;
    let faults = krm::meta::validate_create(Some(&alone), false, rule, &Path::of("metadata"));
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    match faults.as_slice() {
        [] => Ok(()),
        [fault] => Err(fault.clone()),
        faults => Err(format!("[{}]", faults.join(", "))),
    }
}

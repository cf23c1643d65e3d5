//! What was answered against what was recorded.

use serde_json::Value;

use super::Answer;

pub fn without_links(definitions: &Value) -> Value {
    let mut definitions = definitions.clone();
    for column in definitions.as_array_mut().into_iter().flatten() {
        let words = column["description"].as_str().unwrap_or("").split(' ');
        let words = words.map(|word| if word.starts_with("https://") { "<url>" } else { word });
        column["description"] = words.collect::<Vec<_>>().join(" ").into();
    }
    definitions
}

pub fn compare(answer: Answer, response: &Value, about: &str) {
    let body = &response["body"];
    match answer {
        Ok((object, warnings)) => {
            assert!(
                matches!(response["status"].as_u64(), Some(200 | 201)),
                "{about} went well; recorded: {body}"
            );
            if body.is_object() {
                assert_eq!(settled(&Value::Object(object.0)), settled(body), "{about}");
            }
            let recorded = response["headers"]["Warning"].as_array().cloned().unwrap_or_default();
            let recorded: Vec<&str> = recorded.iter().filter_map(Value::as_str).collect();
            let warnings: Vec<String> =
                warnings.iter().map(|text| format!("299 - {}", krm::field::quote(text))).collect();
            assert_eq!(
                sorted(warnings),
                sorted(recorded.iter().map(ToString::to_string).collect()),
                "{about}"
            );
        }
        Err(status) => {
            assert_eq!(
                u64::from(status.code),
                response["status"].as_u64().unwrap_or(0),
                "{about}: {}",
                status.message
            );
            let causes = |status: &Value| {
                let list = status["details"]["causes"].as_array().cloned().unwrap_or_default();
                sorted(list.iter().map(ToString::to_string).collect())
            };
            let told = serde_json::to_value(&*status).expect("a status");
            // A patched object is shown as it is, with what this server does not have.
            if !status.message.contains("patch: Invalid value: \"{") {
                assert_eq!(causes(&told), causes(body), "{about}");
                if causes(body).len() < 2 {
                    assert_eq!(complaints(&told["message"]), complaints(&body["message"]), "{about}");
                }
            }
        }
    }
}

/// The parts of a message; a strict reader's complaints come in the order of the text, which is lost here.
fn complaints(message: &Value) -> Vec<String> {
    let (head, complaints) =
        message.as_str().unwrap_or("").split_once("strict decoding error: ").unwrap_or_default();
    match head.is_empty() {
        true => vec![message.to_string()],
        false => sorted([head].into_iter().chain(complaints.split(", ")).map(str::to_owned).collect()),
    }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// An object without what differs from run to run.
fn settled(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(metadata) = object["metadata"].as_object_mut() else { return object };
    for field in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
        metadata.remove(field);
    }
    let mut text = Value::Object(metadata.clone()).to_string();
    for number in 1..9 {
        text = text.replace(&format!("00000000-0000-0000-0000-00000000000{number}"), "<uid>");
        text = text.replace(&format!("<uid:{number}>"), "<uid>");
    }
    object["metadata"] = serde_json::from_str(&text).expect("JSON");
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entries = entries.into_iter().map(|mut entry| {
        entry["time"] = Value::Null;
        entry.to_string()
    });
    object["metadata"]["managedFields"] = sorted(entries.collect()).into();
    object
}

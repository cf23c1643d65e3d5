//! Requests that were really sent, from the recorded scenarios: where a fuzzer begins.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A request as a scenario has it.
pub struct Request {
    /// The path.
    pub path: String,
    /// What comes after the question mark.
    pub query: String,
    /// How the body is written; empty for JSON.
    pub content_type: String,
    /// The body; empty when there is none.
    pub body: Vec<u8>,
}

/// All requests of all scenarios.
pub fn requests() -> Vec<Request> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/kube");
    let mut requests = Vec::new();
    for file in files(&cases) {
        let Some(scenario) = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok())
        else {
            continue;
        };
        collect(&scenario, &mut requests);
    }
    requests
}

/// The bodies of those whose type of content is this.
pub fn bodies(content_type: &str) -> Vec<Vec<u8>> {
    let of_type = requests().into_iter().filter(|request| request.content_type == content_type);
    of_type.map(|request| request.body).filter(|body| !body.is_empty()).collect()
}

/// Definitions of kinds, as they were sent and as the scenarios share them.
pub fn definitions() -> Vec<Value> {
    let sent = requests().into_iter().filter_map(|request| serde_json::from_slice(&request.body).ok());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/kube/fixtures");
    let shared = files(&fixtures)
        .into_iter()
        .filter_map(|file| serde_json::from_slice(&std::fs::read(file).ok()?).ok());
    sent.chain(shared).filter(|value: &Value| value["kind"] == "CustomResourceDefinition").collect()
}

/// Every rule in CEL that these definitions have.
pub fn rules() -> Vec<String> {
    let mut rules = Vec::new();
    definitions().iter().for_each(|definition| find_rules(definition, &mut rules));
    rules.sort();
    rules.dedup();
    rules
}

fn find_rules(value: &Value, rules: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::Array(found)) = fields.get("x-kubernetes-validations") {
                let texts = found.iter().flat_map(|rule| [&rule["rule"], &rule["messageExpression"]]);
                rules.extend(texts.filter_map(Value::as_str).map(str::to_owned));
            }
            fields.values().for_each(|field| find_rules(field, rules));
        }
        Value::Array(items) => items.iter().for_each(|item| find_rules(item, rules)),
        _ => {}
    }
}

fn collect(value: &Value, requests: &mut Vec<Request>) {
    if let Some(path) = value.get("path").and_then(Value::as_str) {
        let query = value.get("query").and_then(Value::as_object).into_iter().flatten();
        let query = query.flat_map(|(name, value)| match value {
            Value::Array(values) => values.iter().map(|value| pair(name, value)).collect::<Vec<_>>(),
            value => vec![pair(name, value)],
        });
        let body = match (value.get("body"), value.get("raw")) {
            (Some(body), _) => body.to_string().into_bytes(),
            (None, Some(Value::String(raw))) => raw.clone().into_bytes(),
            _ => Vec::new(),
        };
        requests.push(Request {
            path: path.to_owned(),
            query: query.collect::<Vec<_>>().join("&"),
            content_type: value["headers"]["Content-Type"].as_str().unwrap_or_default().to_owned(),
            body,
        });
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|field| collect(field, requests)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, requests)),
        _ => {}
    }
}

fn pair(name: &str, value: &Value) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{name}={}", value.replace('%', "%25").replace('&', "%26").replace('+', "%2B"))
}

/// All JSON below a folder that is no recording of answers, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| {
            path.to_str().is_some_and(|path| path.ends_with(".json") && !path.ends_with(".golden.json"))
        })
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenarios_have_something_of_everything() {
        assert!(requests().len() > 500);
        assert!(definitions().len() > 5);
        assert!(rules().len() > 20);
        for content_type in [
            "",
            "application/merge-patch+json",
            "application/json-patch+json",
            "application/apply-patch+yaml",
        ] {
            assert!(!bodies(content_type).is_empty(), "{content_type}");
        }
    }
}

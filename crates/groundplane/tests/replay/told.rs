//! Scenarios that tell what Kubernetes answers, step by step, and are held against this server.
//!
//! The format is described in `tests/cases/kube-own/README.md`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use testbed::server::{Answer, Client};

use super::expected::{self, Found};

/// How long an answer may take to become what it should be, where a step says `until`.
const PATIENCE: Duration = Duration::from_secs(20);

/// The scenarios of one file.
pub fn scenarios(text: &str) -> Vec<Value> {
    let read = krm::decode::read_yaml(text.as_bytes()).unwrap();
    assert!(read.duplicates.is_empty(), "keys are given twice: {:?}", read.duplicates);
    read.value.as_array().cloned().unwrap_or_default()
}

/// What one scenario found that is not as told.
pub async fn play(client: &Client, scenario: &Value, suffix: &str) -> Vec<String> {
    let namespace = format!("told-{suffix}");
    let group = format!("g{suffix}.example.com");
    let made = client.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    let known = BTreeMap::from([
        ("x".to_owned(), suffix.to_owned()),
        ("things".to_owned(), format!("/apis/{group}/v1/namespaces/{namespace}/things")),
        ("maps".to_owned(), format!("/api/v1/namespaces/{namespace}/configmaps")),
        ("crds".to_owned(), "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned()),
        ("crd".to_owned(), format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}")),
        ("g".to_owned(), group),
        ("ns".to_owned(), namespace),
    ]);
    let mut player = Player { client, known, faults: Vec::new() };
    for (number, step) in scenario["steps"].as_array().into_iter().flatten().enumerate() {
        player.step(step, &format!("step {}", number + 1)).await;
    }
    player.faults
}

struct Player<'a> {
    client: &'a Client,
    /// What `${…}` stands for.
    known: BTreeMap<String, String>,
    faults: Vec<String>,
}

impl Player<'_> {
    async fn step(&mut self, step: &Value, place: &str) {
        let step = self.filled(step);
        if step.get("watch").is_some() {
            return Box::pin(self.watch(&step, place)).await;
        }
        if let Some(short) = step.get("define") {
            return self.define(&step, short, place).await;
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.send(&step).await;
            let found = Found::new(&answer);
            let faults = expected::faults(&step["want"], &found);
            if !faults.is_empty() && step["until"] == true && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            let what = step["do"].as_str().unwrap_or_default();
            self.faults.extend(faults.into_iter().map(|fault| format!("{place} {what}: {fault}")));
            for (name, path) in step["save"].as_object().into_iter().flatten() {
                let value = expected::at(&found.body, path.as_str().unwrap_or_default());
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                self.known.insert(name.clone(), text);
            }
            for (name, header) in step["save_headers"].as_object().into_iter().flatten() {
                let value = answer.headers.get(header.as_str().unwrap_or_default());
                let text = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
                self.known.insert(name.clone(), text.to_owned());
            }
            return;
        }
    }

    async fn send(&self, step: &Value) -> Answer {
        let (method, path) = step["do"].as_str().unwrap().split_once(' ').unwrap();
        let path = path.replace(' ', "%20");
        let method: Method = method.parse().unwrap();
        let patched = method == Method::PATCH;
        let media = match step["as"].as_str() {
            Some("json") => "application/json-patch+json",
            Some("strategic") => "application/strategic-merge-patch+json",
            Some("apply") => "application/apply-patch+yaml",
            Some("yaml") => "application/yaml",
            Some("merge") => "application/merge-patch+json",
            None if patched => "application/merge-patch+json",
            None => "application/json",
            Some(other) => other,
        };
        let body = match (step.get("raw"), step.get("body")) {
            (Some(raw), _) => Bytes::from(raw.as_str().unwrap().to_owned()),
            (None, Some(body)) => Bytes::from(body.to_string()),
            (None, None) => Bytes::new(),
        };
        self.speaking(step).send(method, &path, media, body).await.unwrap()
    }

    /// The client with the headers of a step.
    fn speaking(&self, step: &Value) -> Client {
        let mut client = if step["auth"] == "none" { self.client.stranger() } else { self.client.clone() };
        if step["auth"] == "none" {
            client.headers.clear();
        }
        client.headers.insert("user-agent", HeaderValue::from_static("told/1.0"));
        client.headers.insert("accept", HeaderValue::from_static("application/json"));
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            let name: HeaderName = name.parse().unwrap();
            client.headers.insert(name, value.as_str().unwrap().parse().unwrap());
        }
        if let Some(accept) = step["accept"].as_str() {
            client.headers.insert("accept", accept.parse().unwrap());
        }
        client
    }

    /// Makes a definition from its short form, and waits until it is served where nothing else is told.
    async fn define(&mut self, step: &Value, short: &Value, place: &str) {
        let body = definition(short, &self.known["g"]);
        let made = json!({"do": format!("POST {}", self.known["crds"]), "body": body, "want": step.get("want").unwrap_or(&json!(201))});
        Box::pin(self.step(&made, place)).await;
        if step.get("want").is_none() {
            let things = if short["scope"] == "Cluster" {
                format!("/apis/{}/v1/things", self.known["g"])
            } else {
                self.known["things"].clone()
            };
            let wait = json!({"do": format!("GET {things}"), "until": true, "want": 200});
            Box::pin(self.step(&wait, place)).await;
        }
    }

    async fn watch(&mut self, step: &Value, place: &str) {
        let path = step["watch"].as_str().unwrap().replace(' ', "%20");
        let mut lines = self.speaking(step).watch(&path).await.unwrap();
        for (number, inner) in step["during"].as_array().into_iter().flatten().enumerate() {
            Box::pin(self.step(inner, &format!("{place}.{}", number + 1))).await;
        }
        let step = self.filled(step);
        let wanted = step["events"].as_array().cloned().unwrap_or_default();
        for (number, want) in wanted.iter().enumerate() {
            let next = tokio::time::timeout(PATIENCE, lines.next()).await;
            let Ok(Some(event)) = next else {
                self.faults.push(format!("{place}: event {} never came: {want}", number + 1));
                return;
            };
            let faults = expected::differences(want, &event, &format!("event {}", number + 1));
            self.faults.extend(faults.into_iter().map(|fault| format!("{place}: {fault}")));
        }
        if step["ends"] == true {
            match tokio::time::timeout(PATIENCE, lines.next()).await {
                Ok(None) => {}
                Ok(Some(event)) => self.faults.push(format!("{place}: one event more: {event}")),
                Err(_) => self.faults.push(format!("{place}: the stream does not end")),
            }
        }
    }

    /// The same with what `${…}` stands for, as far as it is known.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled_text(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(map) => {
                let fill = |(key, value): (&String, &Value)| (self.filled_text(key), self.filled(value));
                Value::Object(map.iter().map(fill).collect())
            }
            other => other.clone(),
        }
    }

    fn filled_text(&self, text: &str) -> String {
        self.known
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    }
}

/// A whole definition from its short form: `spec` and `status` are schemas, `version` and `crd` are laid over.
fn definition(short: &Value, group: &str) -> Value {
    let mut schema = short.get("schema").cloned().unwrap_or_else(|| json!({"type": "object"}));
    for part in ["spec", "status"] {
        if let Some(of) = short.get(part) {
            schema["properties"][part] = of.clone();
        }
    }
    if let Some(rules) = short.get("rules") {
        schema["x-kubernetes-validations"] = rules.clone();
    }
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    lay_over(&mut version, short.get("version"));
    let scope = short.get("scope").cloned().unwrap_or_else(|| json!("Namespaced"));
    let mut spec = json!({
        "group": group, "scope": scope,
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [version],
    });
    lay_over(&mut spec, short.get("crd"));
    let mut metadata = json!({"name": format!("things.{group}")});
    lay_over(&mut metadata, short.get("metadata"));
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec})
}

fn lay_over(base: &mut Value, over: Option<&Value>) {
    let empty = Map::new();
    for (key, value) in over.and_then(Value::as_object).unwrap_or(&empty) {
        base[key.as_str()] = value.clone();
    }
}

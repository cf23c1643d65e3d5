//! Recorded answers of a real server, request by request, compared with ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::server::{Request, Server};
use crate::decode::read_yaml;

/// Replays a scenario; gives the number of answers that were compared.
fn replay(name: &str) -> usize {
    let read = |ending: &str| -> Value {
        let path = format!("{}/../../tests/cases/kube/scenarios/{name}{ending}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
    };
    let (scenario, golden) = (read(".json"), read(".golden.json"));
    let mut run = Run::default();
    let mut server = Server::new();
    for step in scenario["setup"].as_array().into_iter().flatten() {
        run.answer(&mut server, step);
    }
    let mut compared = 0;
    for (step, recorded) in
        scenario["steps"].as_array().unwrap().iter().zip(golden["steps"].as_array().unwrap())
    {
        let place = format!("{name}, step {}", recorded["step"]);
        let recorded = &recorded["response"];
        // Options and built-in kinds are not validated here, media types not negotiated, bodies not read strictly.
        let options = recorded["body"]["details"]["group"] == "meta.k8s.io";
        let built_in = step["path"].as_str().unwrap().starts_with("/api/") && recorded["status"] == 422;
        let strict = step["query"]["fieldValidation"] == "Strict" && step.get("raw").is_some();
        if options || built_in || strict || recorded["status"] == 415 {
            continue;
        }
        let Some((status, body)) = run.answer(&mut server, step) else { continue };
        assert_eq!(json!(status), recorded["status"], "{place}: {body}");
        // What is said of an invalid object has tests elsewhere.
        if !recorded["body"].is_null() && step.get("pick").is_none() && status != 422 {
            let (ours, theirs) = (run.normal(body), run.sorted(recorded["body"].clone()));
            assert_eq!(ours, theirs, "{place}");
            run.compare_revisions(&place);
        }
        compared += 1;
    }
    compared
}

#[derive(Default)]
struct Run {
    saved: BTreeMap<String, String>,
    uids: Vec<String>,
    /// Our revision, and the rank that was recorded for it.
    revision: Option<String>,
    revisions: BTreeMap<u64, String>,
    recorded: Option<String>,
}

impl Run {
    fn answer(&mut self, server: &mut Server, step: &Value) -> Option<(u16, Value)> {
        server.now += 0.02 + step["wait"].as_f64().unwrap_or(0.0);
        let step = self.filled(step);
        let headers = &step["headers"];
        let body = match step.get("raw").and_then(Value::as_str) {
            Some(raw) => read_yaml(raw.as_bytes()).ok()?.value,
            None => step["body"].clone(),
        };
        let (status, body) = server.handle(Request {
            method: step["method"].as_str()?,
            path: step["path"].as_str()?,
            query: &step["query"],
            user_agent: headers["User-Agent"].as_str().unwrap_or("golden/1.0"),
            content_type: headers["Content-Type"].as_str().unwrap_or("application/json"),
            body,
        })?;
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let pointer = format!("/{}", path.as_str()?.replace('.', "/"));
            let value = body.pointer(&pointer)?.as_str()?.to_owned();
            self.saved.insert(name.clone(), value);
        }
        Some((status, body))
    }

    fn filled(&self, step: &Value) -> Value {
        let mut text = step.to_string();
        let fixed = [("ns".to_owned(), "ns".to_owned()), ("x".to_owned(), "x".to_owned())];
        for (name, value) in self.saved.iter().map(|(n, v)| (n.clone(), v.clone())).chain(fixed) {
            text = text.replace(&format!("${{{name}}}"), &value);
        }
        serde_json::from_str(&text).unwrap()
    }

    /// Our answer with times, identities and revisions as the recordings have them.
    fn normal(&mut self, mut body: Value) -> Value {
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            for time in ["creationTimestamp", "deletionTimestamp"] {
                if let Some(time) = metadata.get_mut(time) {
                    *time = json!("<time>");
                }
            }
            if let Some(uid) = metadata.get_mut("uid") {
                let text = uid.as_str().unwrap().to_owned();
                if !self.uids.contains(&text) {
                    self.uids.push(text.clone());
                }
                let rank = self.uids.iter().position(|known| *known == text).unwrap() + 1;
                *uid = json!(format!("<uid:{rank}>"));
            }
            if let Some(namespace) = metadata.get_mut("namespace") {
                *namespace = json!("${ns}");
            }
            for entry in metadata.get_mut("managedFields").and_then(Value::as_array_mut).into_iter().flatten()
            {
                // Only times of now are left out.
                if let Some(time) = entry.get_mut("time")
                    && time.as_str().is_some_and(|time| time.starts_with("2023"))
                {
                    *time = json!("<time>");
                }
            }
            self.revision = metadata.remove("resourceVersion").and_then(|rv| Some(rv.as_str()?.to_owned()));
        }
        let kept = self.recorded.take();
        let sorted = self.sorted(body);
        self.recorded = kept;
        sorted
    }

    /// An answer with what has no order in a fixed one.
    fn sorted(&mut self, mut body: Value) -> Value {
        let text = body.to_string().replace("${x}", "x");
        body = serde_json::from_str(&text).unwrap();
        let by_text = |list: Option<&mut Value>| {
            if let Some(Value::Array(list)) = list {
                list.sort_by_key(Value::to_string);
            }
        };
        by_text(body.pointer_mut("/metadata/managedFields"));
        by_text(body.pointer_mut("/details/causes"));
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            self.recorded = metadata.remove("resourceVersion").and_then(|rv| Some(rv.as_str()?.to_owned()));
        }
        body
    }

    /// Revisions need not be the same numbers, but the same ones must be equal, and later ones greater.
    fn compare_revisions(&mut self, place: &str) {
        let (Some(ours), Some(theirs)) = (&self.revision, &self.recorded) else { return };
        let (ours, theirs): (u64, String) = (ours.parse().unwrap(), theirs.clone());
        let before = self.revisions.insert(ours, theirs.clone());
        assert!(before.is_none_or(|before| before == theirs), "{place}: {ours} was another revision");
        let same = self.revisions.iter().filter(|(_, recorded)| **recorded == theirs).count();
        assert_eq!(same, 1, "{place}: revision {theirs} is several of ours: {:?}", self.revisions);
    }
}

/// Scenarios, and how many of their answers are compared; the others are about what this server does not do.
fn replay_all(scenarios: &[(&str, usize)]) {
    let compared: Vec<_> = scenarios.iter().map(|(name, _)| (*name, replay(name))).collect();
    assert_eq!(compared, scenarios);
}

#[test]
fn applies_are_answered_as_recorded() {
    replay_all(&[
        ("apply/after-patch", 8),
        ("apply/after-update", 9),
        ("apply/atomic-map", 7),
        ("apply/bad-bodies", 11),
        ("apply/cluster-scoped", 3),
        ("apply/conflict-apply", 6),
        ("apply/conflict-many-managers", 7),
        ("apply/conflict-update", 6),
        ("apply/core-list-keys", 6),
        ("apply/create-by-apply", 5),
        ("apply/duplicates", 6),
        ("apply/empty-and-null", 7),
        ("apply/field-manager", 3),
        ("apply/force-values", 6),
        ("apply/hand-over", 6),
        ("apply/int-or-string", 5),
        ("apply/json-body", 4),
        ("apply/last-applied-kept", 4),
        ("apply/many-managers", 15),
        ("apply/map-list", 8),
        ("apply/map-list-order", 5),
        ("apply/map-list-two-keys", 6),
        ("apply/missing-namespace-in-body", 2),
        ("apply/move-managed-fields", 6),
        ("apply/noop", 5),
        ("apply/preserve-unknown", 6),
        ("apply/remove-fields", 6),
        ("apply/reset-managed-fields", 5),
        ("apply/set-list-order", 5),
        ("apply/shared-ownership", 6),
        ("apply/status", 8),
        ("apply/status-same-manager", 5),
        ("apply/terminating", 5),
        ("apply/unknown-fields", 8),
        ("apply/with-rv", 9),
        ("apply/wrong-types", 13),
    ]);
}

#[test]
fn updates_are_answered_as_recorded() {
    replay_all(&[
        ("update/conflict", 4),
        ("update/managed-fields", 11),
        ("update/noop", 11),
        ("update/noop-other-manager", 4),
        ("update/user-agent-manager", 4),
        ("update/versions", 5),
    ]);
}

#[test]
fn patches_are_answered_as_recorded() {
    replay_all(&[("patch/core-json-merge", 6), ("patch/json-ops", 15), ("patch/merge", 15)]);
}

#[test]
fn writes_to_subresources_are_answered_as_recorded() {
    replay_all(&[("subresources/scale-update", 5), ("subresources/status-patch", 10)]);
}

#[test]
fn entries_that_come_with_a_new_object_are_answered_as_recorded() {
    replay_all(&[("create/server-fields-ignored", 5)]);
}

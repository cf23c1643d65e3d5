//! Aggregated cluster roles: writes the combined rules into them, for people and programs to read.
//!
//! Whether somebody may do something is decided from the parts themselves; nobody waits for this.

use krm::Object;
use krm::selector::LabelSelector;
use krm::status::Status;
use serde_json::Value;
use store::{Entry, Key};

use super::queue::Queue;
use super::{Controller, Next};
use crate::api::Api;
use crate::authz::RBAC_GROUP;
use crate::client::Client;
use crate::encode;
use crate::keys;
use crate::plane::Plane;

const PLURAL: &str = "clusterroles";

/// Writes the rules of the parts into the sums.
pub struct ClusterRoles;

impl Controller for ClusterRoles {
    const NAME: &'static str = "clusterrole-aggregation-controller";

    fn map(&self, api: &Api, key: &Key, _: Option<&Entry>, _: Option<&Entry>, queue: &Queue<Key>) {
        let Some(parts) =
            keys::parts(key).filter(|parts| parts.group == RBAC_GROUP && parts.plural == PLURAL)
        else {
            return;
        };
        // Any role may be, or have been, a part of any sum.
        let prefix = format!("{}/{RBAC_GROUP}/{PLURAL}/", parts.plane);
        for (sum, entry) in api.store().latest().list(prefix.as_bytes()) {
            if may_be_sum(entry.bytes()) {
                queue.add(sum.clone());
            }
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let snapshot = client.api().store().latest();
        let Some(sum) = snapshot.get(key).and_then(|entry| encode::read(entry.bytes()).ok()) else {
            return Ok(Next::Done);
        };
        if sum.get("aggregationRule").is_none() || sum.is_deleting() {
            return Ok(Next::Done);
        }
        let prefix = format!("{}/{RBAC_GROUP}/{PLURAL}/", parts.plane);
        let others = snapshot.list(prefix.as_bytes()).filter(|(other, _)| *other != key);
        let others: Vec<Object> = others.filter_map(|(_, entry)| encode::read(entry.bytes()).ok()).collect();
        let rules = rules_of(&sum, &others);
        if rules_in(&sum) == rules.as_slice() {
            return Ok(Next::Done);
        }
        let mut wanted = Object::new(sum.api_version(), sum.kind());
        wanted.set_meta("name", Some(sum.name().into()));
        wanted.set("rules", Some(Value::Array(rules)));
        client.in_plane(&plane).apply(wanted).await.map(|_| Next::Done)
    }
}

/// Most roles are no sums, and need not be read to know that.
fn may_be_sum(bytes: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"aggregationRule\"";
    bytes.windows(FIELD.len()).any(|found| found == FIELD)
}

/// The rules of the parts, selector by selector, in the order of their names, each once.
fn rules_of(sum: &Object, others: &[Object]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    let selectors = sum.at("aggregationRule.clusterRoleSelectors").and_then(Value::as_array);
    for selector in selectors.into_iter().flatten() {
        let Ok(selector) = LabelSelector::from_json(Some(selector)) else { continue };
        for part in others {
            if !selector.matches(|key| part.label(key)) {
                continue;
            }
            for rule in rules_in(part) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

fn rules_in(role: &Object) -> &[Value] {
    role.get("rules").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn role(name: &str, label: &str, rules: &[&str]) -> Object {
        let rules: Vec<Value> = rules.iter().map(|verb| json!({"verbs": [verb]})).collect();
        let metadata = json!({"name": name, "labels": {"to": label}});
        Object::from_value(json!({"metadata": metadata, "rules": rules})).unwrap()
    }

    #[test]
    fn a_sum_has_the_rules_of_its_parts_each_once_in_the_order_of_selectors_and_names() {
        let selectors = [json!({"matchLabels": {"to": "b"}}), json!({"matchLabels": {"to": "a"}})];
        let sum =
            json!({"metadata": {"name": "sum"}, "aggregationRule": {"clusterRoleSelectors": selectors}});
        let sum = Object::from_value(sum).unwrap();
        let others = [
            role("one", "a", &["get", "list"]),
            role("three", "c", &["delete"]),
            role("two", "b", &["watch", "get"]),
        ];
        let verbs: Vec<Value> = rules_of(&sum, &others).iter().map(|rule| rule["verbs"][0].clone()).collect();
        assert_eq!(verbs, ["watch", "get", "list"]);
    }
}

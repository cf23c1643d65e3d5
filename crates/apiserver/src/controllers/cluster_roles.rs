//! Aggregated cluster roles: writes the combined rules into them, for people and programs to read.
//!
//! Whether somebody may do something is decided from the parts themselves; nobody waits for this.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Planes, QueryContext};
use krm::selector::LabelSelector;
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::Value;

use crate::authz::RBAC_GROUP;

const PLURAL: &str = "clusterroles";

/// Writes the rules of the parts into the sums.
pub struct ClusterRoles;

impl ClusterRoles {
    /// Its name.
    pub const NAME: &'static str = "clusterrole-aggregation-controller";
}

impl Reconciler for ClusterRoles {
    fn name(&self) -> &'static str {
        ClusterRoles::NAME
    }

    fn description(&self) -> &'static str {
        "Writes the rules of aggregated ClusterRoles."
    }

    fn scope(&self) -> Scope {
        Scope::resource(RBAC_GROUP, PLURAL, Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        // A sum may grant more than this controller holds, as in Kubernetes.
        vec![Rule::new(RBAC_GROUP, &[PLURAL], &["patch", "escalate"])]
    }

    fn plan(&self, target: &Target, sum: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if sum.get("aggregationRule").is_none() || sum.is_deleting() {
            return plan;
        }
        // Any role may be, or have been, a part of it.
        let mut others = context.here().all(RBAC_GROUP, PLURAL);
        others.retain(|other| other.name() != sum.name());
        let rules = rules_of(sum, &others);
        if rules_in(sum) != rules.as_slice() {
            let mut wanted = Object::new(sum.api_version(), sum.kind());
            wanted.set_meta("name", Some(sum.name().into()));
            wanted.set("rules", Some(Value::Array(rules)));
            plan.write(Write::Apply(target.plane.clone(), wanted));
        }
        plan
    }
}

/// The rules of the parts, selector by selector, in the order of their names, each once.
fn rules_of(sum: &Object, others: &[Arc<Object>]) -> Vec<Value> {
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

    fn role(name: &str, label: &str, rules: &[&str]) -> Arc<Object> {
        let rules: Vec<Value> = rules.iter().map(|verb| json!({"verbs": [verb]})).collect();
        let metadata = json!({"name": name, "labels": {"to": label}});
        Arc::new(Object::from_value(json!({"metadata": metadata, "rules": rules})).unwrap())
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

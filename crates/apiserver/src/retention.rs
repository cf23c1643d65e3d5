//! Retention of history: RetentionPolicies in the root plane, and the store's default.

use std::collections::BTreeMap;
use std::time::Duration;

use arc_swap::ArcSwap;
use krm::Object;
use serde_json::Value;
use store::Retention;

use crate::keys::Parts;
use crate::transaction::GROUP;

/// The resource of the policies.
pub const PLURAL: &str = "retentionpolicies";
const ANY: &str = "*";

/// The policies, by their names.
#[derive(Default)]
pub struct Policies(ArcSwap<BTreeMap<String, Policy>>);

#[derive(Debug, Clone)]
struct Policy {
    resources: Vec<(String, String)>,
    keep: Retention,
}

impl Policies {
    /// Whether a key is that of a policy.
    pub fn is_one(parts: &Parts<'_>) -> bool {
        parts.plane.is_empty() && parts.group == GROUP && parts.plural == PLURAL
    }

    /// Takes in a policy as it is now; other objects are none of its business.
    pub fn take_in(&self, parts: &Parts<'_>, object: Option<&Object>) {
        if !Policies::is_one(parts) {
            return;
        }
        let policy = object.map(Policy::read);
        self.0.rcu(|policies| {
            let mut policies = BTreeMap::clone(policies);
            match &policy {
                Some(policy) => policies.insert(parts.name.to_owned(), policy.clone()),
                None => policies.remove(parts.name),
            };
            policies
        });
    }

    /// How long the past of a resource is kept: by the policy that names it most closely, and among equals by the first.
    pub fn of(&self, group: &str, plural: &str) -> Retention {
        let policies = self.0.load();
        let mut best: Option<(u8, Retention)> = None;
        for policy in policies.values() {
            for (of_group, resource) in &policy.resources {
                let closeness = match (of_group == group, resource == plural) {
                    (true, true) => 3,
                    (false, true) if of_group == ANY => 2,
                    (true, false) if resource == ANY => 1,
                    (false, false) if of_group == ANY && resource == ANY => 0,
                    _ => continue,
                };
                if best.is_none_or(|(found, _)| closeness > found) {
                    best = Some((closeness, policy.keep));
                }
            }
        }
        best.map_or_else(Retention::default, |(_, keep)| keep)
    }

    /// Every rule there is, with what it is about.
    pub fn rules(&self) -> Vec<(String, Retention)> {
        let policies = self.0.load();
        let mut rules = vec![(String::new(), Retention::default())];
        for (name, policy) in policies.iter() {
            let about = policy.resources.iter().map(|(group, resource)| format!("{name} {group}/{resource}"));
            rules.extend(about.map(|about| (about, policy.keep)));
        }
        rules
    }
}

impl Policy {
    fn read(object: &Object) -> Policy {
        let usual = Retention::default();
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let resources = object.at("spec.resources").and_then(Value::as_array).into_iter().flatten();
        let count =
            object.at("spec.keepLast").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
        Policy {
            resources: resources.map(|value| (text(value, "group"), text(value, "resource"))).collect(),
            keep: Retention {
                age: object
                    .at("spec.keepFor")
                    .and_then(Value::as_str)
                    .and_then(duration)
                    .unwrap_or(usual.age),
                count: count.unwrap_or(usual.count),
            },
        }
    }
}

/// `90d`, `12h`, `30m`, `45s`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "d" => 24 * 3600,
        "h" => 3600,
        "m" => 60,
        "s" => 1,
        _ => return None,
    };
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy(policies: &Policies, name: &str, group: &str, resource: &str, days: &str) {
        let parts = Parts { plane: "", group: GROUP, plural: PLURAL, namespace: "", name };
        let object = Object::from_value(json!({"spec": {
            "resources": [{"group": group, "resource": resource}], "keepFor": days, "keepLast": 3}}))
        .unwrap();
        policies.take_in(&parts, Some(&object));
    }

    #[test]
    fn the_policy_that_names_a_kind_most_closely_counts() {
        let policies = Policies::default();
        assert_eq!(policies.of("g", "widgets"), Retention::default());
        policy(&policies, "z-all", "*", "*", "1d");
        policy(&policies, "b-group", "g", "*", "2d");
        policy(&policies, "c-one", "g", "widgets", "12h");
        policy(&policies, "d-one", "g", "widgets", "5s");
        let hours = |group, plural| policies.of(group, plural).age.as_secs() / 3600;
        assert_eq!(hours("g", "widgets"), 12, "the first of two that name it");
        assert_eq!(hours("g", "others"), 48);
        assert_eq!(hours("", "configmaps"), 24);
        assert_eq!(policies.of("g", "widgets").count, 3);
        let parts = Parts { plane: "", group: GROUP, plural: PLURAL, namespace: "", name: "z-all" };
        policies.take_in(&parts, None);
        assert_eq!(policies.of("", "configmaps"), Retention::default());
    }
}

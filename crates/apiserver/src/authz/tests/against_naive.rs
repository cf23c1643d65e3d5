//! The index gives the answers of a plain walk over all objects, whatever was put and removed in whatever order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// Kubernetes' own way: every binding, every subject, every rule.
struct Naive(BTreeMap<RbacKey, Object>);

impl Naive {
    fn allows(&self, who: &Identity, what: &Attributes<'_>) -> bool {
        self.0.iter().any(|(key, binding)| {
            let here = match key.kind {
                RbacKind::ClusterRoleBinding => true,
                RbacKind::RoleBinding => !what.namespace.is_empty() && &*key.namespace == what.namespace,
                _ => false,
            };
            here && self.binds(binding, key, who)
                && self.rules(binding, key).iter().any(|rule| rule.allows(what))
        })
    }

    fn binds(&self, binding: &Object, key: &RbacKey, who: &Identity) -> bool {
        let subjects = binding.get("subjects").and_then(Value::as_array).unwrap();
        subjects.iter().any(|subject| {
            let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or("");
            match text("kind") {
                "User" => *who.user == *text("name"),
                "Group" => who.is_in(text("name")),
                _ => {
                    let own = if text("namespace").is_empty() { &*key.namespace } else { text("namespace") };
                    *who.user == *format!("system:serviceaccount:{own}:{}", text("name"))
                }
            }
        })
    }

    fn rules(&self, binding: &Object, key: &RbacKey) -> Vec<Rule> {
        let role = |field: &str| binding.at(&format!("roleRef.{field}")).and_then(Value::as_str).unwrap();
        let kind = if role("kind") == "ClusterRole" { RbacKind::ClusterRole } else { RbacKind::Role };
        let namespace = if kind == RbacKind::Role { key.namespace.clone() } else { "".into() };
        self.rules_of(&RbacKey { kind, namespace, name: role("name").into() }, 0)
    }

    fn rules_of(&self, key: &RbacKey, depth: usize) -> Vec<Rule> {
        let Some(role) = self.0.get(key) else { return Vec::new() };
        let Some(selector) = role.at("aggregationRule.clusterRoleSelectors").and_then(Value::as_array) else {
            return Rule::list_from_json(role.get("rules"));
        };
        if depth > 8 {
            return Vec::new();
        }
        let label = selector[0]["matchLabels"].as_object().unwrap().keys().next().unwrap();
        let parts = self.0.iter().filter(|(other, part)| {
            *other != key && other.kind == RbacKind::ClusterRole && part.label(label).is_some()
        });
        parts.flat_map(|(part, _)| self.rules_of(part, depth + 1)).collect()
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(RbacKey, Object),
    Remove(RbacKey),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const NAMESPACES: [&str; 2] = ["blue", "red"];
const SUBJECTS: [&str; 6] =
    ["User/ann", "User/bob", "Group/staff", "Group/all", "ServiceAccount/blue/a", "ServiceAccount/red/b"];

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(of.to_vec(), 1..=of.len().min(2))
}

pub(super) fn rule() -> impl Strategy<Value = Rule> {
    let on_resources = (
        some(&["get", "list", "*"]),
        some(&["", "apps", "*"]),
        some(&["x", "y", "x/status", "*/status", "*"]),
        proptest::option::of(some(&["one", "two", ""])),
    )
        .prop_map(|(verbs, groups, resources, names)| {
            Rule::on(&verbs, &groups, &resources).named(&names.unwrap_or_default())
        });
    let on_paths = (some(&["get", "*"]), some(&["/a", "/a/*", "*"]))
        .prop_map(|(verbs, paths)| Rule::on_paths(&verbs, &paths));
    prop_oneof![4 => on_resources, 1 => on_paths]
}

fn labelled(mut role: Object, labels: &[&str]) -> Object {
    let labels: BTreeMap<&str, &str> = labels.iter().map(|label| (*label, "true")).collect();
    role.set_meta("labels", Some(json!(labels)));
    role
}

fn any_object() -> impl Strategy<Value = (RbacKind, Object)> {
    let name = || proptest::sample::select(&NAMES[..]);
    let namespace = || proptest::sample::select(&NAMESPACES[..]);
    let labels = || proptest::sample::subsequence(vec!["l1", "l2"], 0..=2);
    let rules = || proptest::collection::vec(rule(), 0..3);
    let bound_role = || {
        (any::<bool>(), name())
            .prop_map(|(cluster, name)| format!("{}/{name}", if cluster { "ClusterRole" } else { "Role" }))
    };
    prop_oneof![
        (namespace(), name(), rules())
            .prop_map(|(namespace, name, rules)| (RbacKind::Role, role(namespace, name, &rules))),
        (name(), rules(), labels()).prop_map(|(name, rules, labels)| (
            RbacKind::ClusterRole,
            labelled(role("", name, &rules), &labels)
        )),
        (name(), proptest::sample::select(vec!["l1", "l2"]), labels()).prop_map(|(name, of, labels)| {
            let body = json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {of: "true"}}]}});
            (RbacKind::ClusterRole, labelled(object("ClusterRole", "", name, body), &labels))
        }),
        (namespace(), name(), bound_role(), some(&SUBJECTS)).prop_map(|(namespace, name, role, subjects)| {
            (RbacKind::RoleBinding, binding(namespace, name, &role, &subjects))
        }),
        (name(), name(), some(&SUBJECTS)).prop_map(|(name, role, subjects)| {
            (RbacKind::ClusterRoleBinding, binding("", name, &format!("ClusterRole/{role}"), &subjects))
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    (any_object(), 0..4u8).prop_map(|((kind, object), dice)| {
        let key = RbacKey::of(kind, &object);
        if dice == 0 { Step::Remove(key) } else { Step::Put(key, object) }
    })
}

pub(super) fn question() -> impl Strategy<Value = (Identity, Attributes<'static>)> {
    let who = (
        proptest::sample::select(vec![
            "ann",
            "bob",
            "system:serviceaccount:blue:a",
            "system:serviceaccount:red:b",
        ]),
        proptest::sample::subsequence(vec!["staff", "all"], 0..=2),
    );
    let what = prop_oneof![
        4 => (
            proptest::sample::select(vec!["get", "list", "watch"]),
            proptest::sample::select(vec!["", "apps", "other"]),
            proptest::sample::select(vec!["x", "y"]),
            proptest::sample::select(vec!["", "status", "scale"]),
            proptest::sample::select(vec!["", "one", "three"]),
            proptest::sample::select(vec!["", "blue", "red", "green"]),
        )
            .prop_map(|(verb, group, resource, subresource, name, namespace)| Attributes {
                subresource,
                name,
                namespace,
                ..Attributes::resource(verb, group, resource)
            }),
        1 => proptest::sample::select(vec!["/a", "/a/b", "/b"]).prop_map(|path| Attributes::path("get", path)),
    ];
    (who, what).prop_map(|((user, groups), what)| (Identity::new(user, &groups), what))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_index_answers_as_a_walk_over_everything_would(
        steps in proptest::collection::vec(step(), 0..40),
        questions in proptest::collection::vec(question(), 30),
        crowd in any::<bool>(),
    ) {
        let mut rbac = Rbac::default();
        let mut naive = Naive(BTreeMap::new());
        let mut put = |key: RbacKey, object: Object, rbac: &mut Rbac| {
            rbac.put(&key, &object);
            naive.0.insert(key, object);
        };
        // Bindings to roles that allow nothing asked for here send the question down the way for many roles.
        for index in 0..if crowd { 40 } else { 0 } {
            let name = format!("crowd-{index}");
            let empty = role("", &name, &[Rule::on(&["crowd"], &[""], &["crowd"])]);
            put(RbacKey::of(RbacKind::ClusterRole, &empty), empty, &mut rbac);
            for namespace in ["", "blue"] {
                let bound = binding(namespace, &name, &format!("ClusterRole/{name}"), &SUBJECTS);
                let kind = if namespace.is_empty() { RbacKind::ClusterRoleBinding } else { RbacKind::RoleBinding };
                put(RbacKey::of(kind, &bound), bound, &mut rbac);
            }
        }
        for step in steps {
            match step {
                Step::Put(key, object) => {
                    rbac.put(&key, &object);
                    naive.0.insert(key, object);
                }
                Step::Remove(key) => {
                    rbac.remove(&key);
                    naive.0.remove(&key);
                }
            }
        }
        for (who, what) in &questions {
            prop_assert_eq!(rbac.decide(who, what).allowed, naive.allows(who, what), "{:?} {:?}", who, what);
            let listed = rbac.rules_for(who, what.namespace).rules;
            prop_assert_eq!(listed.iter().any(|rule| rule.allows(what)), naive.allows(who, what));
            // What is decided for all objects at once is what is decided for each.
            let extent = rbac.extent_for(who, &Standing::default(), what);
            for name in ["one", "two", "three"].into_iter().filter(|_| what.is_resource()) {
                let allowed = naive.allows(who, &Attributes { name, ..*what });
                prop_assert_eq!(extent.has(what.namespace, name), allowed, "{:?} {:?} {}", who, what, name);
                prop_assert!(allowed || !extent.is_whole());
            }
        }
        // An index that was changed step by step is one that was made of what is left.
        let fresh = Rbac::compile(naive.0.values());
        for (who, what) in &questions {
            prop_assert_eq!(rbac.decide(who, what), fresh.decide(who, what));
        }
        for key in naive.0.keys() {
            rbac.remove(key);
        }
        prop_assert_eq!(format!("{rbac:?}"), format!("{:?}", Rbac::default()));
    }
}

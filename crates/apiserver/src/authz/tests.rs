mod against_naive;
mod covering;
mod escalating;
mod starting;

use std::time::{Duration, Instant};

use krm::Object;
use serde_json::{Value, json};

use super::*;

/// An object of the group, from its kind, its place and its body.
pub(super) fn object(kind: &str, namespace: &str, name: &str, body: Value) -> Object {
    let mut object = Object::from_value(body).unwrap();
    object.set_type("rbac.authorization.k8s.io/v1", kind);
    object.set_meta("name", Some(name.into()));
    object.set_meta("namespace", (!namespace.is_empty()).then(|| namespace.into()));
    object
}

pub(super) fn role(namespace: &str, name: &str, rules: &[Rule]) -> Object {
    let kind = if namespace.is_empty() { "ClusterRole" } else { "Role" };
    object(kind, namespace, name, json!({"rules": rules.iter().map(Rule::to_json).collect::<Vec<_>>()}))
}

/// A binding of `ClusterRole/name` or `Role/name` to subjects such as `User/ann`, `Group/staff`, `ServiceAccount/ns/sa`.
pub(super) fn binding(namespace: &str, name: &str, role: &str, subjects: &[&str]) -> Object {
    let kind = if namespace.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" };
    let (role_kind, role_name) = role.split_once('/').unwrap();
    let subjects: Vec<Value> = subjects
        .iter()
        .map(|subject| match subject.split('/').collect::<Vec<_>>().as_slice() {
            ["ServiceAccount", namespace, name] => {
                json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
            }
            [kind, name] => json!({"kind": kind, "name": name, "apiGroup": RBAC_GROUP}),
            _ => panic!("{subject}"),
        })
        .collect();
    let role_ref = json!({"apiGroup": RBAC_GROUP, "kind": role_kind, "name": role_name});
    object(kind, namespace, name, json!({"subjects": subjects, "roleRef": role_ref}))
}

fn ann() -> Identity {
    Identity::new("ann", &["staff", "system:authenticated"])
}

fn get(resource: &str) -> Attributes<'_> {
    Attributes::resource("get", "", resource)
}

#[test]
fn nothing_is_allowed_until_somebody_allows_it() {
    let rbac = Rbac::default();
    assert_eq!(rbac.decide(&ann(), &get("configmaps")), Decision::deny(""));
    assert_eq!(rbac.decide(&Identity::anonymous(), &Attributes::path("get", "/healthz")), Decision::deny(""));
    assert!(rbac.decide(&Identity::new("root", &["system:masters"]), &get("secrets")).allowed);
}

#[test]
fn a_role_is_good_in_its_namespace_and_a_cluster_role_everywhere() {
    let reads = Rule::on(&["get", "list"], &[""], &["configmaps"]);
    let rbac = Rbac::compile(&[
        role("blue", "reader", std::slice::from_ref(&reads)),
        role("", "reader", &[reads]),
        binding("blue", "by-role", "Role/reader", &["User/ann"]),
        binding("red", "by-cluster-role", "ClusterRole/reader", &["Group/staff"]),
        binding("", "everywhere", "ClusterRole/reader", &["ServiceAccount/ops/robot"]),
    ]);
    let decide = |who: &Identity, namespace| rbac.decide(who, &get("configmaps").in_namespace(namespace));
    assert_eq!(
        decide(&ann(), "blue").reason,
        r#"RBAC: allowed by RoleBinding "by-role/blue" of Role "reader" to User "ann""#
    );
    assert_eq!(
        decide(&ann(), "red").reason,
        r#"RBAC: allowed by RoleBinding "by-cluster-role/red" of ClusterRole "reader" to Group "staff""#
    );
    assert!(!decide(&ann(), "green").allowed);
    assert!(!decide(&ann(), "").allowed);
    let robot = Identity::new("system:serviceaccount:ops:robot", &[]);
    assert_eq!(
        decide(&robot, "green").reason,
        r#"RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to ServiceAccount "robot/ops""#
    );
    assert!(!rbac.decide(&ann(), &get("secrets").in_namespace("blue")).allowed);
    assert!(
        !rbac
            .decide(&ann(), &Attributes { verb: "delete", ..get("configmaps").in_namespace("blue") })
            .allowed
    );
}

#[test]
fn a_service_account_without_a_namespace_is_one_of_the_binding_s_own() {
    let mut local = binding("blue", "local", "ClusterRole/reader", &[]);
    local.set("subjects", Some(json!([{"kind": "ServiceAccount", "name": "robot"}])));
    let mut nowhere = binding("", "nowhere", "ClusterRole/reader", &[]);
    nowhere.set("subjects", Some(json!([{"kind": "ServiceAccount", "name": "robot"}])));
    let rbac = Rbac::compile(&[role("", "reader", &[Rule::on(&["*"], &["*"], &["*"])]), local, nowhere]);
    let robot = Identity::new("system:serviceaccount:blue:robot", &[]);
    assert!(rbac.decide(&robot, &get("x").in_namespace("blue")).allowed);
    assert!(!rbac.decide(&robot, &get("x")).allowed);
}

#[test]
fn rules_match_groups_resources_subresources_and_names_as_kubernetes_does() {
    let can = |rule: &Rule, what: Attributes<'_>| rule.allows(&what);
    let scale = Attributes::resource("update", "apps", "widgets").on_subresource("scale");

    let exact = Rule::on(&["update"], &["apps"], &["widgets/scale"]);
    assert!(can(&exact, scale));
    assert!(!can(&exact, scale.on_subresource("status")));
    assert!(!can(&exact, scale.on_subresource("")));

    let every_scale = Rule::on(&["*"], &["*"], &["*/scale"]);
    assert!(can(&every_scale, scale));
    assert!(!can(&every_scale, scale.on_subresource("upscale")), "a suffix is not enough");
    assert!(!can(&every_scale, scale.on_subresource("")));

    let widgets = Rule::on(&["update"], &["apps"], &["widgets"]);
    assert!(!can(&widgets, scale), "a resource does not include its subresources");
    assert!(can(&Rule::on(&["update"], &["apps"], &["*"]), scale), "but * does");
    assert!(!can(&Rule::on(&["update"], &["apps"], &["widgets/*"]), scale), "and there is no such pattern");

    let one = Rule::on(&["get"], &[""], &["configmaps"]).named(&["mine"]);
    assert!(can(&one, get("configmaps").named("mine")));
    assert!(!can(&one, get("configmaps").named("yours")));
    assert!(!can(&one, get("configmaps")), "nor all of them");

    let extras = Rule::on(&["impersonate"], &["authentication.k8s.io"], &["userextras/example.com/scope"]);
    let scope = Attributes::resource("impersonate", "authentication.k8s.io", "userextras");
    assert!(can(&extras, scope.on_subresource("example.com/scope")));
}

#[test]
fn paths_match_whole_or_by_a_star_at_their_end() {
    let rule = Rule::on_paths(&["get"], &["/healthz", "/apis/*"]);
    for (path, allowed) in [
        ("/healthz", true),
        ("/healthz/ping", false),
        ("/apis/", true),
        ("/apis/x/y", true),
        ("/apis", false),
    ] {
        assert_eq!(rule.allows(&Attributes::path("get", path)), allowed, "{path}");
    }
    assert!(!rule.allows(&Attributes::path("post", "/healthz")));
    assert!(!rule.allows(&get("healthz")), "a rule on paths allows no resource");
    assert!(!Rule::on(&["*"], &["*"], &["*"]).allows(&Attributes::path("get", "/x")));
}

#[test]
fn a_403_reads_as_kubernetes_writes_it() {
    let bob = Identity::new("bob", &[]);
    let said = |what: Attributes<'_>, reason: &str| what.forbidden(&bob, reason).message;
    let widgets = Attributes::resource("list", "example.com", "widgets");
    assert_eq!(
        said(widgets, ""),
        r#"widgets.example.com is forbidden: User "bob" cannot list resource "widgets" in API group "example.com" at the cluster scope"#
    );
    assert_eq!(
        said(get("configmaps").in_namespace("ns").named("a"), ""),
        r#"configmaps "a" is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the namespace "ns""#
    );
    assert_eq!(
        said(get("configmaps").in_namespace("ns").named("a").on_subresource("status"), "because"),
        r#"configmaps "a" is forbidden: User "bob" cannot get resource "configmaps/status" in API group "" in the namespace "ns": because"#
    );
    assert_eq!(
        said(Attributes::path("get", "/metrics"), ""),
        r#"forbidden: User "bob" cannot get path "/metrics""#
    );
    let evil = Identity::new("<script>&\"", &[]);
    assert_eq!(
        Attributes::path("get", "/x").forbidden(&evil, "").message,
        r#"forbidden: User "&lt;script&gt;&amp;\"" cannot get path "/x""#
    );
    let status: Value = serde_json::from_slice(&widgets.forbidden(&bob, "").to_json()).unwrap();
    assert_eq!(status["details"], json!({"group": "example.com", "kind": "widgets"}));
    assert_eq!(status["code"], 403);
}

#[test]
fn a_binding_to_a_role_that_is_not_there_is_told_with_the_refusal() {
    let rbac = Rbac::compile(&[
        binding("", "a", "ClusterRole/gone", &["User/ann"]),
        binding("ns", "b", "Role/lost", &["Group/staff"]),
    ]);
    assert_eq!(
        rbac.decide(&ann(), &get("x")).reason,
        r#"RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found"#
    );
    assert_eq!(
        rbac.decide(&ann(), &get("x").in_namespace("ns")).reason,
        r#"RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]"#
    );
    assert_eq!(rbac.rules_for(&ann(), "ns").error.matches("not found").count(), 2);
}

#[test]
fn changes_take_effect_at_once_and_leave_nothing_behind() {
    let mut rbac = Rbac::default();
    let reader = role("", "reader", &[Rule::on(&["get"], &[""], &["configmaps"])]);
    let bound = binding("", "b", "ClusterRole/reader", &["User/ann", "Group/staff"]);
    let role_key = RbacKey::of(RbacKind::ClusterRole, &reader);
    let binding_key = RbacKey::of(RbacKind::ClusterRoleBinding, &bound);
    rbac.put(&role_key, &reader);
    rbac.put(&binding_key, &bound);
    assert!(rbac.decide(&ann(), &get("configmaps")).allowed);

    rbac.put(&binding_key, &binding("", "b", "ClusterRole/reader", &["User/bob"]));
    assert!(!rbac.decide(&ann(), &get("configmaps")).allowed);
    assert!(rbac.decide(&Identity::new("bob", &[]), &get("configmaps")).allowed);

    rbac.put(&role_key, &role("", "reader", &[Rule::on(&["get"], &[""], &["secrets"])]));
    assert!(!rbac.decide(&Identity::new("bob", &[]), &get("configmaps")).allowed);
    assert!(rbac.decide(&Identity::new("bob", &[]), &get("secrets")).allowed);

    rbac.remove(&binding_key);
    rbac.remove(&role_key);
    rbac.remove(&role_key);
    assert_eq!(format!("{rbac:?}"), format!("{:?}", Rbac::default()));
}

#[test]
fn a_sum_has_the_rules_of_its_parts_as_they_come_and_go() {
    let with_label = |mut role: Object, key: &str| {
        role.set_meta("labels", Some(json!({key: "true"})));
        role
    };
    let sum = |name: &str, of: &str| {
        let selectors = json!([{"matchLabels": {of: "true"}}]);
        object(
            "ClusterRole",
            "",
            name,
            json!({
                "aggregationRule": {"clusterRoleSelectors": selectors},
                "rules": [Rule::on(&["*"], &["*"], &["*"]).to_json()],
            }),
        )
    };
    let mut rbac = Rbac::compile(&[
        sum("outer", "in-outer"),
        with_label(sum("inner", "in-inner"), "in-outer"),
        binding("", "b", "ClusterRole/outer", &["User/ann"]),
    ]);
    assert!(!rbac.decide(&ann(), &get("widgets")).allowed, "what a sum itself says does not count");

    let part = with_label(role("", "part", &[Rule::on(&["get"], &[""], &["widgets"])]), "in-inner");
    let key = RbacKey::of(RbacKind::ClusterRole, &part);
    rbac.put(&key, &part);
    assert!(rbac.decide(&ann(), &get("widgets")).allowed, "through the inner one");
    assert_eq!(rbac.rules_of("", "outer").unwrap(), [Rule::on(&["get"], &[""], &["widgets"])]);
    assert_eq!(rbac.sums_of("part"), ["inner".into(), "outer".into()].into());

    rbac.put(&key, &with_label(part.clone(), "elsewhere"));
    assert!(!rbac.decide(&ann(), &get("widgets")).allowed);
    rbac.put(&key, &part);
    rbac.remove(&key);
    assert!(!rbac.decide(&ann(), &get("widgets")).allowed);
}

#[test]
fn sums_that_contain_each_other_are_no_trap() {
    let sum = |name: &str, of: &str, labelled: &str| {
        let mut sum = object(
            "ClusterRole",
            "",
            name,
            json!({
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {of: "true"}}]},
            }),
        );
        sum.set_meta("labels", Some(json!({labelled: "true"})));
        sum
    };
    let mut leaf = role("", "leaf", &[Rule::on(&["get"], &[""], &["widgets"])]);
    leaf.set_meta("labels", Some(json!({"a": "true"})));
    let rbac = Rbac::compile(&[
        sum("x", "a", "b"),
        sum("y", "b", "a"),
        leaf,
        binding("", "b", "ClusterRole/y", &["User/ann"]),
    ]);
    assert!(rbac.decide(&ann(), &get("widgets")).allowed);
    assert_eq!(rbac.rules_of("", "x").unwrap().len(), 1);
}

#[test]
fn what_somebody_may_do_lists_each_binding_once() {
    let rbac = Rbac::compile(&[
        role("", "reader", &[Rule::on(&["get"], &[""], &["configmaps"])]),
        role("ns", "writer", &[Rule::on(&["create"], &[""], &["secrets"])]),
        binding("", "b", "ClusterRole/reader", &["User/ann", "Group/staff"]),
        binding("ns", "c", "Role/writer", &["Group/staff"]),
    ]);
    let found = rbac.rules_for(&ann(), "ns");
    assert_eq!(
        found.rules,
        [Rule::on(&["get"], &[""], &["configmaps"]), Rule::on(&["create"], &[""], &["secrets"])]
    );
    assert_eq!(rbac.rules_for(&ann(), "other").rules.len(), 1);
}

#[test]
fn hostile_objects_bind_nobody_and_harm_nothing() {
    let mut rbac = Rbac::default();
    for body in [
        json!({}),
        json!({"rules": null, "subjects": null, "roleRef": null}),
        json!({"rules": 7, "subjects": "x", "roleRef": []}),
        json!({"rules": [null, 1, {"verbs": "*", "apiGroups": [1], "resources": {}}]}),
        json!({"subjects": [{}, {"kind": "Nobody", "name": "ann"}, null], "roleRef": {"kind": "Odd", "name": "x"}}),
        json!({"aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "?"}]}]}}),
        json!({"metadata": {"labels": [1], "name": 5}}),
    ] {
        for kind in
            [RbacKind::Role, RbacKind::ClusterRole, RbacKind::RoleBinding, RbacKind::ClusterRoleBinding]
        {
            let object = Object::from_value(body.clone()).unwrap();
            rbac.put(&RbacKey { kind, namespace: "ns".into(), name: "x".into() }, &object);
        }
        assert!(!rbac.decide(&ann(), &get("x").in_namespace("ns")).allowed);
        assert!(!rbac.decide(&Identity::new("", &[""]), &get("")).allowed);
    }
}

/// One binding for each of so many users, and so many objects that ann alone may read, each with a role of its own.
fn bindings(count: usize) -> Rbac {
    let mut objects = vec![role("", "view", &[Rule::on(&["get"], &[""], &["configmaps"])])];
    for index in 0..count {
        let user = format!("User/user-{index}");
        objects.push(binding("", &format!("b-{index}"), "ClusterRole/view", &[&user]));
        let name = format!("object-{index}");
        objects.push(role("ns", &name, &[Rule::on(&["get"], &[""], &["secrets"]).named(&[&name])]));
        objects.push(binding("ns", &name, &format!("Role/{name}"), &["User/ann"]));
    }
    Rbac::compile(&objects)
}

/// How long a thing takes on few bindings and on many, each at its best of several rounds.
fn best(few: &mut Rbac, many: &mut Rbac, mut act: impl FnMut(&mut Rbac)) -> (Duration, Duration) {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        for (rbac, best) in [(&mut *few, &mut best.0), (&mut *many, &mut best.1)] {
            let started = Instant::now();
            act(rbac);
            *best = started.elapsed().min(*best);
        }
    }
    best
}

#[test]
fn a_decision_costs_the_same_however_many_bindings_there_are() {
    let (mut few, mut many) = (bindings(10), bindings(10_000));
    let questions: [(Identity, Attributes<'_>, bool); 4] = [
        (Identity::new("user-7", &["g"]), get("configmaps").named("x"), true),
        (Identity::new("user-7", &["g"]), get("secrets").named("x"), false),
        (ann(), get("secrets").in_namespace("ns").named("object-8"), true),
        (ann(), get("secrets").in_namespace("ns").named("nothing"), false),
    ];
    for (who, what, allowed) in &questions {
        let took = best(&mut few, &mut many, |rbac| {
            for _ in 0..100 {
                assert_eq!(rbac.decide(who, what).allowed, *allowed);
            }
        });
        // A walk over all bindings would cost a thousand times as much.
        assert!(took.1 < took.0 * 50, "{what:?}: {took:?}");
    }
    // A role that 10,000 bindings give is changed in one place.
    let changed = role("", "view", &[Rule::on(&["get"], &[""], &["secrets"])]);
    let took = best(&mut few, &mut many, |rbac| {
        rbac.put(&RbacKey::of(RbacKind::ClusterRole, &changed), &changed);
    });
    assert!(took.1 < took.0 * 50, "a changed role: {took:?}");
}

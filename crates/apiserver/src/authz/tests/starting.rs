//! What a plane allows before anybody has allowed anything.

use super::*;

fn plane() -> Rbac {
    Rbac::compile(bootstrap_objects().iter())
}

#[test]
fn anonymous_requests_see_health_and_version_and_nothing_else() {
    let rbac = plane();
    let may = |path: &str| rbac.decide(&Identity::anonymous(), &Attributes::path("get", path)).allowed;
    for open in ["/healthz", "/livez", "/readyz", "/version", "/version/"] {
        assert!(may(open), "{open}");
    }
    for closed in ["/", "/api", "/apis", "/openapi/v3", "/metrics", "/livez/ping", "/healthz/etcd", "/portal"]
    {
        assert!(!may(closed), "{closed}");
    }
    assert!(!rbac.decide(&Identity::anonymous(), &get("namespaces")).allowed);
    let review = Attributes::resource("create", "authorization.k8s.io", "selfsubjectaccessreviews");
    assert!(!rbac.decide(&Identity::anonymous(), &review).allowed);
}

#[test]
fn whoever_is_known_may_discover_and_ask_about_himself() {
    let (rbac, ann) = (plane(), ann());
    for path in ["/api", "/apis/x/v1", "/openapi/v3", "/healthz", "/version"] {
        assert!(rbac.decide(&ann, &Attributes::path("get", path)).allowed, "{path}");
    }
    for (group, resource) in [
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
    ] {
        assert!(rbac.decide(&ann, &Attributes::resource("create", group, resource)).allowed, "{resource}");
    }
    assert!(!rbac.decide(&ann, &Attributes::path("get", "/metrics")).allowed);
    assert!(!rbac.decide(&ann, &get("configmaps").in_namespace("default")).allowed);
}

#[test]
fn viewers_editors_and_admins_of_a_namespace_differ_as_in_kubernetes() {
    let mut rbac = plane();
    for name in ["view", "edit", "admin"] {
        let bound = binding("ns", name, &format!("ClusterRole/{name}"), &[&format!("User/{name}")]);
        rbac.put(&RbacKey::of(RbacKind::RoleBinding, &bound), &bound);
    }
    let who = |name: &str, what: Attributes<'_>| {
        rbac.decide(&Identity::new(name, &[]), &what.in_namespace("ns")).allowed
    };
    let create = |resource| Attributes::resource("create", "", resource);
    let bind = Attributes::resource("create", RBAC_GROUP, "rolebindings");
    let rows: [(Attributes<'_>, [bool; 3]); 7] = [
        (get("configmaps"), [true, true, true]),
        (get("secrets"), [false, true, true]),
        (create("configmaps"), [false, true, true]),
        (create("serviceaccounts").on_subresource("token"), [false, true, true]),
        (Attributes::resource("list", "events.k8s.io", "events"), [true, true, true]),
        (bind, [false, false, true]),
        (create("namespaces"), [false, false, false]),
    ];
    for (what, [view, edit, admin]) in rows {
        assert_eq!(
            [who("view", what), who("edit", what), who("admin", what)],
            [view, edit, admin],
            "{what:?}"
        );
    }
    assert!(!rbac.decide(&Identity::new("admin", &[]), &get("configmaps").in_namespace("other")).allowed);
}

#[test]
fn a_domain_adds_its_kinds_by_a_label() {
    let mut rbac = plane();
    let mut racks = role("", "inventory-view", &[Rule::on(&["get"], &["inventory.example.com"], &["racks"])]);
    racks.set_meta("labels", Some(json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"})));
    rbac.put(&RbacKey::of(RbacKind::ClusterRole, &racks), &racks);
    let bound = binding("", "b", "ClusterRole/admin", &["User/ann"]);
    rbac.put(&RbacKey::of(RbacKind::ClusterRoleBinding, &bound), &bound);
    assert!(rbac.decide(&ann(), &Attributes::resource("get", "inventory.example.com", "racks")).allowed);
    assert_eq!(rbac.sums_of("inventory-view").len(), 3);
}

#[test]
fn sums_show_their_rules_from_the_start() {
    for object in bootstrap_objects().iter().filter(|object| object.kind() == "ClusterRole") {
        let rules = object.get("rules").and_then(Value::as_array).unwrap();
        assert!(!rules.is_empty(), "{}", object.name());
    }
}

#[test]
fn a_second_start_adds_what_is_missing_and_keeps_what_was_added() {
    let wanted = bootstrap_objects();
    for object in &wanted {
        assert_eq!(reconciled(object, object), None, "{}", object.name());
    }
    let basic = wanted.iter().find(|object| object.name() == "system:basic-user").unwrap();
    let mut changed = basic.clone();
    changed.set("rules", Some(json!([Rule::on(&["get"], &["x"], &["y"]).to_json()])));
    let repaired = reconciled(&changed, basic).unwrap();
    let rules = Rule::list_from_json(repaired.get("rules"));
    assert!(rules.contains(&Rule::on(&["get"], &["x"], &["y"])));
    assert!(rules.iter().any(|rule| rule.allows(&Attributes::resource(
        "create",
        "authentication.k8s.io",
        "selfsubjectreviews"
    ))));
    assert_eq!(reconciled(&repaired, basic), None);

    let binding = wanted.iter().find(|object| object.kind() == "ClusterRoleBinding").unwrap();
    let mut emptied = binding.clone();
    emptied.set("subjects", None);
    assert_eq!(reconciled(&emptied, binding).unwrap().get("subjects"), binding.get("subjects"));

    changed.set_meta("annotations", Some(json!({"rbac.authorization.kubernetes.io/autoupdate": "false"})));
    assert_eq!(reconciled(&changed, basic), None);
}

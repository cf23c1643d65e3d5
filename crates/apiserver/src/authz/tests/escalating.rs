//! Nobody gives away what he does not hold.

use super::*;
use crate::authz::check_escalation;
use krm::Status;

fn plane(ann_holds: &[Rule]) -> Rbac {
    let mut rbac = Rbac::compile(bootstrap_objects().iter());
    for object in [
        role("", "ann-s", ann_holds),
        role("", "secret-reader", &[Rule::on(&["get", "list"], &[""], &["secrets"])]),
        role("ns", "local-reader", &[Rule::on(&["get"], &[""], &["configmaps"])]),
        binding("", "ann", "ClusterRole/ann-s", &["User/ann"]),
    ] {
        let kind = match object.kind() {
            "Role" => RbacKind::Role,
            "ClusterRole" => RbacKind::ClusterRole,
            _ => RbacKind::ClusterRoleBinding,
        };
        rbac.put(&RbacKey::of(kind, &object), &object);
    }
    rbac
}

fn write(rbac: &Rbac, who: &Identity, new: &Object, old: Option<&Object>) -> Result<(), Status> {
    let resource = format!("{}s", new.kind().to_lowercase());
    let request = Attributes::resource("create", RBAC_GROUP, &resource).in_namespace(new.namespace());
    check_escalation(rbac, rbac, who, &request, old, new)
}

#[test]
fn a_role_may_hold_what_its_writer_holds_and_no_more() {
    let rbac = plane(&[Rule::on(&["get", "list"], &["", "apps"], &["configmaps", "*/status"])]);
    let may = |rules: &[Rule]| write(&rbac, &ann(), &role("", "new", rules), None);
    assert!(may(&[Rule::on(&["get"], &[""], &["configmaps"])]).is_ok());
    assert!(may(&[Rule::on(&["list", "get"], &["apps", ""], &["configmaps"]).named(&["one"])]).is_ok());
    assert!(may(&[Rule::on(&["get"], &["apps"], &["widgets/status"])]).is_ok());
    assert!(may(&[]).is_ok());

    let refused = may(&[
        Rule::on(&["get", "delete"], &[""], &["configmaps", "secrets"]),
        Rule::on_paths(&["get"], &["/metrics"]),
    ])
    .unwrap_err();
    assert_eq!(
        refused.message,
        "clusterroles.rbac.authorization.k8s.io \"new\" is forbidden: user \"ann\" \
         (groups=[\"staff\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"delete\"]}\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"delete\"]}\n\
         {NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"
    );
    assert!(
        write(
            &rbac,
            &Identity::new("root", &["system:masters"]),
            &role("", "x", &[Rule::on(&["*"], &["*"], &["*"])]),
            None
        )
        .is_ok()
    );
}

#[test]
fn names_and_wildcards_are_not_confused() {
    let rbac = plane(&[Rule::on(&["get"], &[""], &["configmaps"]).named(&["one"])]);
    let may = |rule: Rule| write(&rbac, &ann(), &role("", "new", &[rule]), None).is_ok();
    assert!(may(Rule::on(&["get"], &[""], &["configmaps"]).named(&["one"])));
    assert!(!may(Rule::on(&["get"], &[""], &["configmaps"]).named(&["one", "two"])));
    assert!(!may(Rule::on(&["get"], &[""], &["configmaps"])));
    assert!(!may(Rule::on(&["*"], &[""], &["configmaps"]).named(&["one"])));
    assert!(!may(Rule::on(&["get"], &["*"], &["configmaps"]).named(&["one"])));
}

#[test]
fn whoever_may_escalate_may_write_any_role() {
    let rbac = plane(&[Rule::on(&["escalate"], &[RBAC_GROUP], &["clusterroles"])]);
    let everything = [Rule::on(&["*"], &["*"], &["*"])];
    assert!(write(&rbac, &ann(), &role("", "new", &everything), None).is_ok());
    assert!(write(&rbac, &ann(), &role("ns", "new", &everything), None).is_err(), "but of that kind only");
}

#[test]
fn a_binding_takes_the_rules_of_its_role_or_the_verb_bind() {
    let give = binding("", "new", "ClusterRole/secret-reader", &["User/bob"]);
    let refused = write(&plane(&[]), &ann(), &give, None).unwrap_err();
    assert!(refused.message.contains("Resources:[\"secrets\"], Verbs:[\"get\" \"list\"]"), "{refused}");
    assert!(
        refused.message.starts_with("clusterrolebindings.rbac.authorization.k8s.io \"new\" is forbidden")
    );

    let holds = plane(&[Rule::on(&["*"], &[""], &["secrets"])]);
    assert!(write(&holds, &ann(), &give, None).is_ok());
    let may_bind = plane(&[Rule::on(&["bind"], &[RBAC_GROUP], &["clusterroles"]).named(&["secret-reader"])]);
    assert!(write(&may_bind, &ann(), &give, None).is_ok());
    assert!(write(&may_bind, &ann(), &binding("", "new", "ClusterRole/admin", &["User/bob"]), None).is_err());

    let local = binding("ns", "new", "Role/local-reader", &["User/bob"]);
    assert!(write(&plane(&[]), &ann(), &local, None).is_err());
    assert!(write(&plane(&[Rule::on(&["get"], &[""], &["configmaps"])]), &ann(), &local, None).is_ok());

    let gone =
        write(&plane(&[]), &ann(), &binding("ns", "new", "Role/gone", &["User/bob"]), None).unwrap_err();
    assert_eq!(
        (gone.code, gone.message.as_str()),
        (404, "roles.rbac.authorization.k8s.io \"gone\" not found")
    );
    assert!(
        write(&plane(&[]), &ann(), &binding("", "new", "Role/local-reader", &["User/bob"]), None).is_err()
    );
}

#[test]
fn sums_are_for_those_who_hold_everything() {
    let mut sum = object(
        "ClusterRole",
        "",
        "new",
        json!({
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
        }),
    );
    let refused = write(&plane(&[]), &ann(), &sum, None).unwrap_err();
    assert!(refused.message.ends_with("must have cluster-admin privileges to use the aggregationRule"));
    let all = plane(&[Rule::on(&["*"], &["*"], &["*"]), Rule::on_paths(&["*"], &["*"])]);
    assert!(write(&all, &ann(), &sum, None).is_ok());
    let old = sum.clone();
    sum.set("aggregationRule", None);
    assert!(write(&plane(&[]), &ann(), &sum, Some(&old)).is_err(), "nor may others undo one");
}

#[test]
fn what_garbage_collection_changes_needs_no_permission() {
    let old = binding("", "b", "ClusterRole/cluster-admin", &["User/ann"]);
    let mut new = old.clone();
    new.set_finalizers(vec!["x/y".into()]);
    assert!(write(&plane(&[]), &ann(), &new, Some(&old)).is_ok());
    new.set("subjects", Some(json!([])));
    assert!(write(&plane(&[]), &ann(), &new, Some(&old)).is_err());
}

#[test]
fn a_role_that_is_a_flood_of_combinations_is_refused() {
    let many: Vec<String> = (0..2000).map(|index| format!("n{index}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let flood = role("", "flood", &[Rule::on(&many, &many, &many).named(&many)]);
    let refused = write(&plane(&[Rule::on(&["get"], &[""], &["x"])]), &ann(), &flood, None).unwrap_err();
    assert!(refused.message.contains("more single permissions than can be compared"), "{refused}");
    let held = plane(&[Rule::on(&["*"], &["*"], &["*"])]);
    assert!(write(&held, &ann(), &flood, None).is_ok(), "whoever holds all of it is not asked one by one");
}

#[test]
fn other_kinds_are_none_of_this() {
    let rbac = plane(&[]);
    let request = Attributes::resource("create", "", "configmaps");
    assert!(check_escalation(&rbac, &rbac, &ann(), &request, None, &Object::new("v1", "ConfigMap")).is_ok());
}

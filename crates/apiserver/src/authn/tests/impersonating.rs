//! `kubectl --as`.

use super::*;
use crate::authz::{Attributes, Authorizer, Decision, RulesFound};

/// Allows what it is told to, by verb, resource and name.
struct Allows(&'static [(&'static str, &'static str, &'static str)]);

impl Authorizer for Allows {
    fn decide(&self, _: &Identity, what: &Attributes<'_>) -> Decision {
        let resource = what.combined_resource();
        let allowed = self.0.iter().any(|(verb, mine, name)| {
            *verb == what.verb && *mine == resource && (*name == "*" || *name == what.name)
        });
        Decision { allowed, reason: String::new() }
    }

    fn rules_for(&self, _: &Identity, _: &str) -> RulesFound {
        RulesFound::default()
    }
}

fn requested(list: &[(&str, &str)]) -> Result<Option<Impersonation>, krm::Status> {
    Impersonation::requested(&headers(list))
}

fn acting(allows: &Allows, list: &[(&str, &str)]) -> Result<Impersonated, krm::Status> {
    let ann = Identity::new("ann", &["system:authenticated"]);
    let request = Attributes::resource("get", "", "configmaps").in_namespace("ns").named("a");
    requested(list)?.unwrap().decide(allows, &ann, &request)
}

const EVERYBODY: Allows = Allows(&[
    ("impersonate", "users", "*"),
    ("impersonate", "groups", "*"),
    ("impersonate", "serviceaccounts", "*"),
    ("impersonate", "uids", "*"),
    ("impersonate", "userextras/scope", "*"),
    ("impersonate", "userextras/example.com/a", "*"),
]);

#[test]
fn without_the_headers_nothing_happens() {
    assert_eq!(requested(&[]).unwrap(), None);
    assert_eq!(requested(&[("impersonate-user", "")]).unwrap(), None);
}

#[test]
fn a_user_has_to_be_named_and_the_complaint_is_kubernetes_own() {
    let said = |list: &[(&str, &str)]| {
        let status = requested(list).unwrap_err();
        assert_eq!((status.code, status.reason), (400, "BadRequest"));
        status.message
    };
    assert_eq!(
        said(&[("impersonate-uid", "1")]),
        r#"requested &user.DefaultInfo{Name:"", UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name"#
    );
    assert_eq!(
        said(&[("impersonate-extra-x", "1")]),
        r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"1"}}} without impersonating a user name"#
    );
    assert_eq!(
        said(&[("impersonate-group", "devs")]),
        r#"requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name"#
    );
}

#[test]
fn groups_come_by_themselves_as_they_do_in_kubernetes() {
    let groups = |list: &[(&str, &str)]| -> Vec<String> {
        let identity = acting(&EVERYBODY, list).unwrap().identity;
        identity.groups.iter().map(|group| group.to_string()).collect()
    };
    assert_eq!(groups(&[("impersonate-user", "bob")]), ["system:authenticated"]);
    assert_eq!(
        groups(&[("impersonate-user", "bob"), ("impersonate-group", "devs")]),
        ["devs", "system:authenticated"]
    );
    assert_eq!(
        groups(&[("impersonate-user", "system:serviceaccount:default:sa")]),
        ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
    );
    assert_eq!(
        groups(&[("impersonate-user", "system:serviceaccount:default:sa"), ("impersonate-group", "x")]),
        ["x", "system:authenticated"]
    );
    assert_eq!(groups(&[("impersonate-user", "system:anonymous")]), ["system:unauthenticated"]);
    assert_eq!(
        groups(&[("impersonate-user", "bob"), ("impersonate-group", "system:unauthenticated")]),
        ["system:unauthenticated"]
    );
}

#[test]
fn uid_and_extras_are_taken_over() {
    let identity = acting(
        &EVERYBODY,
        &[
            ("impersonate-user", "bob"),
            ("impersonate-uid", "u-1"),
            ("impersonate-extra-scope", "view"),
            ("impersonate-extra-scope", "edit"),
            ("impersonate-extra-example.com%2fa", "x"),
        ],
    )
    .unwrap()
    .identity;
    assert_eq!(&*identity.uid, "u-1");
    assert_eq!(identity.extra["scope"], ["view", "edit"]);
    assert_eq!(identity.extra["example.com/a"], ["x"]);
    let odd = requested(&[
        ("impersonate-user", "b"),
        ("impersonate-extra-%zz", "x"),
        ("impersonate-extra-a%4", "y"),
    ]);
    let odd = odd.unwrap().unwrap();
    let shown = format!("{odd:?}");
    assert!(shown.contains("%zz") && shown.contains("a%4"), "{shown}");
}

#[test]
fn each_thing_that_is_taken_over_is_asked_for() {
    let said = |allows: &'static [(&'static str, &'static str, &'static str)], list: &[(&str, &str)]| {
        acting(&Allows(allows), list).unwrap_err().message
    };
    let all: &[(&str, &str)] = &[
        ("impersonate-user", "bob"),
        ("impersonate-uid", "u-1"),
        ("impersonate-group", "devs"),
        ("impersonate-extra-scope", "view"),
    ];
    assert_eq!(
        said(&[], all),
        r#"users "bob" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope"#
    );
    assert_eq!(
        said(&[("impersonate", "users", "bob")], all),
        r#"uids.authentication.k8s.io "u-1" is forbidden: User "ann" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope"#
    );
    assert_eq!(
        said(&[("impersonate", "users", "bob"), ("impersonate", "uids", "*")], all),
        r#"groups "devs" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope"#
    );
    assert_eq!(
        said(
            &[("impersonate", "users", "bob"), ("impersonate", "uids", "*"), ("impersonate", "groups", "*")],
            all
        ),
        r#"userextras.authentication.k8s.io "view" is forbidden: User "ann" cannot impersonate resource "userextras/scope" in API group "authentication.k8s.io" at the cluster scope"#
    );
    assert_eq!(
        said(&[("impersonate", "users", "*")], &[("impersonate-user", "system:serviceaccount:ns:sa")]),
        r#"serviceaccounts "sa" is forbidden: User "ann" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns""#
    );
}

#[test]
fn acting_as_somebody_may_be_allowed_for_one_thing_only() {
    let only_reads = Allows(&[
        ("impersonate:user-info", "users", "bob"),
        ("impersonate-on:user-info:get", "configmaps", "*"),
    ]);
    let acted = acting(&only_reads, &[("impersonate-user", "bob")]).unwrap();
    assert_eq!((&*acted.identity.user, acted.constraint), ("bob", "impersonate:user-info"));
    assert!(acting(&only_reads, &[("impersonate-user", "eve")]).is_err());
    assert!(acting(&only_reads, &[("impersonate-user", "bob"), ("impersonate-group", "x")]).is_err());
    let no_reads = Allows(&[("impersonate:user-info", "users", "bob")]);
    assert!(acting(&no_reads, &[("impersonate-user", "bob")]).is_err());
    let anybody = Allows(&[
        ("impersonate:user-info", "users", "*"),
        ("impersonate:user-info", "groups", "*"),
        ("impersonate-on:user-info:get", "configmaps", "*"),
    ]);
    assert!(acting(&anybody, &[("impersonate-user", "bob"), ("impersonate-group", "devs")]).is_ok());
    assert!(
        acting(&anybody, &[("impersonate-user", "bob"), ("impersonate-group", "system:masters")]).is_err()
    );
    assert!(acting(&anybody, &[("impersonate-user", "system:serviceaccount:ns:sa")]).is_err());
    assert!(acting(&anybody, &[("impersonate-user", "system:node:n")]).is_err());
}

#[test]
fn the_headers_are_gone_afterwards() {
    let mut list = headers(&[
        ("impersonate-user", "a"),
        ("impersonate-group", "b"),
        ("impersonate-uid", "c"),
        ("impersonate-extra-d", "e"),
        ("accept", "*/*"),
    ]);
    Impersonation::strip(&mut list);
    assert_eq!(list.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["accept"]);
}

#[test]
fn what_is_not_text_is_refused() {
    let mut list = headers(&[]);
    list.insert("impersonate-user", HeaderValue::from_bytes(b"\xff\xfe").unwrap());
    assert_eq!(Impersonation::requested(&list).unwrap_err().code, 400);
}

//! The recorded answers of Kubernetes, and what they leave open.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use krm::time::Moment;
use serde_json::json;

use super::*;
use crate::authn::{Account, Authenticator, ServiceAccountTokens, ServiceAccounts, TokenFile};
use crate::authz::{Attributes, Authorizer, Decision, Rule, RulesFound};
use crate::identity::Identity;

/// The server the answers were recorded with allowed everything.
struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn decide(&self, _: &Identity, _: &Attributes<'_>) -> Decision {
        Decision::allow("")
    }

    fn rules_for(&self, _: &Identity, _: &str) -> RulesFound {
        let rules = vec![Rule::on(&["*"], &["*"], &["*"]), Rule::on_paths(&["*"], &["*"])];
        RulesFound { rules, error: String::new() }
    }
}

fn admin() -> Identity {
    Identity { uid: "1".into(), ..Identity::new("admin", &["system:masters", "system:authenticated"]) }
}

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

fn recorded(name: &str) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/kube/scenarios/reviews");
    let text = std::fs::read_to_string(folder.join(format!("{name}.golden.json"))).unwrap();
    let transcript: Value = serde_json::from_str(&text).unwrap();
    transcript["steps"].as_array().unwrap().clone()
}

fn answered(outcome: Result<Object, Status>) -> (u64, Value) {
    match outcome {
        Ok(object) => (201, object.into_value()),
        Err(status) => (status.code.into(), serde_json::from_slice(&status.to_json()).unwrap()),
    }
}

/// Managed fields are put in before a review is answered, and stay.
fn with_managed_fields(step: &Value) -> Object {
    let mut review = object(step["request"]["body"].clone());
    let managed = step["response"]["body"].pointer("/metadata/managedFields").cloned();
    review.set_meta("managedFields", managed);
    if review.metadata().is_some_and(serde_json::Map::is_empty) {
        review.set("metadata", Some(json!({})));
    }
    review
}

#[test]
fn access_reviews_answer_as_recorded() {
    let mut compared = 0;
    for step in recorded("access") {
        if step["request"]["method"] != "POST" {
            continue;
        }
        let path = step["request"]["path"].as_str().unwrap();
        let review = with_managed_fields(&step);
        let outcome = match path.rsplit('/').next().unwrap() {
            "selfsubjectaccessreviews" => self_subject_access(&AlwaysAllow, &admin(), review),
            "subjectaccessreviews" => subject_access(&AlwaysAllow, review),
            "localsubjectaccessreviews" => local_subject_access(&AlwaysAllow, "default", review),
            other => panic!("{other}"),
        };
        let (code, body) = answered(outcome);
        assert_eq!(json!(code), step["response"]["status"], "step {}", step["step"]);
        assert_eq!(body, step["response"]["body"], "step {}", step["step"]);
        compared += 1;
    }
    assert_eq!(compared, 10);
}

#[tokio::test]
async fn token_reviews_answer_as_recorded() {
    let authenticator = Authenticator::new(vec!["api".into()]);
    let mut compared = 0;
    for step in recorded("token") {
        if step["request"]["method"] != "POST" {
            continue;
        }
        let (code, body) = answered(token(&authenticator, "", with_managed_fields(&step)).await);
        assert_eq!(json!(code), step["response"]["status"], "step {}", step["step"]);
        assert_eq!(body, step["response"]["body"], "step {}", step["step"]);
        compared += 1;
    }
    assert_eq!(compared, 5);
}

#[test]
fn who_am_i_is_answered_as_recorded() {
    for (step, who) in [
        (0, admin()),
        (1, Identity::new("bob", &["system:authenticated"])),
        (
            2,
            Identity {
                uid: "u-1".into(),
                extra: [("scope".to_owned(), vec!["view".to_owned()])].into(),
                ..Identity::new("bob", &["devs", "system:authenticated"])
            },
        ),
        (5, Identity::anonymous()),
    ] {
        let mut answer = self_subject("authentication.k8s.io/v1", &who, Moment::of_seconds(0)).into_value();
        assert_eq!(answer["metadata"]["creationTimestamp"], "1970-01-01T00:00:00Z");
        answer["metadata"]["creationTimestamp"] = "<time>".into();
        assert_eq!(answer, recorded("self-subject")[step]["response"]["body"]);
    }
}

#[test]
fn a_refusal_says_so_and_why() {
    let rbac = crate::authz::Rbac::default();
    let review = object(json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "x", "version": "", "unknown": 1}, "user": "root"},
    }));
    let answer = self_subject_access(&rbac, &Identity::new("bob", &[]), review).unwrap();
    assert_eq!(answer.get("status").unwrap(), &json!({"allowed": false}));
    assert_eq!(answer.get("spec").unwrap(), &json!({"resourceAttributes": {"verb": "get", "resource": "x"}}));
}

#[test]
fn a_review_about_somebody_is_about_all_of_him() {
    struct Shows;
    impl Authorizer for Shows {
        fn decide(&self, who: &Identity, what: &Attributes<'_>) -> Decision {
            Decision::allow(format!(
                "{} {} {:?} {:?} {}",
                who.user, who.uid, who.groups, who.extra, what.version
            ))
        }

        fn rules_for(&self, _: &Identity, _: &str) -> RulesFound {
            RulesFound::default()
        }
    }
    let review = object(json!({"spec": {
        "user": "bob", "uid": "7", "groups": ["g"], "extra": {"k": ["v"]}, "resourceAttributes": {"verb": "get"},
    }}));
    let answer = subject_access(&Shows, review).unwrap();
    assert_eq!(answer.at("status.reason").unwrap(), r#"bob 7 ["g"] {"k": ["v"]} *"#);
    assert_eq!(answer.at("spec.extra.k").unwrap(), &json!(["v"]));
}

#[test]
fn every_fault_is_told_at_once() {
    let review = object(json!({
        "metadata": {"name": "x"},
        "spec": {"resourceAttributes": {
            "fieldSelector": {"rawSelector": "a", "requirements": [{"key": "", "operator": "In"}]},
            "labelSelector": {},
        }},
    }));
    let status = subject_access(&AlwaysAllow, review).unwrap_err();
    let fields: Vec<&str> =
        status.details.as_ref().unwrap().causes.iter().map(|cause| cause.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "spec.user",
            "spec.resourceAttributes.fieldSelector.rawSelector",
            "spec.resourceAttributes.fieldSelector.requirements[0].key",
            "spec.resourceAttributes.fieldSelector.requirements[0].values",
            "spec.resourceAttributes.labelSelector.requirements",
            "metadata",
        ]
    );
    assert!(status.message.contains("metadata: Invalid value: {\"name\":\"x\"}: must be empty"), "{status}");
    let local =
        object(json!({"spec": {"user": "b", "nonResourceAttributes": {"path": "/x", "verb": "get"}}}));
    let status = local_subject_access(&AlwaysAllow, "ns", local).unwrap_err();
    assert!(status.message.ends_with("disallowed on this kind of request"), "{status}");
    let elsewhere = object(json!({
        "metadata": {"namespace": "a"}, "spec": {"user": "b", "resourceAttributes": {"namespace": "a"}},
    }));
    assert_eq!(local_subject_access(&AlwaysAllow, "b", elsewhere).unwrap_err().code, 400);
}

#[test]
fn selectors_that_are_understood_in_part_are_told_so() {
    let evaluation = |attributes: Value| {
        let review = object(json!({"spec": {"resourceAttributes": attributes}}));
        let answer = self_subject_access(&AlwaysAllow, &admin(), review).unwrap();
        answer.at("status.evaluationError").and_then(Value::as_str).unwrap_or("").to_owned()
    };
    assert_eq!(evaluation(json!({"labelSelector": {"rawSelector": "a in (b)"}})), "");
    assert_eq!(
        evaluation(json!({
            "labelSelector": {"requirements": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Odd"}]},
            "fieldSelector": {"requirements": [{"key": "a", "operator": "Exists"}]},
        })),
        "spec.resourceAttributes.fieldSelector ignored due to parse error; \
         spec.resourceAttributes.labelSelector partially ignored due to parse error"
    );
}

#[test]
fn what_may_be_done_is_listed_by_kind_of_thing() {
    let review = object(json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "ns"},
    }));
    let answer = self_subject_rules(&AlwaysAllow, &admin(), &review).unwrap().into_value();
    assert_eq!(
        answer,
        json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "metadata": {}, "spec": {},
            "status": {
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            },
        })
    );
    let nowhere = self_subject_rules(&AlwaysAllow, &admin(), &object(json!({"spec": {}}))).unwrap_err();
    assert_eq!((nowhere.code, nowhere.message.as_str()), (400, "no namespace on request"));
}

#[tokio::test]
async fn a_token_that_is_believed_is_told_whose_it_is() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t"), "s3cret,admin,1,system:masters").unwrap();
    let file = TokenFile::open(dir.path().join("t")).unwrap();
    let authenticator = Authenticator::new(vec!["api".into()]).with_token_file(file);
    let review = object(json!({"spec": {"token": "s3cret"}}));
    let answer = token(&authenticator, "", review).await.unwrap();
    assert_eq!(
        answer.get("status").unwrap(),
        &json!({
            "authenticated": true,
            "user": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
            "audiences": ["api"],
        })
    );
}

struct Robot;

impl ServiceAccounts for Robot {
    fn account_uid(&self, _: &str, namespace: &str, name: &str) -> Option<String> {
        (namespace == "ns" && name == "robot").then(|| "uid-1".to_owned())
    }

    fn secret_uid(&self, _: &str, _: &str, _: &str) -> Option<String> {
        None
    }
}

const ROBOT: Account<'static> =
    Account { plane: "", namespace: "ns", name: "robot", uid: "uid-1", secret: None };

fn tokens() -> Arc<ServiceAccountTokens> {
    let key = rcgen::KeyPair::generate().unwrap().serialize_der();
    Arc::new(ServiceAccountTokens::new(&key, "https://us", vec!["https://us".into()]).unwrap())
}

#[tokio::test]
async fn a_requested_token_can_be_reviewed() {
    let tokens = tokens();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let request = object(json!({"kind": "TokenRequest", "spec": {"audiences": null}}));
    let answer = token_request(&tokens, &ROBOT, &|_| None, request, now).unwrap();
    assert!(answer.credential_id.starts_with("JTI="));
    let mut body = answer.object.into_value();
    let issued = body["status"]["token"].take();
    assert_eq!(
        body,
        json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "metadata": {"name": "robot", "namespace": "ns", "uid": "uid-1", "creationTimestamp": "2023-11-14T22:13:20Z"},
            "spec": {"audiences": ["https://us"], "expirationSeconds": 3600, "boundObjectRef": null},
            "status": {"token": null, "expirationTimestamp": "2023-11-14T23:13:20Z"},
        })
    );

    let fresh = object(json!({"spec": {"expirationSeconds": 600, "audiences": ["vault"]}}));
    let fresh = token_request(&tokens, &ROBOT, &|_| None, fresh, SystemTime::now()).unwrap().object;
    let authenticator =
        Authenticator::new(vec!["https://us".into()]).with_service_accounts(tokens, Arc::new(Robot));
    let ask = |body: Value| token(&authenticator, "", object(body));
    let good =
        ask(json!({"spec": {"token": fresh.at("status.token"), "audiences": ["vault"]}})).await.unwrap();
    assert_eq!(good.at("status.user.username").unwrap(), "system:serviceaccount:ns:robot");
    assert_eq!(good.at("status.audiences").unwrap(), &json!(["vault"]));
    let old = ask(json!({"spec": {"token": issued}})).await.unwrap();
    assert_eq!(
        old.get("status").unwrap(),
        &json!({"error": "service account token has expired", "user": {}})
    );
}

#[test]
fn a_request_that_makes_no_sense_is_refused_in_kubernetes_words() {
    let tokens = tokens();
    let said = |body: Value, secret: Option<&str>| {
        let uid = |name: &str| secret.filter(|_| name == "s").map(str::to_owned);
        let status = token_request(&tokens, &ROBOT, &uid, object(body), SystemTime::now()).unwrap_err();
        format!("{} {}", status.code, status.message)
    };
    assert_eq!(
        said(json!({"spec": {"expirationSeconds": 599}}), None),
        "422 TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 599: \
         may not specify a duration less than 10 minutes"
    );
    assert!(said(json!({"spec": {"expirationSeconds": -1}}), None).contains("less than 10 minutes"));
    assert!(
        said(json!({"spec": {"expirationSeconds": 4_294_967_297_i64}}), None).contains("larger than 2^32")
    );
    assert!(said(json!({"spec": {"expirationSeconds": "x"}}), None).starts_with("400 "));
    assert!(
        said(json!({"metadata": {"name": "other"}}), None).contains("must match the service account name")
    );
    assert!(
        said(json!({"metadata": {"namespace": "x"}}), None)
            .contains("must match the service account namespace")
    );
    assert!(said(json!({"metadata": {"uid": "x"}}), None).starts_with("409 "));
    let bound = |kind: &str, uid: &str| json!({"spec": {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": "s", "uid": uid}}});
    assert_eq!(said(bound("Pod", ""), None), "400 cannot bind token to object of type /v1, Kind=Pod");
    assert_eq!(said(bound("Secret", ""), None), "404 secrets \"s\" not found");
    assert!(said(bound("Secret", "u-1"), Some("u-2")).starts_with("409 "));
}

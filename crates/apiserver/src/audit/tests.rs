use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, Uri};
use krm::status::{Status, Subject};
use serde_json::{Value, json};

use super::*;
use crate::authn::Impersonated;
use crate::authz::{Attributes, Decision};
use crate::identity::Identity;
use crate::tls::Peer;

fn ann() -> Identity {
    Identity { uid: "u".into(), ..Identity::new("ann", &["staff"]) }
}

fn get(resource: &str) -> Attributes<'_> {
    Attributes { version: "v1", ..Attributes::resource("get", "", resource) }.in_namespace("ns").named("a")
}

fn received() -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_001)
}

fn begun(policy: &Policy, what: Attributes<'_>) -> Option<Record> {
    let uri = Uri::from_static("/api/v1/namespaces/ns/configmaps/a?pretty=1");
    let mut headers = HeaderMap::new();
    headers.insert("user-agent", "kubectl/1.35".parse().unwrap());
    let remote: SocketAddr = "10.0.0.9:4242".parse().unwrap();
    Record::begin(policy, "id-1", &ann(), &what, (&uri, &headers, remote), received())
}

fn line(event: &Event) -> Value {
    let line = event.to_line();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    serde_json::from_slice(&line).unwrap()
}

fn policy(rules: Value) -> Policy {
    Policy::from_json(&json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules})).unwrap()
}

#[test]
fn an_event_has_kubernetes_form() {
    let mut record = begun(&Policy::default(), get("configmaps")).unwrap();
    record.decided(&Decision::allow("RBAC: allowed by X"));
    record.answered(200, None);
    record.requested(&Bytes::from_static(b"{}"));
    let at = received() + Duration::from_micros(1500);
    let event = line(&record.event(Stage::ResponseComplete, at).unwrap());
    assert_eq!(
        event,
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "id-1",
            "stage": "ResponseComplete", "requestURI": "/api/v1/namespaces/ns/configmaps/a?pretty=1", "verb": "get",
            "user": {"username": "ann", "uid": "u", "groups": ["staff"]},
            "sourceIPs": ["10.0.0.9"], "userAgent": "kubectl/1.35",
            "objectRef": {"resource": "configmaps", "namespace": "ns", "name": "a", "apiVersion": "v1"},
            "responseStatus": {"metadata": {}, "code": 200},
            "requestReceivedTimestamp": "2023-11-14T22:13:20.000001Z",
            "stageTimestamp": "2023-11-14T22:13:20.001501Z",
            "annotations": {
                "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "RBAC: allowed by X",
            },
        })
    );
    assert!(record.event(Stage::RequestReceived, at).is_none(), "by default one event tells all");
    assert!(record.event(Stage::Panic, at).is_some());
}

#[test]
fn a_failure_and_a_stand_in_are_told() {
    let mut record = begun(&Policy::default(), get("configmaps")).unwrap();
    record.impersonating(&Impersonated {
        identity: Identity::new("bob", &["g"]),
        constraint: "impersonate:user-info",
    });
    record.decided(&Decision::deny(""));
    record.answered(404, Some(&Status::not_found(&Subject::new("", "configmaps"), "a")));
    let event = line(&record.event(Stage::ResponseComplete, received()).unwrap());
    assert_eq!(event["impersonatedUser"], json!({"username": "bob", "groups": ["g"]}));
    assert_eq!(event["authenticationMetadata"], json!({"impersonationConstraint": "impersonate:user-info"}));
    assert_eq!(
        event["responseStatus"],
        json!({
            "metadata": {}, "status": "Failure", "message": "configmaps \"a\" not found", "reason": "NotFound",
            "details": {"name": "a", "kind": "configmaps"}, "code": 404,
        })
    );
    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "forbid");
}

#[test]
fn bodies_are_kept_as_the_policy_says_and_never_break_the_line() {
    let everything = policy(json!([{"level": "RequestResponse", "omitManagedFields": true}]));
    let mut record = begun(&everything, get("configmaps")).unwrap();
    record.requested(&Bytes::from_static(b"{\n \"a\":\n\"b\\n\"}"));
    record.responded(&Bytes::from_static(
        br#"{"metadata":{"name":"a","managedFields":[1]},"items":[{"metadata":{"managedFields":[]}}]}"#,
    ));
    let event = line(&record.event(Stage::ResponseComplete, received()).unwrap());
    assert_eq!(event["requestObject"], json!({"a": "b\n"}));
    assert_eq!(event["responseObject"], json!({"metadata": {"name": "a"}, "items": [{"metadata": {}}]}));

    record.requested(&Bytes::from_static(b"\xff not json"));
    let event = line(&record.event(Stage::ResponseComplete, received()).unwrap());
    assert_eq!(event.get("requestObject"), None);

    let requests = policy(json!([{"level": "Request"}]));
    let mut record = begun(&requests, get("configmaps")).unwrap();
    record.responded(&Bytes::from_static(b"{}"));
    assert!(!record.wants_response());
    let event = line(&record.event(Stage::ResponseComplete, received()).unwrap());
    assert_eq!(event.get("responseObject"), None);
}

#[test]
fn secrets_and_tokens_leave_no_more_than_metadata() {
    let everything = policy(json!([{"level": "RequestResponse"}]));
    let review = Attributes::resource("create", "authentication.k8s.io", "tokenreviews");
    for what in [get("secrets"), get("serviceaccounts").on_subresource("token"), review] {
        let mut record = begun(&everything, what).unwrap();
        record.requested(&Bytes::from_static(b"{\"data\":\"hush\"}"));
        record.responded(&Bytes::from_static(b"{\"data\":\"hush\"}"));
        let text = record.event(Stage::ResponseComplete, received()).unwrap().to_line();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("hush") && text.contains(r#""level":"Metadata""#), "{text}");
    }
    assert_eq!(everything.judge(&ann(), &get("configmaps")).level, Level::RequestResponse);
    assert_eq!(everything.judge(&ann(), &get("serviceaccounts")).level, Level::RequestResponse);
}

#[test]
fn the_first_rule_that_matches_decides() {
    let policy = policy(json!([
        {"level": "None", "users": ["system:monitor"]},
        {"level": "None", "nonResourceURLs": ["/healthz*", "/version"]},
        {"level": "Request", "verbs": ["create"], "resources": [{"group": "apps", "resources": ["widgets", "*/scale"]}]},
        {"level": "Request", "resources": [{"group": "", "resources": ["configmaps"], "resourceNames": ["a"]}]},
        {"level": "RequestResponse", "userGroups": ["staff"], "namespaces": ["blue"]},
        {"level": "Metadata", "resources": [{"group": "*", "resources": ["gadgets/*"]}], "omitStages": ["Panic"]},
    ]));
    let level = |who: &Identity, what: Attributes<'_>| policy.judge(who, &what).level;
    assert_eq!(level(&Identity::new("system:monitor", &[]), get("configmaps")), Level::None);
    assert_eq!(level(&ann(), Attributes::path("get", "/healthz/ping")), Level::None);
    let create = Attributes::resource("create", "apps", "widgets");
    assert_eq!(level(&ann(), create), Level::Request);
    assert_eq!(level(&ann(), create.on_subresource("scale")), Level::Request);
    assert_eq!(
        level(&ann(), create.on_subresource("status")),
        Level::None,
        "what no rule is about is left out"
    );
    assert_eq!(level(&ann(), get("configmaps")), Level::Request);
    assert_eq!(level(&ann(), get("configmaps").named("b")), Level::None);
    assert_eq!(level(&ann(), get("configmaps").named("b").in_namespace("blue")), Level::RequestResponse);
    assert_eq!(level(&Identity::new("bob", &[]), get("x").in_namespace("blue")), Level::None);
    let gadget = Attributes::resource("get", "z", "gadgets").on_subresource("x");
    assert!(!policy.judge(&ann(), &gadget).includes(Stage::Panic));
    assert!(policy.judge(&ann(), &gadget).includes(Stage::ResponseComplete));
    assert!(begun(&policy, get("nothing").in_namespace("red")).is_none());
}

#[test]
fn a_policy_that_makes_no_sense_is_refused_where_it_does() {
    let wrong = |value: Value| Policy::from_json(&value).unwrap_err().to_string();
    let with =
        |rule: Value| wrong(json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [rule]}));
    assert!(with(json!({"level": "All"})).contains("rules[0].level"));
    assert!(
        with(json!({"level": "None", "nonResourceURLs": ["/"], "namespaces": ["a"]}))
            .contains("rules[0].nonResourceURLs")
    );
    assert!(with(json!({"level": "None", "omitStages": ["Never"]})).contains("rules[0].omitStages"));
    assert!(with(json!({"level": "None", "colour": "red"})).contains("colour"));
    assert!(wrong(json!({"apiVersion": "v1", "kind": "Policy", "rules": []})).contains("audit.k8s.io/v1"));
}

#[test]
fn where_a_request_came_from_is_listed_in_order() {
    let remote: SocketAddr = "[::ffff:10.0.0.9]:1".parse().unwrap();
    let with = |list: &[(&'static str, &str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.insert(*name, value.parse().unwrap());
        }
        source_ips(&headers, remote)
    };
    assert_eq!(with(&[]), ["10.0.0.9"]);
    assert_eq!(with(&[("x-forwarded-for", "1.1.1.1, junk, 2.2.2.2")]), ["1.1.1.1", "2.2.2.2", "10.0.0.9"]);
    assert_eq!(with(&[("x-forwarded-for", "10.0.0.9"), ("x-real-ip", "10.0.0.9")]), ["10.0.0.9"]);
    assert_eq!(with(&[("x-real-ip", "fd00::1")]), ["fd00::1", "10.0.0.9"]);
    let flood = vec!["9.9.9.9"; 10_000].join(",");
    assert!(with(&[("x-forwarded-for", &flood)]).len() < 50);
}

#[test]
fn a_401_tells_what_was_tried_and_nothing_of_it() {
    let mut headers = HeaderMap::new();
    assert_eq!(attempted(&headers, &Peer::Unknown), "Authentication failed, no credentials provided");
    headers.insert("authorization", "Bearer hush".parse().unwrap());
    let refused = Peer::Refused { reason: "x".into() };
    assert_eq!(attempted(&headers, &refused), "Authentication failed, attempted: bearer, x509");
}

fn event(size: usize) -> Event {
    let everything = policy(json!([{"level": "RequestResponse"}]));
    let mut record = begun(&everything, get("configmaps")).unwrap();
    record.responded(&Bytes::from(json!({"x": "x".repeat(size)}).to_string()));
    record.event(Stage::ResponseComplete, received()).unwrap()
}

fn lines(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.len()
}

#[tokio::test]
async fn what_was_given_to_the_log_is_in_the_file_after_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.log");
    let log = AuditLog::open(&path, Rotation::default()).unwrap();
    for _ in 0..500 {
        log.write(event(10)).await;
    }
    log.write_now(event(10));
    assert!(log.close().await);
    assert_eq!(lines(&path), 501);
    assert_eq!((log.counts().written(), log.counts().dropped(), log.counts().failed()), (501, 0, 0));
    log.write(event(10)).await;
    assert_eq!(log.counts().dropped(), 1, "after the end nothing is taken");
    assert!(log.close().await);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

/// As a stranger's request ends.
fn refused(user: &Identity, uri: &str) -> Event {
    let mut record = begun(&Policy::default(), get("configmaps")).unwrap();
    record.answered(403, Some(&Status::failure(403, "Forbidden", uri.to_owned())));
    let event = record.event(Stage::ResponseComplete, received()).unwrap();
    let object = ObjectRef { name: uri.to_owned(), ..ObjectRef::default() };
    Event { user: user.clone(), request_uri: uri.to_owned(), object: Some(object), ..event }
}

#[tokio::test]
async fn strangers_push_nothing_out_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.log");
    let log = AuditLog::open(&path, Rotation { max_bytes: 4 << 20, keep: 1 }).unwrap();
    log.write(event(10)).await;
    let long = format!("/api?{}", "x".repeat(60_000));
    for _ in 0..3_000 {
        log.write(refused(&Identity::anonymous(), &long)).await;
        log.write(refused(&Identity::default(), &long)).await;
        log.write(refused(&Identity::new("mallory", &["staff"]), &long)).await;
    }
    log.write(event(10)).await;
    assert!(log.close().await);
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let main = std::fs::read_to_string(&path).unwrap();
    let mine = main.lines().filter(|line| line.contains("\"ann\"")).count();
    assert_eq!(mine, 2, "what ann did is all there");
    assert!(!names.contains(&"audit.log.1".to_owned()), "{names:?}");
    assert!(names.contains(&"audit-unauthenticated.log".to_owned()), "{names:?}");
    assert!(main.lines().all(|line| line.len() < 8_000), "long texts are cut");
    let (written, left_out) = (log.counts().written(), log.counts().left_out());
    assert!(left_out > 0 && written + left_out + log.counts().dropped() == 9_002, "{written} {left_out}");
}

#[tokio::test]
async fn a_file_is_put_aside_before_it_grows_too_large_and_old_ones_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.log");
    let log = AuditLog::open(&path, Rotation { max_bytes: 20_000, keep: 2 }).unwrap();
    for _ in 0..30 {
        log.write(event(5_000)).await;
        // One batch each, so that the sizes are known.
        while log.counts().written() < 30 && log.room_is_taken() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(log.close().await);
    let mut names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["audit.log", "audit.log.1", "audit.log.2"]);
    for name in &names {
        let path = dir.path().join(name);
        assert!(std::fs::metadata(&path).unwrap().len() <= 20_000, "{name}");
        assert!(lines(&path) >= 1);
    }
    // A restart goes on in the same file.
    let before = lines(&path);
    let log = AuditLog::open(&path, Rotation::default()).unwrap();
    log.write(event(1)).await;
    assert!(log.close().await);
    assert_eq!(lines(&path), before + 1);
}

#[tokio::test]
async fn a_disk_that_refuses_costs_events_and_no_requests() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("folder/audit.log");
    let said = AuditLog::open(&path, Rotation::default()).unwrap_err().to_string();
    assert!(said.contains("folder/audit.log"), "{said}");

    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let log = AuditLog::open(&path, Rotation { max_bytes: 1, keep: 1 }).unwrap();
    log.write(event(1)).await;
    while log.counts().written() < 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Putting the file aside fails now: there is no folder any more.
    std::fs::remove_dir_all(dir.path().join("folder")).unwrap();
    for _ in 0..20 {
        log.write(event(1)).await;
    }
    while log.counts().written() + log.counts().failed() < 21 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(log.counts().failed() >= 1);
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    log.write(event(1)).await;
    assert!(log.close().await);
    assert_eq!(lines(&path), 1, "it goes on when it can");
}

#[tokio::test]
async fn when_too_much_is_waiting_events_are_lost_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::open(&dir.path().join("audit.log"), Rotation::default()).unwrap();
    let taken = log.take_all_room().await;
    log.write(event(10)).await;
    log.write_now(event(10));
    assert_eq!(log.counts().dropped(), 2);
    drop(taken);
    log.write(event(70 << 20)).await;
    // Closing waits for a while only, and a busy machine takes its time for that much.
    while log.counts().written() + log.counts().failed() < 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(log.counts().written(), 1, "one that is larger than the whole queue goes alone");
}

//! What the server tells about itself and its clients: the audit log, the metrics, the log, the health checks.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tempfile::TempDir;
use testbed::server::{Client, Server};

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

#[tokio::test]
async fn every_request_is_noted_down_as_kubernetes_notes_it() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client().with("user-agent", "a-test/1.0");
    let map = json!({"metadata": {"name": "noted"}});
    client.post("/api/v1/namespaces/default/configmaps", &map).await.unwrap();
    let absent = client.get("/api/v1/namespaces/default/configmaps/absent?pretty=true").await.unwrap();
    let secret = json!({"metadata": {"name": "hidden"}, "stringData": {"k": "correct horse"}});
    client.post("/api/v1/namespaces/default/secrets", &secret).await.unwrap();
    let as_ann = client.apart().with("impersonate-user", "ann").with("impersonate-group", "builders");
    as_ann.delete("/api/v1/namespaces/default/configmaps/noted").await.unwrap();
    server.stranger().get("/api/v1/secrets").await.unwrap();
    let watch = client.watch("/api/v1/configmaps?watch=1&timeoutSeconds=1").await.unwrap();
    assert!(watch.ends_well().await);
    assert!(server.stop().unwrap().success());

    let noted = events(&data.join("audit.log"));
    let of = |uri: &str| noted.iter().filter(|event| event["requestURI"] == uri).collect::<Vec<_>>();
    let created = of("/api/v1/namespaces/default/configmaps");
    assert_eq!(created.len(), 1, "{created:?}");
    assert_eq!(created[0]["verb"], "create");
    assert_eq!(created[0]["stage"], "ResponseComplete");
    assert_eq!(created[0]["responseStatus"]["code"], 201);
    assert_eq!(created[0]["userAgent"], "a-test/1.0");
    assert_eq!(created[0]["sourceIPs"], json!(["127.0.0.1"]));
    assert_eq!(created[0]["objectRef"]["resource"], "configmaps");
    assert_eq!(created[0]["objectRef"]["namespace"], "default");
    assert_eq!(created[0]["annotations"]["authorization.k8s.io/decision"], "allow");

    let missed = of("/api/v1/namespaces/default/configmaps/absent?pretty=true");
    assert_eq!(missed[0]["responseStatus"]["reason"], "NotFound");
    assert_eq!(missed[0]["auditID"], absent.headers["audit-id"].to_str().unwrap());
    let impersonated = of("/api/v1/namespaces/default/configmaps/noted");
    assert_eq!(impersonated[0]["impersonatedUser"]["username"], "ann");
    assert_eq!(impersonated[0]["impersonatedUser"]["groups"], json!(["builders", "system:authenticated"]));
    assert_ne!(impersonated[0]["user"]["username"], "ann");
    assert_eq!(impersonated[0]["responseStatus"]["code"], 403);
    assert!(of("/api/v1/secrets").is_empty(), "strangers have a file of their own");
    let unproved = events(&data.join("audit-unauthenticated.log"));
    let strange: Vec<_> = unproved.iter().filter(|event| event["requestURI"] == "/api/v1/secrets").collect();
    assert_eq!(strange[0]["user"]["username"], "system:anonymous");
    let stages: Vec<_> = of("/api/v1/configmaps?watch=1&timeoutSeconds=1")
        .iter()
        .map(|event| (event["stage"].as_str().unwrap(), event["verb"].as_str().unwrap()))
        .collect();
    assert_eq!(stages, [("ResponseStarted", "watch"), ("ResponseComplete", "watch")]);
    let whole = std::fs::read_to_string(data.join("audit.log")).unwrap();
    assert!(!whole.contains("correct horse") && !whole.contains("Y29ycmVjdCBob3JzZQ"));
}

#[tokio::test]
async fn what_controllers_change_is_noted_down_and_their_statuses_are_counted() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": "short-lived"}})).await.unwrap();
    let map = json!({"metadata": {"name": "content"}});
    client.post("/api/v1/namespaces/short-lived/configmaps", &map).await.unwrap();
    client.delete("/api/v1/namespaces/short-lived").await.unwrap();
    let path = "/api/v1/namespaces/short-lived";
    while client.get(path).await.unwrap().code != 404 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let written = async |controller: &str, part: &str| {
        let name = format!("controller_writes_total{{name=\"{controller}\",part=\"{part}\"}}");
        counted(&client).await.get(&name).copied().unwrap_or_default()
    };
    assert!(written("namespace-controller", "spec").await >= 2.0, "the content and the finalizer");
    let user = json!({"apiVersion": "iam.miloapis.com/v1alpha1", "kind": "User", "metadata": {"name": "ann"},
        "spec": {"email": "ann@example.com"}});
    let created = client.post("/apis/iam.miloapis.com/v1alpha1/users", &user).await.unwrap();
    assert_eq!(created.code, 201, "{}", created.text());
    while written("iam-controller", "status").await == 0.0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(server.stop().unwrap().success());

    let events = events(&data.join("audit.log"));
    let by = |user: &str| events.iter().filter(|it| it["user"]["username"] == user).collect::<Vec<_>>();
    let deleted = by("system:namespace-controller");
    let of_map = deleted.iter().find(|it| it["objectRef"]["resource"] == "configmaps").unwrap();
    assert_eq!(of_map["verb"], "delete");
    assert_eq!(of_map["requestURI"], "/api/v1/namespaces/short-lived/configmaps/content");
    assert_eq!(of_map["responseStatus"]["code"], 200);
    assert_eq!(of_map["annotations"]["authorization.k8s.io/decision"], "allow");
    assert!(by("system:iam-controller").is_empty(), "statuses are counted, not logged one by one");
}

#[tokio::test]
async fn a_policy_that_asks_for_answers_gets_them_but_for_secrets() {
    let folder = TempDir::new().unwrap();
    let (data, policy) = (folder.path().join("data"), folder.path().join("policy.yaml"));
    let everything = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: RequestResponse\n";
    std::fs::write(&policy, everything).unwrap();
    let server = Server::start(GROUNDPLANE, &data, &["--audit-policy", policy.to_str().unwrap()]).unwrap();
    let client = server.client();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "noted"}, "data": {"k": "v"}});
    let made = client.post(maps, &map).await.unwrap().json();
    client.get(&format!("{maps}/absent")).await.unwrap();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "hidden"}, "stringData": {"k": "correct horse"}});
    client.post(secrets, &secret).await.unwrap();
    client.get(secrets).await.unwrap();
    assert!(server.stop().unwrap().success());

    let events = events(&data.join("audit.log"));
    let of = |uri: &str| events.iter().find(|event| event["requestURI"] == uri).unwrap();
    assert_eq!(of(maps)["requestObject"]["data"], json!({"k": "v"}));
    assert_eq!(of(maps)["responseObject"]["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(of(&format!("{maps}/absent"))["responseObject"]["reason"], "NotFound");
    assert_eq!((of(secrets).get("requestObject"), of(secrets).get("responseObject")), (None, None));
    let whole = std::fs::read_to_string(data.join("audit.log")).unwrap();
    assert!(!whole.contains("correct horse") && !whole.contains("Y29ycmVjdCBob3JzZQ"));
}

/// Reads an audit log, in which every line has what the type of Kubernetes requires.
fn events(log: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &events {
        assert_eq!((&event["kind"], &event["apiVersion"]), (&json!("Event"), &json!("audit.k8s.io/v1")));
        for field in ["level", "auditID", "stage", "requestURI", "verb"] {
            assert!(event[field].as_str().is_some_and(|text| !text.is_empty()), "no {field}: {event}");
        }
        for field in ["requestReceivedTimestamp", "stageTimestamp"] {
            let time = event[field].as_str().unwrap();
            // 2026-01-02T03:04:05.123456Z
            assert!(time.len() == 27 && time.ends_with('Z') && &time[19..20] == ".", "{field}: {time}");
        }
        assert!(event["user"].is_object() && event["sourceIPs"].is_array(), "{event}");
    }
    events
}

#[tokio::test]
async fn what_is_counted_has_the_names_that_dashboards_know() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let map = json!({"metadata": {"name": "counted"}});
    for _ in 0..3 {
        client.post("/api/v1/namespaces/default/configmaps", &map).await.unwrap();
    }
    let watching = client.watch("/api/v1/configmaps?watch=1").await.unwrap();
    let counted = counted(&client).await;
    let with = |name: &str, labels: &[&str]| {
        let found: Vec<_> = counted
            .iter()
            .filter(|(series, _)| series.starts_with(&format!("{name}{{")))
            .filter(|(series, _)| labels.iter().all(|label| series.contains(label)))
            .map(|(_, value)| *value)
            .collect();
        assert!(!found.is_empty(), "no {name} {labels:?} in {counted:#?}");
        found.iter().sum::<f64>()
    };
    let create = ["verb=\"POST\"", "resource=\"configmaps\"", "group=\"\"", "version=\"v1\""];
    let made = with("apiserver_request_total", &[&create[..], &["code=\"201\""]].concat());
    let clashed = with("apiserver_request_total", &[&create[..], &["code=\"409\""]].concat());
    assert_eq!((made, clashed), (1.0, 2.0));
    assert_eq!(with("apiserver_request_duration_seconds_count", &create), 3.0);
    assert_eq!(
        with("apiserver_request_duration_seconds_bucket", &[&create[..], &["le=\"+Inf\""]].concat()),
        3.0
    );
    assert_eq!(with("apiserver_longrunning_requests", &["resource=\"configmaps\"", "verb=\"WATCH\""]), 1.0);
    assert!(with("apiserver_current_inflight_requests", &["request_kind=\"readOnly\""]) >= 1.0);
    assert_eq!(with("apiserver_current_inflight_requests", &["request_kind=\"mutating\""]), 0.0);
    drop(watching);
}

/// All series and their values; the answer is what a Prometheus reads.
async fn counted(client: &Client) -> BTreeMap<String, f64> {
    let answer = client.get("/metrics").await.unwrap();
    assert_eq!(answer.code, 200);
    let media = answer.headers["content-type"].to_str().unwrap();
    assert!(media.starts_with("text/plain") || media.starts_with("application/openmetrics-text"), "{media}");
    let text = answer.text();
    let series = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    series
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?} is no series"));
            (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line:?} has no value")))
        })
        .collect()
}

#[tokio::test]
async fn health_is_told_check_by_check() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = server.client();
    let single =
        ["/livez/ping", "/livez/etcd", "/readyz/ping", "/readyz/store", "/readyz/etcd", "/healthz/etcd"];
    let hook = "/readyz/poststarthook/rbac/bootstrap-roles";
    for path in ["/healthz", "/livez", "/readyz", hook].into_iter().chain(single) {
        let answer = client.get(path).await.unwrap();
        assert_eq!((answer.code, answer.text().as_str()), (200, "ok"), "{path}");
    }
    let verbose = client.get("/readyz?verbose").await.unwrap().text();
    assert!(verbose.contains("[+]ping ok\n") && verbose.ends_with("readyz check passed\n"), "{verbose}");
    for check in ["etcd", "etcd-readiness", "informer-sync", "poststarthook/crd-informer-synced", "shutdown"]
    {
        assert!(verbose.contains(&format!("[+]{check} ok\n")), "{check} in {verbose}");
    }
    let excluded =
        client.get("/readyz?verbose&exclude=store&exclude=etcd&exclude=nosuch").await.unwrap().text();
    assert!(excluded.contains("[+]store excluded: ok\n") && excluded.contains("[+]etcd excluded: ok\n"));
    let warning = "warn: some health checks cannot be excluded: no matches for \"nosuch\"\n";
    assert!(excluded.contains(warning), "{excluded}");
    assert_eq!(client.get("/readyz/no-such-check").await.unwrap().code, 404);
}

#[tokio::test]
async fn the_log_can_be_read_by_programs_and_names_requests() {
    let server = Server::fresh(GROUNDPLANE, &["--log", "debug", "--log-format", "json"]).unwrap();
    let answer = server.client().get("/api/v1/namespaces/default").await.unwrap();
    let id = answer.headers["audit-id"].to_str().unwrap();
    let said = server.said();
    let lines: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let about = lines.iter().find(|line| line["request"] == id);
    let about = about.unwrap_or_else(|| panic!("nothing about request {id} in {said}"));
    assert_eq!((&about["code"], &about["path"]), (&json!(200), &json!("/api/v1/namespaces/default")));
    assert!(!said.contains("PRIVATE KEY"));
}

//! A secret that is planted at the start of a busy day is found nowhere at its end, but where it was asked for.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testbed::server::{Answer, Client, Server};

use crate::{GROUNDPLANE, commit, item};

const MARKER: &str = "zq7-planted-marker-41";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const HOSTS: &str = "/apis/fulfillment.groundplane.dev/v1alpha1/hosts";

/// The marker in every spelling that an object has for it.
fn spellings() -> Vec<Vec<u8>> {
    let whole = krm::base64::encode(MARKER.as_bytes());
    vec![MARKER.as_bytes().to_vec(), whole.trim_end_matches('=').as_bytes()[..24].to_vec()]
}

fn has_marker(bytes: &[u8]) -> bool {
    spellings().iter().any(|spelling| bytes.windows(spelling.len()).any(|part| part == spelling))
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

fn secret(value: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "planted", "namespace": "default" }, "stringData": { "password": value } })
}

/// The same as the password of a BMC and as a kubeconfig, which are sent in other objects and kept in Secrets.
async fn plant_in_hosts(client: &Client, keep: &mut impl FnMut(&str, Answer)) {
    let host = |name: &str, class: Option<&str>| {
        let bmc = json!({ "url": "redfish://192.0.2.1/redfish/v1/Systems/1", "password": MARKER });
        let mut host = json!({ "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Host",
            "metadata": { "name": name }, "spec": { "bmc": bmc, "class": class } });
        host["metadata"]["annotations"] =
            json!({ "kubectl.kubernetes.io/last-applied-configuration": host.to_string() });
        host
    };
    let made = client.post(HOSTS, &host("planted", None)).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    keep("host", made);
    let one = format!("{HOSTS}/planted");
    let changed = json!({ "spec": { "bmc": { "password": format!("{MARKER}-2") } } });
    let changed = client.merge(&one, &changed).await.unwrap();
    assert_eq!(changed.code, 200, "{}", changed.text());
    keep("host changed", changed);
    let applied =
        client.apply(&format!("{one}?fieldManager=source&force=true"), &host("planted", None)).await;
    keep("host applied", applied.unwrap());
    keep("host refused", client.post(HOSTS, &host("other", Some("none"))).await.unwrap());
    let mut untyped = host("other", None);
    untyped.as_object_mut().unwrap().remove("kind");
    keep("host without a kind", client.post(HOSTS, &untyped).await.unwrap());
    let broken = json!([{ "op": "add", "path": "/spec/bmc/password", "value": MARKER }, { "op": "remove", "path": "/kind" }]);
    keep("host patched badly", client.patch(&one, &broken).await.unwrap());
    let stranger = client.apart().with("impersonate-user", "eve");
    keep("a stranger's host", stranger.post(HOSTS, &host("other", None)).await.unwrap());
    keep("a stranger's look", stranger.get(&format!("{one}/credentials")).await.unwrap());
    keep(
        "hosts planned",
        commit(client, "?dryRun=All&diff=true", &json!({ "items": [item("apply", &host("other", None))] }))
            .await,
    );
    let plan = json!({ "apiVersion": "groundplane.dev/v1alpha1", "kind": "Plan", "metadata": { "name": "hosts" },
        "spec": { "items": [item("create", &host("other", None))] } });
    keep("plan of hosts", client.post("/apis/groundplane.dev/v1alpha1/plans", &plan).await.unwrap());
    let hub = json!({ "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Hub",
        "metadata": { "name": "planted" }, "spec": { "kubeconfig": MARKER, "pullSecret": MARKER } });
    let made = client.post("/apis/fulfillment.groundplane.dev/v1alpha1/hubs", &hub).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    keep("hub", made);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_planted_secret_is_found_nowhere_but_where_it_is_asked_for() {
    let folder = tempfile::TempDir::new().unwrap();
    let policy = folder.path().join("policy.yaml");
    // Even whoever asks for everything to be noted down gets no secret.
    std::fs::write(&policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: RequestResponse\n")
        .unwrap();
    let data = folder.path().join("data");
    let server =
        Server::start(GROUNDPLANE, &data, &["--log", "debug", "--audit-policy", policy.to_str().unwrap()])
            .unwrap();
    let client = server.client();
    let one = format!("{SECRETS}/planted");

    // It is written in every way there is.
    assert_eq!(client.post(SECRETS, &secret(MARKER)).await.unwrap().code, 201);
    let later = json!({ "stringData": { "password": format!("{MARKER}-2"), "more": MARKER } });
    assert_eq!(client.merge(&one, &later).await.unwrap().code, 200);
    let noted = json!({ "metadata": { "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": secret(MARKER).to_string() } } });
    assert_eq!(client.merge(&one, &noted).await.unwrap().code, 200);
    let other = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "second", "namespace": "default" }, "stringData": { "a": MARKER } });
    let mut answers: Vec<(String, Vec<u8>)> = Vec::new();
    let mut keep =
        |what: &str, answer: testbed::server::Answer| answers.push((what.to_owned(), answer.body.to_vec()));
    keep(
        "transaction",
        commit(&client, "", &json!({ "items": [item("create", &other)], "message": "a second one" })).await,
    );
    let changed = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "planted", "namespace": "default" }, "stringData": { "password": format!("{MARKER}-3") } });
    keep(
        "plan",
        commit(&client, "?dryRun=All&diff=true", &json!({ "items": [item("apply", &changed)] })).await,
    );

    plant_in_hosts(&client, &mut keep).await;

    // It is refused in many ways.
    for (what, wrong) in [
        ("no base64", json!({ "metadata": { "name": "wrong" }, "data": { "a": format!("{MARKER}!") } })),
        ("a number", json!({ "metadata": { "name": "wrong" }, "stringData": { "a": 7, "b": MARKER } })),
        ("a bad name", json!({ "metadata": { "name": "Wrong_Name" }, "stringData": { "a": MARKER } })),
        (
            "another type",
            json!({ "metadata": { "name": "wrong" }, "type": "kubernetes.io/tls", "stringData": { "tls.key": MARKER } }),
        ),
    ] {
        let refused = client.post(SECRETS, &wrong).await.unwrap();
        assert!(refused.code >= 400, "{what}: {}", refused.text());
        keep(what, refused);
    }
    let retyped = json!({ "type": "Opaque2", "stringData": { "password": MARKER } });
    keep("retyped", client.merge(&one, &retyped).await.unwrap());
    let stranger = server.client().with("impersonate-user", "eve");
    keep("a stranger's write", stranger.post(SECRETS, &secret(MARKER)).await.unwrap());

    // It is looked for where it should not be.
    let verifications = "/apis/groundplane.dev/v1alpha1/verifications";
    for path in [
        format!("{one}/history"),
        format!("{one}/history?diff=true"),
        format!("{one}/referrers"),
        HOSTS.to_owned(),
        format!("{HOSTS}/planted"),
        format!("{HOSTS}/planted/history?diff=true"),
        format!("{HOSTS}?watch=1&timeoutSeconds=1&resourceVersion=0"),
        "/apis/groundplane.dev/v1alpha1/plans".to_owned(),
        "/apis/groundplane.dev/v1alpha1/search?q=planted".to_owned(),
        "/apis/activity.miloapis.com/v1alpha1/activities".to_owned(),
        "/api/v1/namespaces/default/events".to_owned(),
        "/metrics".to_owned(),
        "/readyz?verbose".to_owned(),
        "/openapi/v2".to_owned(),
    ] {
        keep(&path, client.get(&path).await.unwrap());
    }
    let window = json!({ "startTime": "now-1h", "endTime": "now", "limit": 1000 });
    for plural in ["activityqueries", "auditlogqueries", "eventqueries"] {
        let path = format!("/apis/activity.miloapis.com/v1alpha1/{plural}");
        let kind = match plural {
            "activityqueries" => "ActivityQuery",
            "auditlogqueries" => "AuditLogQuery",
            _ => "EventQuery",
        };
        let query = json!({ "apiVersion": "activity.miloapis.com/v1alpha1", "kind": kind, "spec": window });
        let answer = client.post(&path, &query).await.unwrap();
        assert_eq!(answer.code, 201, "{}", answer.text());
        assert!(plural != "activityqueries" || answer.text().contains("Secret planted"), "{}", answer.text());
        keep(plural, answer);
    }
    let table =
        client.apart().with("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
    keep("table", table.get(&format!("{SECRETS}?includeObject=None")).await.unwrap());
    keep("verification", client.post(verifications, &json!({})).await.unwrap());
    keep("rotation", client.post("/apis/groundplane.dev/v1alpha1/keyrotations", &json!({})).await.unwrap());
    keep("backup", client.post("/apis/groundplane.dev/v1alpha1/backups", &json!({})).await.unwrap());
    let steps = json!({ "steps": 1 });
    assert_eq!(client.post(&format!("{one}/undo"), &steps).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{SECRETS}/second")).await.unwrap().code, 200);
    assert_eq!(client.post(&format!("{SECRETS}/second/restore"), &json!({})).await.unwrap().code, 201);

    // The command line shows, describes, compares and bundles.
    let bundle = folder.path().join("bundle.tar.gz");
    let manifest = folder.path().join("changed.yaml");
    std::fs::write(&manifest, changed.to_string()).unwrap();
    for words in [
        vec!["get", "secrets", "-o", "wide"],
        vec!["describe", "secret", "planted"],
        vec!["history", "secret", "planted", "--diff"],
        vec!["diff", "-f", manifest.to_str().unwrap()],
        vec!["plan", "-f", manifest.to_str().unwrap()],
        vec!["activity", "secrets", "-o", "json"],
        vec!["host", "list", "-o", "wide"],
        vec!["host", "describe", "planted"],
        vec!["host", "describe", "planted", "-o", "yaml"],
        vec!["hub", "list"],
        vec!["history", "hosts.fulfillment.groundplane.dev", "planted", "--diff"],
        vec!["activity", "hosts", "-o", "json"],
        vec!["doctor"],
        vec!["support-bundle", bundle.to_str().unwrap()],
    ] {
        let ran = Command::new(GROUNDPLANE)
            .args(&words)
            .env("KUBECONFIG", server.kubeconfig())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        for stream in [ran.stdout, ran.stderr] {
            answers.push((words.join(" "), stream));
        }
    }
    let unpacked = Command::new("gzip").args(["-dc", bundle.to_str().unwrap()]).output().unwrap();
    assert!(unpacked.status.success() && unpacked.stdout.len() > 1000);
    answers.push(("bundle".to_owned(), unpacked.stdout));
    for (what, bytes) in &answers {
        assert!(!has_marker(bytes), "{what} shows it: {}", String::from_utf8_lossy(bytes));
    }

    // Whoever may read Secrets is shown it when they ask, and the audit log knows.
    let revealed = client.get(&one).await.unwrap();
    assert!(has_marker(&revealed.body), "{}", revealed.text());
    let revealed = client.get(&format!("{HOSTS}/planted/credentials")).await.unwrap();
    assert!(has_marker(&revealed.body), "{}", revealed.text());
    let said = server.said();
    server.stop();
    assert!(said.contains("answered"), "debug lines are there to be looked through: {said}");
    assert!(!has_marker(said.as_bytes()), "the log shows it");
    let audit = std::fs::read_to_string(data.join("audit.log")).unwrap();
    let is_reveal = |line: &&str| line.contains("\"verb\":\"get\"") && line.contains("\"name\":\"planted\"");
    assert!(audit.lines().any(|line| is_reveal(&line)), "the reveal was noted down");
    let all = files(&data);
    assert!(all.len() >= 5, "{all:?}");
    for file in all {
        assert!(!has_marker(&std::fs::read(&file).unwrap()), "{} holds it", file.display());
    }
}

#[tokio::test]
async fn the_sealing_key_is_replaced_while_the_server_runs() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = server.client();
    assert_eq!(client.post(SECRETS, &secret("one")).await.unwrap().code, 201);
    let keys = server.data().join("store").join("sealing.keys");
    let before = std::fs::read_to_string(&keys).unwrap();
    let stranger = server.client().with("impersonate-user", "eve");
    let rotations = "/apis/groundplane.dev/v1alpha1/keyrotations";
    assert_eq!(stranger.post(rotations, &json!({})).await.unwrap().code, 403);
    let rotated = client.post(rotations, &json!({})).await.unwrap();
    assert_eq!(rotated.code, 201, "{}", rotated.text());
    let key = rotated.json()["status"]["key"].as_str().unwrap().to_owned();
    let after = std::fs::read_to_string(&keys).unwrap();
    assert!(after.contains(&key) && !before.contains(&key));
    assert!(
        !rotated
            .text()
            .contains(after.lines().find(|line| line.starts_with(&key)).unwrap().split(' ').nth(1).unwrap())
    );
    // What was sealed before opens, and so does what is sealed now; also with the old key gone, after another start.
    assert_eq!(client.get(&format!("{SECRETS}/planted")).await.unwrap().json()["data"]["password"], "b25l");
    let other = json!({ "metadata": { "name": "later" }, "stringData": { "a": "two" } });
    assert_eq!(client.post(SECRETS, &other).await.unwrap().code, 201);
    server.stop();
    let fresh: String = after
        .lines()
        .filter(|line| line.starts_with('#') || line.starts_with(&key))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&keys, fresh).unwrap();
    let again = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = again.client();
    assert_eq!(client.get(&format!("{SECRETS}/planted")).await.unwrap().json()["data"]["password"], "b25l");
    assert_eq!(client.get(&format!("{SECRETS}/later")).await.unwrap().json()["data"]["a"], "dHdv");
}

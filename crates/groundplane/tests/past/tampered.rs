//! Somebody changes one record of history in a copy of the store: verification names it. What retention lets go of is no
//! alarm.

use std::path::Path;
use std::process::Command;

use redb::{Database, ReadableTable, TableDefinition};
use serde_json::{Value, json};
use testbed::server::{Client, Server};

use crate::{GROUNDPLANE, MAPS, map};

const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");
const OBJECT: &[u8] = b"//configmaps/default/a";
const VERIFICATIONS: &str = "/apis/groundplane.dev/v1alpha1/verifications";

type Row = (u64, Vec<u8>);
/// What somebody does to the records of an object.
type Change = fn(&mut Vec<Row>);

#[tokio::test]
async fn one_record_that_was_changed_removed_swapped_or_re_timed_is_named() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    client.post(MAPS, &map("a", "0")).await.unwrap();
    for number in 1..8 {
        client.merge(&format!("{MAPS}/a"), &json!({"data": {"k": number.to_string()}})).await.unwrap();
    }
    let whole = verify(&client).await;
    assert_eq!(whole["verified"], true, "{whole}");
    server.stop();

    for (what, change) in STORIES {
        let copy = folder.path().join(what);
        assert!(Command::new("cp").arg("-r").arg(&data).arg(&copy).status().unwrap().success());
        tamper(&copy, 8, change);
        let server = Server::start(GROUNDPLANE, &copy, &["--audit-log", "none"]).unwrap();
        let found = verify(&server.client()).await;
        assert_eq!(found["verified"], false, "{what}: {found}");
        let problems = found["problems"].as_array().unwrap();
        let named = problems.iter().any(|problem| problem["object"] == "configmaps default/a");
        assert!(named, "{what} is not named: {found}");
    }
}

/// What somebody may do to the second of several records that were kept, and to what lies around it.
const STORIES: [(&str, Change); 4] = [
    ("flipped", |rows| flip(&mut rows[1].1)),
    ("removed", |rows| drop(rows.remove(1))),
    ("swapped", |rows| {
        let (left, right) = (rows[1].0, rows[2].0);
        rows[1].0 = right;
        rows[2].0 = left;
    }),
    ("re-timed", |rows| rows[1].1 = retimed(&rows[1].1)),
];

#[tokio::test]
async fn what_was_pruned_is_no_alarm_and_what_is_left_is_still_guarded() {
    let folder = tempfile::TempDir::new().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    keep_three(&client).await;
    let made = client.post(MAPS, &map("a", "0")).await.unwrap().json();
    for number in 1..20 {
        client.merge(&format!("{MAPS}/a"), &json!({"data": {"k": number.to_string()}})).await.unwrap();
    }
    // What a watch may still ask for is not pruned: that ends with 64 MiB of later changes.
    let filling = "x".repeat(1_000_000);
    client.post(MAPS, &map("large", &filling)).await.unwrap();
    for number in 0..70 {
        let labels = json!({"metadata": {"labels": {"n": number.to_string()}}});
        assert_eq!(client.merge(&format!("{MAPS}/large"), &labels).await.unwrap().code, 200);
    }
    let mut kept = 20;
    for _ in 0..600 {
        let history = client.get(&format!("{MAPS}/a/history")).await.unwrap().json();
        kept = history["items"].as_array().unwrap().len();
        if kept == 3 {
            break;
        }
        // It is thinned out with one of the next rounds of housekeeping.
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    assert_eq!(kept, 3, "retention has let go of all but three");
    let gone = client.get(&format!("{MAPS}?asOf={}", first_of(&made))).await.unwrap();
    assert_eq!(gone.code, 410, "{}", gone.text());
    let others = format!("/api/v1/namespaces?asOf={}", first_of(&made));
    assert_eq!(client.get(&others).await.unwrap().code, 200, "of others the past is whole");
    let (said, code) = audit_verify(&server);
    assert!(code == 0 && said.starts_with("verified: "), "{said}");
    server.stop();

    let also: [(&str, Change); 2] = [
        // Somebody who removes what came first hopes that it will pass for pruning.
        ("oldest-removed", |rows| drop(rows.remove(0))),
        ("newest-removed", |rows| drop(rows.pop())),
    ];
    for (what, change) in STORIES.into_iter().chain(also) {
        let copy = folder.path().join(what);
        assert!(Command::new("cp").arg("-r").arg(&data).arg(&copy).status().unwrap().success());
        tamper(&copy, 3, change);
        let server = Server::start(GROUNDPLANE, &copy, &["--audit-log", "none"]).unwrap();
        let (said, code) = audit_verify(&server);
        assert_eq!(code, 1, "{what}: {said}");
        assert!(said.starts_with("configmaps default/a"), "{what} is not named first: {said}");
        assert!(said.contains("NOT verified: "), "{what}: {said}");
    }
}

fn first_of(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap()
}

/// What `groundplane audit verify` prints, and its exit code.
fn audit_verify(server: &Server) -> (String, i32) {
    let output = Command::new(GROUNDPLANE)
        .args(["audit", "verify"])
        .env("GROUNDPLANE_KUBECONFIG", server.kubeconfig())
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (said, output.status.code().unwrap_or(-1))
}

async fn keep_three(client: &Client) {
    let policy = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "RetentionPolicy", "metadata": {"name": "short"},
        "spec": {"resources": [{"group": "", "resource": "configmaps"}], "keepFor": "1s", "keepLast": 3},
    });
    let made = client.post("/apis/groundplane.dev/v1alpha1/retentionpolicies", &policy).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
}

#[tokio::test]
async fn a_retention_that_makes_no_sense_is_refused() {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let bad = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "RetentionPolicy", "metadata": {"name": "bad"},
        "spec": {"resources": [], "keepFor": "soon", "keepLast": 0}});
    let path = "/apis/groundplane.dev/v1alpha1/retentionpolicies";
    assert_eq!(server.client().post(path, &bad).await.unwrap().code, 422);
}

#[tokio::test]
async fn a_checkpoint_that_was_kept_elsewhere_is_known_again() {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    client.post(MAPS, &map("a", "0")).await.unwrap();
    let path = "/apis/groundplane.dev/v1alpha1/checkpoints/latest";
    let mut exported = client.get(path).await.unwrap();
    for _ in 0..600 {
        if exported.code == 200 {
            break;
        }
        // It is written with the next round of housekeeping.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        exported = client.get(path).await.unwrap();
    }
    let exported = exported.json();
    let known = client.post(VERIFICATIONS, &json!({"spec": {"checkpoint": exported}})).await.unwrap();
    assert_eq!((known.code, &known.json()["status"]["verified"]), (201, &json!(true)), "{}", known.text());
    let other = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let body = json!({"spec": {"checkpoint": exported}});
    let foreign = other.client().post(VERIFICATIONS, &body).await.unwrap().json();
    assert_eq!(foreign["status"]["verified"], false, "{foreign}");
    let stranger = server.client().with("impersonate-user", "eve");
    assert_eq!(stranger.post(VERIFICATIONS, &json!({})).await.unwrap().code, 403);
    assert_eq!(stranger.get(path).await.unwrap().code, 403);
}

async fn verify(client: &Client) -> Value {
    let answer = client.post(VERIFICATIONS, &json!({})).await.unwrap();
    assert_eq!(answer.code, 201, "{}", answer.text());
    answer.json()["status"].clone()
}

/// Changes the records of one object by hand, oldest first.
fn tamper(data: &Path, many: usize, change: Change) {
    let database = Database::open(data.join("store/store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    {
        let mut table = write.open_table(RECORDS).unwrap();
        let rows = table.iter().unwrap().map(|row| row.unwrap());
        let mut rows: Vec<Row> = rows.map(|(at, value)| (at.value(), value.value().to_vec())).collect();
        // Each begins with the key it belongs to.
        rows.retain(|(_, value)| {
            postcard::take_from_bytes::<&[u8]>(value).is_ok_and(|(key, _)| key == OBJECT)
        });
        assert_eq!(rows.len(), many);
        for (at, _) in &rows {
            table.remove(*at).unwrap();
        }
        change(&mut rows);
        for (at, value) in &rows {
            table.insert(*at, value.as_slice()).unwrap();
        }
    }
    write.commit().unwrap();
}

fn flip(record: &mut [u8]) {
    let author = b"system:admin";
    let at = record.windows(author.len()).position(|found| found == author).expect("its author is in it");
    record[at] ^= 1;
}

/// A record is kept behind its key and place; its first two fields are its version and its time.
fn retimed(record: &[u8]) -> Vec<u8> {
    type Front<'a> = (&'a [u8], (u64, u32), u64, u64);
    let ((key, place, version, time), rest) = postcard::take_from_bytes::<Front>(record).unwrap();
    let mut changed = postcard::to_stdvec(&(key, place, version, time - 3_600_000_000)).unwrap();
    changed.extend_from_slice(rest);
    changed
}

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

    let stories: [(&str, Change); 4] = [
        ("flipped", |rows| flip(&mut rows[3].1)),
        ("removed", |rows| drop(rows.remove(3))),
        ("swapped", |rows| {
            let (left, right) = (rows[3].0, rows[4].0);
            rows[3].0 = right;
            rows[4].0 = left;
        }),
        ("re-timed", |rows| rows[3].1 = retimed(&rows[3].1)),
    ];
    for (what, change) in stories {
        let copy = folder.path().join(what);
        assert!(Command::new("cp").arg("-r").arg(&data).arg(&copy).status().unwrap().success());
        tamper(&copy, change);
        let server = Server::start(GROUNDPLANE, &copy, &["--audit-log", "none"]).unwrap();
        let found = verify(&server.client()).await;
        assert_eq!(found["verified"], false, "{what}: {found}");
        let problems = found["problems"].as_array().unwrap();
        let named = problems.iter().any(|problem| problem["object"] == "configmaps default/a");
        assert!(named, "{what} is not named: {found}");
    }
}

#[tokio::test]
async fn what_retention_lets_go_of_is_no_alarm() {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    let policy = json!({
        "apiVersion": "groundplane.dev/v1alpha1", "kind": "RetentionPolicy", "metadata": {"name": "short"},
        "spec": {"resources": [{"group": "", "resource": "configmaps"}], "keepFor": "1s", "keepLast": 3},
    });
    let made = client.post("/apis/groundplane.dev/v1alpha1/retentionpolicies", &policy).await.unwrap();
    assert_eq!(made.code, 201, "{}", made.text());
    client.post(MAPS, &map("a", "0")).await.unwrap();
    for number in 1..20 {
        client.merge(&format!("{MAPS}/a"), &json!({"data": {"k": number.to_string()}})).await.unwrap();
    }
    let report = verify(&client).await;
    assert_eq!(report["verified"], true, "{report}");
    let bad = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "RetentionPolicy", "metadata": {"name": "bad"},
        "spec": {"resources": [], "keepFor": "soon", "keepLast": 0}});
    assert_eq!(
        client.post("/apis/groundplane.dev/v1alpha1/retentionpolicies", &bad).await.unwrap().code,
        422
    );
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
fn tamper(data: &Path, change: Change) {
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
        assert_eq!(rows.len(), 8);
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

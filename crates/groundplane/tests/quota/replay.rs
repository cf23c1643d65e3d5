//! The checker: replays the history of a bucket and of its claims, and finds what should not have happened.

use std::collections::BTreeMap;

use serde_json::Value;
use testbed::server::Client;

use super::{QUOTA, WIDGETS, bucket, claims, get, items, namespaced, widgets};

/// What the history of a bucket shows.
pub struct Replayed {
    /// How often something was granted.
    pub granted: usize,
    /// The most that was ever allocated.
    pub most: i64,
}

/// Replays everything that was ever claimed of a project's widgets. `names` are the claims that may ever have existed.
pub async fn check(client: &Client, project: &str, names: &[String]) -> Replayed {
    let now = bucket(client, project).await;
    let name = now["metadata"]["name"].as_str().unwrap();
    let path = format!("{}/{name}", namespaced(QUOTA, "milo-system", "allowancebuckets"));
    let counted = sums(&history(client, &path).await);
    let claimed = claimed(client, project, names).await;
    let (mut allocated, mut granted, mut most) = (0, 0, 0);
    for (commit, (sum, limit)) in &counted {
        let delta = sum - allocated;
        let wanted = claimed.get(commit).copied().unwrap_or(0);
        assert_eq!(delta, wanted, "commit {commit}: the bucket changed by {delta}, the claims by {wanted}");
        assert!(delta <= 0 || sum <= limit, "commit {commit}: {sum} granted with a limit of {limit}");
        granted += usize::from(delta > 0);
        allocated = *sum;
        most = most.max(allocated);
    }
    let lost: Vec<&u64> = claimed
        .iter()
        .filter(|(commit, delta)| **delta != 0 && !counted.contains_key(*commit))
        .map(|(commit, _)| commit)
        .collect();
    assert!(lost.is_empty(), "claims of the commits {lost:?} were never counted");
    assert_eq!(now["status"]["allocated"], allocated);
    agree_now(client, project, allocated).await;
    Replayed { granted, most }
}

/// What is there now: each object has its claim, each claim its object, and the bucket is their sum.
async fn agree_now(client: &Client, project: &str, allocated: i64) {
    let mut objects: Vec<String> = items(client, &widgets(project)).await.iter().map(name_of).collect();
    let claims = items(client, &claims(project)).await;
    let mut paid: Vec<String> = claims
        .iter()
        .map(|claim| claim["spec"]["resourceRef"]["name"].as_str().unwrap().to_owned())
        .collect();
    objects.sort();
    paid.sort();
    assert_eq!(objects, paid);
    assert_eq!(claims.iter().map(amount).sum::<i64>(), allocated);
}

fn name_of(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

fn amount(claim: &Value) -> i64 {
    let allocations = claim["status"]["allocations"].as_array().cloned().unwrap_or_default();
    let of = allocations.iter().filter(|allocation| allocation["resourceType"] == WIDGETS);
    of.map(|allocation| allocation["allocatedAmount"].as_i64().unwrap()).sum()
}

/// What was allocated and the limit after each commit.
fn sums(history: &[Value]) -> BTreeMap<u64, (i64, i64)> {
    let (mut sums, mut allocated, mut limit) = (BTreeMap::new(), 0, 0);
    for revision in history {
        for change in revision["diff"].as_array().into_iter().flatten() {
            match change["path"].as_str().unwrap() {
                "status.allocated" => allocated = change["after"].as_i64().unwrap_or(0),
                "status.limit" => limit = change["after"].as_i64().unwrap_or(0),
                "status" => {
                    allocated = change["after"]["allocated"].as_i64().unwrap_or(0);
                    limit = change["after"]["limit"].as_i64().unwrap_or(0);
                }
                _ => {}
            }
        }
        sums.insert(commit(revision), (allocated, limit));
    }
    sums
}

/// By how much claims changed in each commit.
async fn claimed(client: &Client, project: &str, names: &[String]) -> BTreeMap<u64, i64> {
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for name in names {
        let path = format!("{}/{name}", claims(project));
        let answer = client.get(&format!("{path}/history?limit=1")).await.unwrap();
        if answer.code == 404 {
            continue;
        }
        let mut held = 0;
        for revision in history(client, &path).await {
            let number = revision["revision"].as_str().unwrap();
            let whole = get(client, &format!("{path}/history?revision={number}")).await;
            let now = if revision["deleted"] == true { 0 } else { amount(&whole["object"]) };
            *changes.entry(commit(&revision)).or_default() += now - held;
            held = now;
        }
    }
    changes
}

/// All revisions of an object, the oldest first.
async fn history(client: &Client, path: &str) -> Vec<Value> {
    let (mut all, mut next) = (Vec::new(), String::new());
    loop {
        let page = get(client, &format!("{path}/history?limit=1000&diff=true{next}")).await;
        all.extend(page["items"].as_array().unwrap().clone());
        match page["metadata"]["continue"].as_str() {
            Some(token) => next = format!("&continue={token}"),
            None => break,
        }
    }
    all.reverse();
    all
}

/// The commit of a revision: what follows is the position in it.
fn commit(revision: &Value) -> u64 {
    revision["revision"].as_str().unwrap().parse::<u64>().unwrap() >> 16
}

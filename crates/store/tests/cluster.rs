//! Two servers on three members of etcd, while members are killed and paused and the quorum comes and goes.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "many/grounds.rs"]
#[allow(dead_code, reason = "the embedded ground is for the other tests")]
mod grounds;
#[path = "many/overlap.rs"]
#[allow(dead_code, reason = "only its dice are thrown here")]
mod overlap;
#[path = "many/register.rs"]
mod register;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use grounds::Ground;
use store::{Acquired, Author, Body, Conflict, Error, Key, Put, Store, Transaction, Uid, Version, Watch};
use testbed::etcd::Cluster;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_old_is_read_while_members_fail() {
    let Some(mut ground) = Ground::etcd(3, None).await else { return };
    let from = ground.servers[0].current().await.unwrap().version();
    let watches: Vec<_> = ground
        .servers
        .iter()
        .map(|server| tokio::spawn(follow(server.watch(b"register/", from).unwrap(), server.clone())))
        .collect();
    let servers = ground.servers.clone();
    let busy = tokio::spawn(async move { register::record(&servers, Duration::from_secs(24)).await });
    let cluster = ground.cluster.take().unwrap();
    let cluster = tokio::task::spawn_blocking(move || trouble(cluster)).await.unwrap();
    let history = busy.await.unwrap();
    register::assert_linearizable(&history);

    let end = ground.servers[0].current().await.unwrap();
    put(&*ground.servers[1], "register/end", "done").await.unwrap();
    let mut seen = Vec::new();
    for watch in watches {
        seen.push(watch.await.unwrap());
    }
    assert_eq!(seen[0], seen[1], "both servers tell the same changes in the same order");
    let mut state = BTreeMap::new();
    for (version, key, deleted) in &seen[0] {
        if *deleted {
            state.remove(key)
        } else {
            state.insert(key.clone(), *version)
        };
    }
    state.remove(&Key::new("register/end").unwrap());
    let listed: BTreeMap<Key, Version> =
        end.list(b"register/").map(|(key, entry)| (key.clone(), entry.version())).collect();
    assert_eq!(state, listed);
    let report = ground.servers[1].verify(&[]).await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    drop(cluster);
}

/// One kind of trouble after the other, with peace in between.
fn trouble(mut cluster: Cluster) -> Cluster {
    let rest = |seconds| std::thread::sleep(Duration::from_secs(seconds));
    rest(2);
    let leader = cluster.leader().unwrap();
    let follower = (leader + 1) % 3;
    cluster.kill(follower).unwrap();
    rest(2);
    cluster.restart(follower).unwrap();
    rest(2);
    let leader = cluster.leader().unwrap();
    cluster.pause(leader).unwrap();
    rest(4);
    cluster.resume(leader).unwrap();
    rest(2);
    let leader = cluster.leader().unwrap();
    cluster.kill(leader).unwrap();
    cluster.kill((leader + 1) % 3).unwrap();
    rest(3);
    cluster.restart(leader).unwrap();
    cluster.restart((leader + 1) % 3).unwrap();
    rest(2);
    cluster
}

/// Everything a watch tells until the end is written: version, key, and whether it was deleted.
async fn follow(mut watch: Watch, _server: Arc<dyn Store>) -> Vec<(Version, Key, bool)> {
    let mut seen = Vec::new();
    loop {
        for event in watch.next().await.unwrap() {
            seen.push((event.version(), event.key().clone(), event.after().is_none()));
            if event.key().as_bytes() == b"register/end" {
                return seen;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_was_cut_off_writes_nothing_after_its_lease_ran_out() {
    let Some(ground) = Ground::etcd(3, None).await else { return };
    let (first, second) = (&ground.servers[0], &ground.servers[1]);
    let time = Duration::from_secs(3);
    let fence = first.acquire("leader", "first", time).await.unwrap().fence().unwrap();
    assert!(matches!(second.acquire("leader", "second", time).await.unwrap(), Acquired::HeldBy { .. }));
    let guarded = || Transaction::by(Author::new("first", "test")).guard(fence.guard());
    first.commit(guarded().put(object("led", "by the first"))).await.unwrap();

    // The first does not renew, as if it slept, until somebody else has it.
    let taken = loop {
        match second.acquire("leader", "second", time).await.unwrap() {
            Acquired::Taken(fence) => break fence,
            Acquired::HeldBy { for_at_most, .. } => {
                tokio::time::sleep(for_at_most.min(Duration::from_millis(300))).await
            }
        }
    };
    second
        .commit(
            Transaction::by(Author::new("second", "test"))
                .guard(taken.guard())
                .put(object("led", "by the second")),
        )
        .await
        .unwrap();
    let late = first.commit(guarded().put(object("led", "by the first, late"))).await;
    assert!(matches!(late, Err(Error::Conflict(Conflict::LeaseLost(_)))), "{late:?}");
    assert!(!first.renew(&fence).await.unwrap());
    let led = first.current().await.unwrap().get(&Key::new("led").unwrap()).unwrap().bytes().clone();
    assert_eq!(led, "by the second");
}

async fn put(server: &dyn Store, key: &str, text: &'static str) -> store::Result<store::Committed> {
    server.commit(Transaction::by(Author::new("test", "test")).put(object(key, text))).await
}

fn object(key: &str, text: &'static str) -> Put {
    Put::new(Key::new(key).unwrap(), Uid([1; 16]), Body::plain(text))
}

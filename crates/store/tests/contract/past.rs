//! Whole lists of the past are what a list then returned, whatever happened since.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use store::{At, Body, Put, Revision, Store, Transaction, Version};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_list_of_the_past_is_what_a_list_then_returned,
    a_list_at_a_time_is_what_a_list_at_that_time_returned,
    a_list_of_the_past_leaves_other_prefixes_as_they_are,
);

/// One write of a random history.
#[derive(Debug, Clone)]
enum Step {
    Put { name: u8, body: u8, secret: bool },
    Delete { name: u8 },
}

fn histories() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let put = (0..5u8, 0..4u8, prop::bool::weighted(0.1));
    let step = prop_oneof![
        3 => put.prop_map(|(name, body, secret)| Step::Put { name, body, secret }),
        1 => (0..5u8).prop_map(|name| Step::Delete { name }),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..4), 1..30)
}

type Picture = Vec<(String, Version, Bytes)>;

/// What was seen right after a commit.
struct Seen {
    revision: Revision,
    picture: Picture,
}

/// Lives through a history and remembers what it saw.
async fn live(store: &Arc<dyn Store>, history: &[Vec<Step>]) -> Vec<Seen> {
    let mut lives = [1u8; 5];
    let mut seen = Vec::new();
    for commit in history {
        let mut transaction = Transaction::by(alice());
        let mut written = [false; 5];
        for step in commit {
            let (Step::Put { name, .. } | Step::Delete { name }) = step;
            if std::mem::replace(&mut written[*name as usize], true) {
                continue;
            }
            let at = format!("k{name}");
            transaction = match step {
                Step::Put { body, secret, .. } => {
                    let bytes = format!("{}{body}, at ", "the same in all of them, ".repeat(*body as usize));
                    let body = Body::stamped(bytes.clone(), bytes.len()).unwrap();
                    let put = Put::new(key(&at), life(&at, lives[*name as usize]), body);
                    transaction.put(if *secret { put.secret() } else { put })
                }
                Step::Delete { .. } => {
                    lives[*name as usize] += 1;
                    transaction.delete(key(&at))
                }
            };
        }
        store.commit(transaction).await.unwrap();
        let now = store.current().await.unwrap();
        seen.push(Seen { revision: now.revision(), picture: picture(&now, "k") });
    }
    seen
}

async fn check<G: Ground>(history: &[Vec<Step>]) -> Result<(), TestCaseError> {
    let mut ground = G::open(quiet()).await;
    let seen = live(&ground.store(), history).await;
    for after_a_restart in [false, true] {
        if after_a_restart {
            ground.reopen().await;
        }
        let store = ground.store();
        for then in &seen {
            let past = store.list_at(b"k", At::Revision(then.revision)).await.unwrap();
            prop_assert_eq!(&picture(&past, "k"), &then.picture);
            prop_assert_eq!(past.revision(), then.revision);
            let recent = store.at(then.revision).unwrap();
            prop_assert_eq!(&picture(&recent, "k"), &then.picture);
        }
        let then = &seen[seen.len() / 2];
        for (name, version, bytes) in &then.picture {
            let was = store.object_at(&key(name), At::Revision(then.revision)).await.unwrap().unwrap();
            prop_assert_eq!((was.version(), was.bytes()), (*version, bytes));
        }
        let report = store.verify(&[]).await.unwrap();
        prop_assert_eq!(report.problems, vec![]);
    }
    Ok(())
}

async fn a_list_of_the_past_is_what_a_list_then_returned<G: Ground>() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let runtime = tokio::runtime::Handle::current();
    let outcome = tokio::task::block_in_place(|| {
        runner.run(&histories(), |history| runtime.block_on(check::<G>(&history)))
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn a_list_at_a_time_is_what_a_list_at_that_time_returned<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut seen = Vec::new();
    for number in 0..10u32 {
        let name = format!("k{}", number % 3);
        if number % 4 == 3 {
            remove(&store, &name).await
        } else {
            write(&store, &name, &number.to_string()).await
        };
        let time = changes(&store, &name).await[0].time;
        seen.push((time, picture(&store.current().await.unwrap(), "k")));
    }
    for (time, then) in &seen {
        assert_eq!(picture(&store.list_at(b"k", At::Time(*time)).await.unwrap(), "k"), *then);
    }
    let (first, _) = seen[0];
    assert!(picture(&store.list_at(b"k", At::Time(first - 1)).await.unwrap(), "k").is_empty());
}

async fn a_list_of_the_past_leaves_other_prefixes_as_they_are<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a/1", "old").await;
    write(&store, "b/1", "old").await;
    write(&store, "a/1", "new").await;
    write(&store, "b/1", "new").await;
    let past = store.list_at(b"a/", At::Revision(first.revision())).await.unwrap();
    assert_eq!(read(&past, "a/1").as_deref(), Some("old"));
    assert_eq!(read(&past, "b/1").as_deref(), Some("new"));
}

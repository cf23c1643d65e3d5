//! Guards on one life of a key, and decisions that choose among many and guard what they take.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use store::{Body, Conflict, Error, Guard, Put, Refused};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_guard_of_a_life_lets_changes_pass_but_neither_the_end_nor_a_new_life,
    a_decision_that_saw_another_life_is_made_again,
    another_server_that_saw_the_earlier_life_does_not_write_into_the_new_one,
    choosing_guards_nothing_but_what_is_taken,
);

fn owner(life_number: u8) -> Put {
    Put::new(key("owner"), life("owner", life_number), Body::plain(format!("{life_number}")))
}

fn alive(life_number: u8) -> Guard {
    Guard::Life { key: key("owner"), uid: life("owner", life_number) }
}

async fn a_guard_of_a_life_lets_changes_pass_but_neither_the_end_nor_a_new_life<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let under = |name: &str| just(put(name, "x")).guard(alive(1));
    let early = store.commit(under("a")).await.unwrap_err();
    assert!(matches!(early, Error::Conflict(Conflict::Missing(_))), "{early}");
    store.commit(just(owner(1))).await.unwrap();
    store.commit(under("b")).await.unwrap();
    write(&store, "owner", "changed").await;
    store.commit(under("c")).await.unwrap();
    remove(&store, "owner").await;
    assert!(store.commit(under("d")).await.unwrap_err().is_conflict(), "it is gone");
    store.commit(just(owner(2))).await.unwrap();
    let late = store.commit(under("e")).await.unwrap_err();
    assert!(matches!(late, Error::Conflict(Conflict::Reborn(_))), "{late}");
    store.commit(just(put("f", "x")).guard(alive(2))).await.unwrap();
    assert_eq!(names(&store.current().await.unwrap(), ""), ["b", "c", "f", "owner"]);
}

/// The first decision is made on a view from before the key was deleted and created again.
async fn a_decision_that_saw_another_life_is_made_again<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(owner(1))).await.unwrap();
    let (decided, runs) = (std::sync::Arc::new(tokio::sync::Notify::new()), AtomicUsize::new(0));
    let (go_on, waits) = std::sync::mpsc::channel::<()>();
    let waits = Mutex::new(waits);
    let told = decided.clone();
    let deciding = {
        let store = store.clone();
        tokio::spawn(async move {
            let outcome = store.transact(alice(), move |view| {
                let alive = view.lives(&key("owner"), life("owner", 1));
                if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                    assert!(alive);
                    told.notify_one();
                    waits.lock().unwrap().recv().unwrap();
                }
                view.put(put("under", "x"));
                if alive { Ok(()) } else { Err("another life") }
            });
            outcome.await.map(drop)
        })
    };
    decided.notified().await;
    remove(&store, "owner").await;
    store.commit(just(owner(2))).await.unwrap();
    go_on.send(()).unwrap();
    let outcome = deciding.await.unwrap();
    assert!(matches!(outcome, Err(Refused::Decision("another life"))), "{outcome:?}");
    assert_eq!(read(&store.current().await.unwrap(), "under"), None);
}

/// The other server has a runtime of its own, which stands still unless it is asked something: it hears of nothing in
/// between.
async fn another_server_that_saw_the_earlier_life_does_not_write_into_the_new_one<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(owner(1))).await.unwrap();
    let lagging = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let other = tokio::task::block_in_place(|| lagging.block_on(ground.second_server(quiet())));
    let Some(other) = other else { return tokio::task::block_in_place(|| drop(lagging)) };
    remove(&store, "owner").await;
    store.commit(just(owner(2))).await.unwrap();
    let seen = if G::LAGS { "1" } else { "2" };
    assert_eq!(read(&other.latest(), "owner").as_deref(), Some(seen), "it has not heard of it, if it lags");
    let late = just(put("under", "x")).guard(Guard::Exists(key("owner"))).guard(alive(1));
    let late = tokio::task::block_in_place(|| lagging.block_on(other.commit(late)));
    assert!(matches!(late, Err(Error::Conflict(Conflict::Reborn(_)))), "{late:?}");
    assert_eq!(read(&store.current().await.unwrap(), "under"), None);
    tokio::task::block_in_place(|| drop((other, lagging)));
}

/// Two take one each of the same two, both having seen both: whoever takes another one than its neighbour is not disturbed.
async fn choosing_guards_nothing_but_what_is_taken<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    write(&store, "a", "in:free").await;
    write(&store, "b", "in:free").await;
    let free = Bytes::from("in:free");
    let taken = store.transact(alice(), move |view| {
        let (first, _) = view.having(&free).swap_remove(0);
        view.get(&first);
        let guards = view.guards().to_vec();
        view.put(Put::new(first.clone(), life("a", 1), Body::plain("in:use")));
        let left: Vec<String> = view.having(&free).into_iter().map(|(key, _)| key.to_string()).collect();
        Ok::<_, ()>((guards, left))
    });
    let ((guards, left), _) = taken.await.unwrap();
    assert!(matches!(&guards[..], [Guard::At { key: taken, .. }] if *taken == key("a")), "{guards:?}");
    assert_eq!(left, ["b"], "what this transaction has taken is no longer to be had in it");
    assert_eq!(having(&store.current().await.unwrap(), "in:free"), ["b"]);
}

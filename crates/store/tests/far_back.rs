//! Reading page by page into the past of one object: each page costs about the same, however far back it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "crash/dice.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod dice;
#[path = "crash/medium.rs"]
#[allow(dead_code, reason = "each test uses its part of it")]
mod medium;

use std::time::Duration;

use store::{Author, Body, Embedded, Key, Keys, Put, Settings, Store, Transaction, Uid};

use medium::Medium;

const CHANGES: usize = 2_000;
const PAGE: usize = 20;

#[tokio::test]
async fn a_page_far_back_costs_no_more_than_one_near_the_present() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Medium::with_empty_database();
    let mut settings = Settings { cache: 0, ..Settings::default() };
    settings.housekeeping.every = Duration::from_secs(3_600);
    let store = Embedded::open_on(disk.device(), Keys::open(folder.path()).unwrap(), settings).await.unwrap();

    let key = Key::new("rack").unwrap();
    let body = |number: usize| format!("{} {number} {}", "left ".repeat(20), "right ".repeat(20));
    for number in 0..CHANGES {
        let put = Put::new(key.clone(), Uid::default(), Body::plain(body(number)));
        store.commit(Transaction::by(Author::new("tester", "pages")).put(put)).await.unwrap();
    }

    let mut costs = Vec::new();
    let mut expected = (0..CHANGES).rev();
    let mut beyond = None;
    loop {
        let before = disk.reads();
        let page = store.changes(&key, beyond, PAGE).await.unwrap();
        costs.push(disk.reads() - before);
        for change in &page.items {
            let number = expected.next().unwrap();
            assert_eq!(change.after.as_ref().unwrap().bytes(), &body(number));
        }
        beyond = page.next;
        if beyond.is_none() {
            break;
        }
    }
    assert_eq!(expected.next(), None);
    // As many pages as lie between two whole objects, a few times over, at either end.
    let (near, far) = (&costs[5..25], &costs[costs.len() - 20..]);
    let (near, far): (usize, usize) = (near.iter().sum(), far.iter().sum());
    assert!(near > 0 && far <= near * 2, "{far} reads for the last 20 pages, {near} for 20 of the first");
    store.close().await.unwrap();
}

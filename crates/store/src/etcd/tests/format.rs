//! The format of what is kept in etcd, and what is done with one that is not known.

use super::super::layout::put;
use super::{Ground, behind_its_back, key, write};
use crate::error::Error;
use crate::store::Store;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_a_newer_format_is_refused_and_left_alone() {
    let Some(ground) = Ground::shared() else { return };
    let store = ground.open().await.unwrap();
    write(&store, "a", "1").await;
    let format = store.shared.layout.format();

    behind_its_back(&store, vec![put(format.clone(), "2")]).await;
    let refused = ground.open().await.map(drop).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 2, known: 1 }), "{refused}");

    behind_its_back(&store, vec![put(format, "1")]).await;
    let store = ground.open().await.unwrap();
    assert_eq!(store.current().await.unwrap().get(&key("a")).unwrap().bytes(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_format_that_is_no_number_is_damage() {
    let Some(ground) = Ground::shared() else { return };
    let store = ground.open().await.unwrap();
    behind_its_back(&store, vec![put(store.shared.layout.format(), "one")]).await;
    let refused = ground.open().await.map(drop).unwrap_err();
    assert!(matches!(refused, Error::Damaged(_)), "{refused}");
}

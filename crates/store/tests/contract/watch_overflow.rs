//! Watches that are further behind than memory reaches: they are fed from disk.

use std::path::PathBuf;

use store::{Error, Settings, Window};
use tempfile::TempDir;

use super::fixture::{Embedded, Etcd, Ground, quiet};
use super::words::*;

/// The simulated engine has no disk of this kind.
macro_rules! on_engines_with_a_folder {
    ($($story:ident),* $(,)?) => {
        mod embedded {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    super::$story::<super::Embedded>().await;
                }
            )*
        }

        mod etcd {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $story() {
                    if super::Etcd::available() {
                        super::$story::<super::Etcd>().await;
                    }
                }
            )*
        }
    };
}

on_engines_with_a_folder!(
    a_watch_far_behind_memory_misses_nothing_and_repeats_nothing,
    a_watch_resumes_from_every_version_that_is_only_on_disk,
    what_does_not_fit_on_disk_is_gone,
    a_compaction_lets_go_of_what_is_on_disk_too,
    a_folder_that_can_not_be_written_costs_the_watch_and_no_commit,
);

/// Ten commits in memory, and the rest in `folder`.
fn narrow(folder: PathBuf, disk: u64) -> Settings {
    let window = Window { commits: 10, disk, ..Window::default() };
    Settings { window, overflow: Some(folder), ..quiet() }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

async fn a_watch_far_behind_memory_misses_nothing_and_repeats_nothing<G: Ground>() {
    let (_kept, path) = folder();
    let ground = G::open(narrow(path, 1 << 30)).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut slow = store.watch(b"a/", start).unwrap();
    let mut expected = Vec::new();
    for number in 0..400u32 {
        let name = format!("a/{}", number % 7);
        let sign = if number < 7 { '+' } else { '~' };
        let body = format!("{number} {}", "x".repeat(2_000));
        store.commit(just(put(&name, body.clone())).put(put("other", number.to_string()))).await.unwrap();
        expected.push(format!("{sign}{name}={body}"));
    }
    remove(&store, "a/3").await;
    expected.push(format!("-a/3={} {}", 395, "x".repeat(2_000)));
    assert_eq!(told(&take(&mut slow, expected.len()).await), expected);
    assert!(slow.ready().unwrap().is_empty());
    // And it goes on from memory.
    write(&store, "a/9", "last").await;
    assert_eq!(told(&take(&mut slow, 1).await), ["+a/9=last"]);
    // One that asks without waiting gets the same.
    let mut asking = store.watch(b"a/", start).unwrap();
    let mut seen = Vec::new();
    loop {
        let events = asking.ready().unwrap();
        if events.is_empty() {
            break;
        }
        seen.extend(told(&events));
    }
    expected.push("+a/9=last".to_owned());
    assert_eq!(seen, expected);
}

async fn a_watch_resumes_from_every_version_that_is_only_on_disk<G: Ground>() {
    let (_kept, path) = folder();
    let ground = G::open(narrow(path, 1 << 30)).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    for number in 0..40u32 {
        let pair = just(put("a", number.to_string())).put(put("b", number.to_string()));
        store.commit(pair).await.unwrap();
    }
    let whole = take(&mut store.watch(b"", start).unwrap(), 80).await;
    for (index, event) in whole.iter().enumerate() {
        let mut watch = store.watch(b"", event.version()).unwrap();
        let rest = take(&mut watch, whole.len() - index - 1).await;
        assert_eq!(told(&rest), told(&whole[index + 1..]));
    }
}

async fn what_does_not_fit_on_disk_is_gone<G: Ground>() {
    let (_kept, path) = folder();
    // Files are let go of whole, so this is over the limit at once.
    let ground = G::open(narrow(path, 1)).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut slow = store.watch(b"a", start).unwrap();
    for number in 0..40 {
        write(&store, "a", &number.to_string()).await;
    }
    assert!(matches!(next(&mut slow).await, Err(Error::Gone { .. })));
    assert!(matches!(store.watch(b"a", start), Err(Error::Gone { .. })));
}

async fn a_compaction_lets_go_of_what_is_on_disk_too<G: Ground>() {
    let (_kept, path) = folder();
    let ground = G::open_alone(narrow(path, 1 << 30)).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    for number in 0..40 {
        write(&store, "a", &number.to_string()).await;
    }
    assert!(store.watch(b"a", start).is_ok());
    store.compact(store.current().await.unwrap().revision()).await.unwrap();
    assert!(matches!(store.watch(b"a", start), Err(Error::Gone { .. })));
}

async fn a_folder_that_can_not_be_written_costs_the_watch_and_no_commit<G: Ground>() {
    let (kept, path) = folder();
    let ground = G::open(narrow(path.join("missing"), 1 << 30)).await;
    let store = ground.store();
    let start = store.current().await.unwrap().version();
    let mut slow = store.watch(b"a", start).unwrap();
    for number in 0..40 {
        write(&store, "a", &number.to_string()).await;
    }
    assert!(matches!(next(&mut slow).await, Err(Error::Gone { .. })));
    store.healthy().await.unwrap();
    drop(kept);
}

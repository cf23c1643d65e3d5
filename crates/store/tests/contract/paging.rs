//! Paged lists: over one revision, however long the reader takes.

use std::sync::Arc;

use store::{Error, Key, Page, Settings, Snapshot, Store, Window};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    pages_put_together_are_the_list,
    the_last_page_says_that_it_is_the_last,
    a_rare_object_is_found_through_many_pages,
    a_filtered_list_goes_on_where_it_stopped,
    pages_show_one_revision_while_others_write,
    a_list_goes_on_after_its_revision_is_gone,
    a_list_asks_for_a_revision_or_for_one_not_older,
);

async fn racks(store: &Arc<dyn Store>, count: usize) {
    for number in 0..count {
        write(store, &format!("racks/{number:03}"), &number.to_string()).await;
    }
}

fn page_names(page: &Page) -> Vec<String> {
    page.items.iter().map(|(key, _)| key.to_string()).collect()
}

/// All pages of a prefix.
fn pages(snapshot: &Snapshot, prefix: &str, limit: usize) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    loop {
        let after = pages.last().and_then(|page| page.next.clone());
        pages.push(snapshot.page(prefix.as_bytes(), after.as_ref(), limit));
        if pages.last().is_some_and(|page| page.next.is_none()) {
            return pages;
        }
    }
}

/// ListPaging.
async fn pages_put_together_are_the_list<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    racks(&store, 23).await;
    write(&store, "rack", "before").await;
    write(&store, "racks0", "after").await;
    let snapshot = store.current().await.unwrap();
    for limit in [1, 2, 5, 22, 23, 24, 1000] {
        let pages = pages(&snapshot, "racks/", limit);
        let all: Vec<String> = pages.iter().flat_map(page_names).collect();
        assert_eq!(all, names(&snapshot, "racks/"), "by {limit}");
        let mut left = 23;
        for page in &pages {
            assert!(page.items.len() <= limit);
            left -= page.items.len();
            assert_eq!(page.remaining, left);
        }
    }
}

/// ListContinuation.
async fn the_last_page_says_that_it_is_the_last<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    racks(&store, 4).await;
    let snapshot = store.current().await.unwrap();
    let first = snapshot.page(b"racks/", None, 2);
    assert_eq!(page_names(&first), ["racks/000", "racks/001"]);
    assert_eq!((first.next.clone(), first.remaining), (Some(key("racks/001")), 2));
    let last = snapshot.page(b"racks/", first.next.as_ref(), 2);
    assert_eq!(page_names(&last), ["racks/002", "racks/003"]);
    assert_eq!((last.next, last.remaining), (None, 0));
    let beyond = snapshot.page(b"racks/", Some(&key("racks/9")), 2);
    assert_eq!((beyond.items.len(), beyond.next), (0, None));
    let elsewhere = snapshot.page(b"racks/", Some(&key("sites/1")), 2);
    assert_eq!((elsewhere.items.len(), elsewhere.next), (0, None));
    let nothing = snapshot.page(b"sites/", None, 2);
    assert_eq!((nothing.items.len(), nothing.next), (0, None));
}

/// ListPaginationRareObject.
async fn a_rare_object_is_found_through_many_pages<G: Ground>() {
    let ground = G::open(with_words()).await;
    let store = ground.store();
    racks(&store, 60).await;
    write(&store, "racks/041", "rare").await;
    let snapshot = store.current().await.unwrap();
    let pages = pages(&snapshot, "racks/", 1);
    let found: Vec<_> =
        pages.iter().flat_map(|page| &page.items).filter(|(_, e)| text(e) == "rare").collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, key("racks/041"));
    assert_eq!(having(&snapshot, "rare"), ["racks/041"]);
}

/// ListContinuationWithFilter.
async fn a_filtered_list_goes_on_where_it_stopped<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    racks(&store, 12).await;
    let snapshot = store.current().await.unwrap();
    // A caller that filters goes on reading pages until it has enough, and continues after the last it took.
    let take_even = |mut after: Option<Key>, count: usize| {
        let mut taken = Vec::new();
        loop {
            let page = snapshot.page(b"racks/", after.as_ref(), 3);
            for (key, entry) in &page.items {
                if text(entry).parse::<u32>().unwrap() % 2 == 0 {
                    taken.push(key.to_string());
                }
                after = Some(key.clone());
                if taken.len() == count {
                    return (taken, after);
                }
            }
            if page.next.is_none() {
                return (taken, None);
            }
        }
    };
    let (first, after) = take_even(None, 4);
    assert_eq!(first, ["racks/000", "racks/002", "racks/004", "racks/006"]);
    let (rest, after) = take_even(after, 4);
    assert_eq!(rest, ["racks/008", "racks/010"]);
    assert_eq!(after, None);
}

/// ListContinuation, with writers between the pages.
async fn pages_show_one_revision_while_others_write<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    racks(&store, 30).await;
    let begun = store.current().await.unwrap();
    let rival = store.clone();
    let writer = tokio::spawn(async move {
        for number in 0..30 {
            write(&rival, &format!("racks/{number:03}"), "changed").await;
            write(&rival, &format!("racks/{number:03}/new"), "new").await;
            remove(&rival, &format!("racks/{number:03}")).await;
        }
    });
    let mut after = None;
    let mut listed = Vec::new();
    loop {
        // Each page is a request of its own: it finds the revision again by its number.
        let page = store.at(begun.revision()).unwrap().page(b"racks/", after.as_ref(), 4);
        listed.extend(page.items.iter().map(|(key, e)| (key.to_string(), e.version(), e.bytes().clone())));
        tokio::task::yield_now().await;
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    writer.await.unwrap();
    assert_eq!(listed, picture(&begun, "racks/"));
    assert_eq!(picture(&store.at(begun.revision()).unwrap(), "racks/"), listed);
}

/// ListInconsistentContinuation.
async fn a_list_goes_on_after_its_revision_is_gone<G: Ground>() {
    let window = Window { commits: 10, ..Window::default() };
    let ground = G::open(Settings { window, ..quiet() }).await;
    let store = ground.store();
    racks(&store, 6).await;
    let begun = store.current().await.unwrap();
    let first = begun.page(b"racks/", None, 3);
    for number in 0..20 {
        write(&store, "noise", &number.to_string()).await;
    }
    write(&store, "racks/004", "changed").await;
    match store.at(begun.revision()).map(|_| ()) {
        Err(Error::Gone { asked, earliest }) => {
            assert_eq!(asked, begun.revision());
            assert!(earliest > asked);
            assert!(store.at(earliest).is_ok());
        }
        other => panic!("{other:?}"),
    }
    let rest = store.current().await.unwrap().page(b"racks/", first.next.as_ref(), 10);
    assert_eq!(page_names(&rest), ["racks/003", "racks/004", "racks/005"]);
    assert_eq!(text(&rest.items[1].1), "changed");
}

/// ListResourceVersionMatch.
async fn a_list_asks_for_a_revision_or_for_one_not_older<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    let second = write(&store, "b", "2").await;
    assert_eq!(names(&store.at(first.revision()).unwrap(), ""), ["a"]);
    assert_eq!(names(&store.at(second.revision()).unwrap(), ""), ["a", "b"]);
    // Not older than what this server acknowledged: what it has at hand will do.
    assert!(store.latest().revision() >= second.revision());
    assert!(store.current().await.unwrap().revision() >= second.revision());
}

//! Reads: single objects, prefixes, older revisions.

use store::{Error, Revision};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    a_list_has_the_keys_of_its_prefix_in_order,
    a_list_shows_every_write_acknowledged_before_it,
    a_prefix_with_a_slash_does_not_reach_its_neighbours,
    a_list_of_one_plane_leaves_the_others_out,
    a_snapshot_stays_as_it_is,
    every_retained_revision_can_be_read_again,
    a_revision_that_has_not_happened_is_refused,
    sizes_are_counted_by_prefix,
    keys_are_ordered_as_bytes,
    another_server_reads_what_was_acknowledged_here,
);

/// List.
async fn a_list_has_the_keys_of_its_prefix_in_order<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for name in ["racks/r2", "nodes/n1", "racks/r10", "racks/r1", "sites/s1"] {
        write(&store, name, name).await;
    }
    let snapshot = store.current().await.unwrap();
    assert_eq!(names(&snapshot, "racks/"), ["racks/r1", "racks/r10", "racks/r2"]);
    assert_eq!(names(&snapshot, "racks/r1"), ["racks/r1", "racks/r10"]);
    assert_eq!(names(&snapshot, "pods/"), [""; 0]);
    assert_eq!(names(&snapshot, "").len(), 5);
    assert_eq!(snapshot.len(), 5);
}

/// ConsistentList.
async fn a_list_shows_every_write_acknowledged_before_it<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..50 {
        let name = format!("racks/{number:02}");
        let version = write(&store, &name, "x").await;
        let snapshot = store.current().await.unwrap();
        assert_eq!(names(&snapshot, "racks/").len(), number + 1);
        assert!(snapshot.revision() >= version.revision());
        assert!(store.latest().revision() >= version.revision());
    }
}

/// GetListNonRecursive, GetListRecursivePrefix.
async fn a_prefix_with_a_slash_does_not_reach_its_neighbours<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for name in ["pods/ns", "pods/ns/a", "pods/ns/b", "pods/ns-2/a", "pods/nsx/a", "pod/ns/a"] {
        write(&store, name, "x").await;
    }
    let snapshot = store.current().await.unwrap();
    assert_eq!(names(&snapshot, "pods/ns/"), ["pods/ns/a", "pods/ns/b"]);
    assert_eq!(names(&snapshot, "pods/ns-2/"), ["pods/ns-2/a"]);
    assert_eq!(names(&snapshot, "pods/").len(), 5);
    assert_eq!(read(&snapshot, "pods/ns/a").as_deref(), Some("x"));
    assert_eq!(read(&snapshot, "pods/ns/"), None);
}

/// NamespaceScopedList.
async fn a_list_of_one_plane_leaves_the_others_out<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for plane in ["root", "p1", "p2"] {
        for name in ["a", "b"] {
            write(&store, &format!("{plane}/hosts/{name}"), plane).await;
        }
    }
    let snapshot = store.current().await.unwrap();
    for plane in ["root", "p1", "p2"] {
        let list = picture(&snapshot, &format!("{plane}/hosts/"));
        assert_eq!(list.len(), 2);
        assert!(list.iter().all(|(_, _, body)| *body == plane));
    }
}

async fn a_snapshot_stays_as_it_is<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "a", "1").await;
    let early = store.current().await.unwrap();
    let seen = picture(&early, "");
    write(&store, "a", "2").await;
    write(&store, "b", "1").await;
    remove(&store, "a").await;
    assert_eq!(picture(&early, ""), seen);
    assert_eq!(names(&store.current().await.unwrap(), ""), ["b"]);
}

/// ListResourceVersionMatch, exact.
async fn every_retained_revision_can_be_read_again<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let mut seen = Vec::new();
    for number in 0..60u32 {
        let name = format!("racks/{}", number % 7);
        match read(&store.latest(), &name) {
            Some(_) if number % 5 == 4 => remove(&store, &name).await,
            _ => write(&store, &name, &number.to_string()).await,
        };
        let snapshot = store.current().await.unwrap();
        seen.push((snapshot.revision(), picture(&snapshot, "racks/")));
    }
    for (revision, then) in &seen {
        let snapshot = store.at(*revision).unwrap();
        assert_eq!(snapshot.revision(), *revision);
        assert_eq!(picture(&snapshot, "racks/"), *then);
    }
    ground.reopen().await;
    for (revision, then) in &seen {
        assert_eq!(picture(&ground.store().at(*revision).unwrap(), "racks/"), *then, "after a restart");
    }
}

async fn a_revision_that_has_not_happened_is_refused<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "a", "1").await;
    let ahead = Revision::new(version.revision().get() + 1_000_000);
    match store.at(ahead).map(|_| ()) {
        Err(Error::Future { asked, now }) => assert!(asked == ahead && now >= version.revision()),
        other => panic!("{other:?}"),
    }
}

/// Stats.
async fn sizes_are_counted_by_prefix<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    write(&store, "racks/a", "12345").await;
    write(&store, "racks/b", "123").await;
    write(&store, "nodes/a", "1").await;
    remove(&store, "racks/b").await;
    write(&store, "racks/a", "1234567").await;
    let snapshot = store.current().await.unwrap();
    let (racks, all) = (snapshot.stats(b"racks/"), snapshot.stats(b""));
    assert_eq!((racks.objects, racks.bytes), (1, 7));
    assert_eq!((all.objects, all.bytes), (2, 8));
    assert_eq!(snapshot.stats(b"sites/").objects, 0);
}

/// KeySchema.
async fn keys_are_ordered_as_bytes<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for name in ["b", "a/b", "a", "a.b", "B", "ä", "a-b"] {
        write(&store, name, "x").await;
    }
    assert_eq!(names(&store.current().await.unwrap(), ""), ["B", "a", "a-b", "a.b", "a/b", "b", "ä"]);
}

/// ConsistentList, with several servers.
async fn another_server_reads_what_was_acknowledged_here<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let Some(other) = ground.second_server(quiet()).await else { return };
    for number in 0..20 {
        let name = format!("racks/{number}");
        write(&store, &name, "here").await;
        assert_eq!(read(&other.current().await.unwrap(), &name).as_deref(), Some("here"));
        write(&other, &name, "there").await;
        assert_eq!(read(&store.current().await.unwrap(), &name).as_deref(), Some("there"));
    }
    assert_eq!(picture(&store.current().await.unwrap(), ""), picture(&other.current().await.unwrap(), ""));
}

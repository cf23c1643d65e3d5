//! What history tells of one object: who, when, why, and how it was.

use store::{
    At, Author, Body, ChangeAt, DeedMark, Done, Error, Level, Put, Revision, Transaction, Version, Write,
};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    every_change_tells_who_made_it_how_and_why,
    a_deleted_object_still_has_its_history,
    each_life_of_a_key_is_told_apart,
    changes_come_in_parts_that_fit_together,
    parts_fit_together_when_retention_comes_between_them,
    an_object_is_shown_as_it_was_after_any_change,
    an_object_is_shown_as_it_was_at_any_time,
    a_long_history_leads_all_the_way_back,
    history_survives_a_restart,
    the_future_has_no_history,
    secrets_stay_sealed_in_history,
    what_was_done_to_all_objects_is_told_in_order,
);

async fn every_change_tells_who_made_it_how_and_why<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "1").verb("create"))).await.unwrap();
    let bob = Author::new("bob", "kubectl").because("ticket 7");
    store.commit(Transaction::by(bob).put(put("a", "2").verb("apply"))).await.unwrap();
    let mut delete = Transaction::by(Author::new("carol", "portal"));
    delete.writes.push(Write::Delete { key: key("a"), verb: "deletecollection".into() });
    store.commit(delete).await.unwrap();

    let changes = changes(&store, "a").await;
    let who: Vec<_> = changes
        .iter()
        .map(|change| (&*change.user, &*change.manager, &*change.verb, change.message.as_deref()))
        .collect();
    let expected = [
        ("carol", "portal", "deletecollection", None),
        ("bob", "kubectl", "apply", Some("ticket 7")),
        ("alice", "tests", "create", None),
    ];
    assert_eq!(who, expected);
    let states: Vec<_> = changes
        .iter()
        .map(|change| (change.before.as_deref().map(text), change.after.as_deref().map(text)))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(states, [(some("2"), None), (some("1"), some("2")), (None, some("1"))]);
    assert!(changes.is_sorted_by(|newer, older| newer.time > older.time && newer.version > older.version));
    assert!(changes[0].time / 1000 <= now() + 1000 && changes[0].time / 1000 + 60_000 > now());
}

async fn a_deleted_object_still_has_its_history<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let made = write(&store, "a", "1").await;
    let deleted = remove(&store, "a").await;
    let versions: Vec<_> = changes(&store, "a").await.iter().map(|change| change.version).collect();
    assert_eq!(versions, [deleted, made]);
    let was = store.object_at(&key("a"), At::Revision(made.revision())).await.unwrap();
    assert_eq!(text(&was.unwrap()), "1");
    assert!(store.object_at(&key("a"), At::Revision(deleted.revision())).await.unwrap().is_none());
    assert!(changes(&store, "b").await.is_empty());
}

async fn each_life_of_a_key_is_told_apart<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut revisions = Vec::new();
    for number in 1..=3 {
        let birth = Put::new(key("a"), life("a", number), Body::plain(format!("life {number}")));
        revisions.push(store.commit(just(birth)).await.unwrap().revision);
        remove(&store, "a").await;
    }
    let uids: Vec<_> = changes(&store, "a").await.iter().map(|change| change.uid).collect();
    assert_eq!(uids, [3, 3, 2, 2, 1, 1].map(|number| life("a", number)));
    for (number, revision) in (1..).zip(revisions) {
        let entry = store.object_at(&key("a"), At::Revision(revision)).await.unwrap().unwrap();
        assert_eq!((entry.uid(), text(&entry)), (life("a", number), format!("life {number}")));
        let earlier = store.object_at(&key("a"), At::Revision(before(revision))).await.unwrap();
        assert!(earlier.is_none());
    }
    verified(&store).await;
}

async fn changes_come_in_parts_that_fit_together<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..10 {
        write(&store, "a", &number.to_string()).await;
        write(&store, "ab", &number.to_string()).await;
    }
    let mut bodies = Vec::new();
    let mut beyond = None;
    loop {
        let part = store.changes(&key("a"), beyond, 3).await.unwrap();
        assert!(part.items.len() <= 3);
        bodies.extend(part.items.iter().map(|change| text(change.after.as_ref().unwrap())));
        beyond = part.next;
        if beyond.is_none() {
            break;
        }
    }
    assert_eq!(bodies, (0..10).rev().map(|number| number.to_string()).collect::<Vec<_>>());
}

async fn parts_fit_together_when_retention_comes_between_them<G: Ground>() {
    let ground = G::open_alone(quiet()).await;
    let store = ground.store();
    let body = |number: usize| format!("{} {number} {}", "head ".repeat(20), "tail ".repeat(20));
    let mut versions = Vec::new();
    for number in 0..300 {
        // One in ten stays; of the others, reports, only the last few do.
        let level = if number % 10 == 0 { Level::Full } else { Level::Brief };
        versions.push(version_of(&store.commit(just(put("a", body(number)).level(level))).await.unwrap()));
    }
    let mut beyond = None;
    let mut told = Vec::new();
    for part in 0.. {
        if part == 2 {
            assert!(settle(&store).await.pruned > 200);
        }
        let page = store.changes(&key("a"), beyond, 25).await.unwrap();
        for change in &page.items {
            let number = versions.iter().position(|version| *version == change.version).unwrap();
            assert_eq!(text(change.after.as_ref().unwrap()), body(number));
            told.push(number);
        }
        beyond = page.next;
        if beyond.is_none() {
            break;
        }
    }
    let expected = (250..300).rev().chain((0..250).rev().filter(|number| number % 10 == 0));
    assert_eq!(told, expected.collect::<Vec<_>>());
    verified(&store).await;
}

async fn an_object_is_shown_as_it_was_after_any_change<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut versions = Vec::new();
    for number in 0..20 {
        let body =
            format!(r#"{{"name":"rack","note":"a text that stays the same","height":{number},"at":""}}"#);
        let body = Body::stamped(body.clone(), body.len() - 2).unwrap();
        let made = store.commit(just(Put::new(key("a"), life("a", 1), body))).await.unwrap();
        versions.push((version_of(&made), made.entries[0].clone().unwrap()));
        write(&store, "noise", &number.to_string()).await;
    }
    for (version, then) in &versions {
        let entry = store.object_at(&key("a"), At::Revision(version.revision())).await.unwrap().unwrap();
        assert_eq!((entry.version(), entry.bytes()), (*version, then.bytes()));
        let between = Revision::new(version.revision().get() + 1);
        let entry = store.object_at(&key("a"), At::Revision(between)).await.unwrap().unwrap();
        assert_eq!(entry.version(), *version);
    }
    let told = changes(&store, "a").await;
    for (change, (version, then)) in told.iter().rev().zip(&versions) {
        assert_eq!(change.version, *version);
        assert_eq!(change.after.as_ref().unwrap().bytes(), then.bytes());
    }
}

async fn an_object_is_shown_as_it_was_at_any_time<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for number in 0..5 {
        write(&store, "a", &number.to_string()).await;
    }
    remove(&store, "a").await;
    for change in changes(&store, "a").await {
        let at = store.object_at(&key("a"), At::Time(change.time)).await.unwrap();
        assert_eq!(at.as_deref().map(text), change.after.as_deref().map(text));
        let just_before = store.object_at(&key("a"), At::Time(change.time - 1)).await.unwrap();
        assert_eq!(just_before.as_deref().map(text), change.before.as_deref().map(text));
    }
    assert!(store.object_at(&key("a"), At::Time(1)).await.unwrap().is_none());
    assert!(store.object_at(&key("a"), At::Time(u64::MAX)).await.unwrap().is_none());
}

async fn a_long_history_leads_all_the_way_back<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let body = |number: u32| format!("{} {number} {}", "head ".repeat(40), "tail ".repeat(40));
    let mut versions = Vec::new();
    for number in 0..200 {
        versions.push(write(&store, "a", &body(number)).await);
    }
    for number in [0, 1, 62, 63, 64, 65, 127, 128, 199] {
        let at = At::Revision(versions[number as usize].revision());
        let entry = store.object_at(&key("a"), at).await.unwrap().unwrap();
        assert_eq!(text(&entry), body(number));
    }
    assert_eq!(changes(&store, "a").await.len(), 200);
    verified(&store).await;
}

async fn history_survives_a_restart<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let first = write(&store, "a", "1").await;
    write(&store, "a", "2").await;
    ground.reopen().await;
    let store = ground.store();
    write(&store, "a", "3").await;
    let bodies: Vec<_> = changes(&store, "a").await.iter().map(|c| text(c.after.as_ref().unwrap())).collect();
    assert_eq!(bodies, ["3", "2", "1"]);
    let was = store.object_at(&key("a"), At::Revision(first.revision())).await.unwrap().unwrap();
    assert_eq!(text(&was), "1");
    verified(&store).await;
}

async fn the_future_has_no_history<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let version = write(&store, "a", "1").await;
    let ahead = At::Revision(Revision::new(version.revision().get() + 1_000_000));
    assert!(matches!(store.object_at(&key("a"), ahead).await, Err(Error::Future { .. })));
    assert!(matches!(store.list_at(b"", ahead).await, Err(Error::Future { .. })));
}

async fn secrets_stay_sealed_in_history<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let first = store.commit(just(put("a", "swordfish").secret())).await.unwrap();
    store.commit(just(put("a", "trout").secret())).await.unwrap();
    let told = changes(&store, "a").await;
    for change in &told {
        let entry = change.after.as_ref().unwrap();
        assert!(entry.is_sealed());
        assert!(!entry.bytes().windows(9).any(|window| window == b"swordfish"));
    }
    let at = At::Revision(first.revision);
    let was = store.object_at(&key("a"), at).await.unwrap().unwrap();
    assert_eq!(store.reveal(&key("a"), &was).unwrap(), "swordfish");
    verified(&store).await;
}

async fn what_was_done_to_all_objects_is_told_in_order<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let mut versions = Vec::new();
    for number in 0..100 {
        versions.push(write(&store, "a", &number.to_string()).await);
        if number % 10 == 0 {
            versions.push(write(&store, "b", &number.to_string()).await);
        }
    }
    versions.push(remove(&store, "b").await);
    let mut deeds = Vec::new();
    let mut mark = DeedMark::default();
    loop {
        let more = store.deeds_after(mark, 7).await.unwrap();
        let Some(last) = more.last() else { break };
        mark = DeedMark { version: last.version, time: last.time };
        deeds.extend(more);
    }
    assert_eq!(deeds.iter().map(|deed| deed.version).collect::<Vec<_>>(), versions);
    assert!(deeds.iter().all(|deed| &*deed.user == "alice" && deed.level == Level::Full));
    let done = |index: usize| (deeds[index].key.clone(), deeds[index].what);
    assert_eq!((done(0), done(1)), ((key("a"), Done::Made), (key("b"), Done::Made)));
    assert_eq!((done(2), done(110)), ((key("a"), Done::Changed), (key("b"), Done::Removed)));
    // From the end it is told the other way round.
    let mut back = Vec::new();
    let mut mark = DeedMark::END;
    loop {
        let more = store.deeds_before(mark, 7).await.unwrap();
        let Some(last) = more.last() else { break };
        mark = DeedMark { version: last.version, time: last.time };
        back.extend(more.into_iter().map(|deed| deed.version));
    }
    back.reverse();
    assert_eq!(back, versions);
    // Each leads to its change, also by way of a later one that holds a whole object.
    let whole = deeds.iter().rfind(|deed| deed.key == key("a") && deed.is_whole).unwrap();
    for (number, deed) in deeds.iter().filter(|deed| deed.key == key("a")).enumerate() {
        let near = if whole.version > deed.version { whole.version } else { Version::ZERO };
        let mark = DeedMark { version: deed.version, time: deed.time };
        for near in [Version::ZERO, near] {
            let change = store.change(&deed.key, mark, near).await.unwrap().unwrap();
            assert_eq!(change.version, deed.version);
            assert_eq!(change.after.as_deref().map(text), Some(number.to_string()));
            let before = number.checked_sub(1).map(|before| before.to_string());
            assert_eq!(change.before.as_deref().map(text), before);
        }
    }
    // Many at once are told as one by one, and what is none is none.
    let nowhere = DeedMark { version: Version::new(7), time: 7 };
    let mut wanted = vec![ChangeAt { key: key("a"), at: nowhere, near: Version::ZERO }];
    wanted.extend(deeds.iter().map(|deed| ChangeAt {
        key: deed.key.clone(),
        at: DeedMark { version: deed.version, time: deed.time },
        near: Version::ZERO,
    }));
    let found = store.changes_at(wanted).await.unwrap();
    let found: Vec<Option<Version>> =
        found.iter().map(|change| change.as_ref().map(|change| change.version)).collect();
    assert_eq!(found[0], None);
    assert_eq!(found[1..].iter().flatten().copied().collect::<Vec<_>>(), versions);
    let gone = deeds.last().unwrap();
    let mark = DeedMark { version: gone.version, time: gone.time };
    let change = store.change(&gone.key, mark, Version::ZERO).await.unwrap().unwrap();
    assert_eq!((change.before.as_deref().map(text), change.after.is_none()), (Some("90".to_owned()), true));
}

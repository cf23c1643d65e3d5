//! Keys and bodies nobody would choose.

use store::{BadKey, Body, Key, MAX_KEY_BYTES, Put, Uid};

use super::fixture::{Ground, quiet};
use super::words::*;

on_every_engine!(
    strange_keys_are_kept_apart_and_in_order,
    empty_and_large_bodies_come_back_whole,
    texts_of_any_kind_are_told_as_given,
    a_prefix_of_high_bytes_finds_its_own,
);

#[test]
fn what_is_not_a_key_is_refused() {
    assert_eq!(Key::new("").unwrap_err(), BadKey::Empty);
    assert!(matches!(Key::new("a\0b").unwrap_err(), BadKey::Nul(_)));
    assert_eq!(Key::new(vec![b'x'; MAX_KEY_BYTES + 1]).unwrap_err(), BadKey::TooLong(MAX_KEY_BYTES + 1));
}

async fn strange_keys_are_kept_apart_and_in_order<G: Ground>() {
    let mut ground = G::open_alone(quiet()).await;
    let mut keys: Vec<Vec<u8>> = vec![
        vec![1],
        vec![1, 1],
        vec![0xff],
        vec![0xff, 0xff],
        vec![0xff; MAX_KEY_BYTES],
        vec![b'a'; MAX_KEY_BYTES],
        vec![b'a'; MAX_KEY_BYTES - 1],
        b"a".to_vec(),
        b"a\x01".to_vec(),
        b"a/../b".to_vec(),
        b"//".to_vec(),
        b" ".to_vec(),
        b"\n".to_vec(),
        "\u{1F4A9}".into(),
        vec![0xc3, 0x28],
    ];
    let store = ground.store();
    for (number, bytes) in (0u8..).zip(&keys) {
        for version in 0..2u8 {
            let put =
                Put::new(Key::new(bytes).unwrap(), Uid([number; 16]), Body::plain(vec![number, version]));
            store.commit(just(put)).await.unwrap();
        }
    }
    for (number, bytes) in (0u8..).zip(&keys) {
        let told = store.changes(&Key::new(bytes).unwrap(), None, 10).await.unwrap().items;
        let bodies: Vec<_> =
            told.iter().map(|change| change.after.as_ref().unwrap().bytes().to_vec()).collect();
        assert_eq!(bodies, [vec![number, 1], vec![number, 0]], "{bytes:?}");
    }
    settle(&store).await;
    verified(&store).await;
    ground.reopen().await;
    verified(&ground.store()).await;
    let snapshot = ground.store().current().await.unwrap();
    keys.sort();
    let found: Vec<Vec<u8>> = snapshot.list(b"").map(|(key, _)| key.as_bytes().to_vec()).collect();
    assert_eq!(found, keys);
}

async fn empty_and_large_bodies_come_back_whole<G: Ground>() {
    let mut ground = G::open(quiet()).await;
    let store = ground.store();
    let large: Vec<u8> = (0..1_400_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    store.commit(just(put("empty", ""))).await.unwrap();
    store.commit(just(put("sealed empty", "").secret())).await.unwrap();
    store.commit(just(put("large", large.clone()))).await.unwrap();
    ground.reopen().await;
    let store = ground.store();
    let snapshot = store.current().await.unwrap();
    assert_eq!(read(&snapshot, "empty").as_deref(), Some(""));
    assert_eq!(store.reveal(&key("sealed empty"), snapshot.get(&key("sealed empty")).unwrap()).unwrap(), "");
    assert_eq!(snapshot.get(&key("large")).unwrap().bytes(), &large);

    // From large to empty and back: history has both.
    store.commit(just(put("large", ""))).await.unwrap();
    store.commit(just(put("empty", "no more"))).await.unwrap();
    let told = changes(&store, "large").await;
    assert_eq!(told[0].before.as_ref().unwrap().bytes(), &large);
    assert!(told[0].after.as_ref().unwrap().bytes().is_empty());
    assert_eq!(text(changes(&store, "empty").await[0].before.as_ref().unwrap()), "");
    verified(&store).await;
}

async fn texts_of_any_kind_are_told_as_given<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    let texts = ["", "\0", "\u{202e}desrever", "a\nb", &"long ".repeat(2000)];
    for (number, text) in texts.iter().enumerate() {
        let author = store::Author::new(*text, *text).because(*text);
        let put = put("a", number.to_string()).verb(text.to_string());
        store.commit(store::Transaction::by(author).put(put)).await.unwrap();
    }
    for (change, text) in changes(&store, "a").await.iter().zip(texts.iter().rev()) {
        assert_eq!((&*change.user, &*change.manager, &*change.verb), (*text, *text, *text));
        assert_eq!(change.message.as_deref(), Some(*text));
    }
    verified(&store).await;
}

async fn a_prefix_of_high_bytes_finds_its_own<G: Ground>() {
    let ground = G::open(quiet()).await;
    let store = ground.store();
    for bytes in [&[0xfe, 0xff][..], &[0xff], &[0xff, 1], &[0xff, 0xff, 1]] {
        let put = Put::new(Key::new(bytes).unwrap(), Uid::default(), Body::plain("x"));
        store.commit(just(put)).await.unwrap();
    }
    let snapshot = store.current().await.unwrap();
    assert_eq!(snapshot.list(&[0xff]).count(), 3);
    assert_eq!(snapshot.list(&[0xff, 0xff]).count(), 1);
    assert_eq!(snapshot.page(&[0xff], None, 2).remaining, 1);
    let mut watch = store.watch(&[0xff], store::Version::new(snapshot.version().get())).unwrap();
    store
        .commit(just(Put::new(Key::new([0xff, 7]).unwrap(), Uid::default(), Body::plain("y"))))
        .await
        .unwrap();
    assert_eq!(take(&mut watch, 1).await[0].key().as_bytes(), [0xff, 7]);
}
